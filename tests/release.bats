# SPDX-License-Identifier: Apache-2.0
# make release: the parts that need no build.  tests/packages/release.bats builds all of it.

load lib/common

setup_file()
{
	need git jq
	git -C "$TOP" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "no repository"
	version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
	export version
	# the tree as it is, committed
	git clone -q "$TOP" "$BATS_FILE_TMPDIR/clone"
	cp -r "$TOP/scripts/release" "$BATS_FILE_TMPDIR/clone/scripts"
	cd "$BATS_FILE_TMPDIR/clone" || return
	git add -A
	git -c user.name=x -c user.email=x@y.invalid commit -qm x --allow-empty
}

release()
{
	DIR=$1 "$BATS_FILE_TMPDIR/clone/scripts/release/make-release" "${@:2}"
}

@test "sources, sums and provenance are the same bytes in another folder" {
	release "$PWD/a" "$version" --only=source
	git clone -q "$BATS_FILE_TMPDIR/clone" deeper/b
	sleep 1
	(umask 077; TZ=Asia/Tokyo DIR=$PWD/b deeper/b/scripts/release/make-release "$version" \
		--only=source)
	diff -r a b
	(cd a && sha256sum -c SHA256SUMS)
	tar -tzf "a/nputools-$version.tar.gz" | grep -qx "nputools-$version/Makefile"
	# the statement names each file with its sum, and the commit
	jq -r '.subject[] | .digest.sha256 + "  " + .name' a/provenance.intoto.json |
		diff - a/SHA256SUMS
	[ "$(jq -r '.predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit' \
		a/provenance.intoto.json)" = "$(git -C "$BATS_FILE_TMPDIR/clone" rev-parse HEAD)" ]
	jq -e '._type == "https://in-toto.io/Statement/v1" and
		.predicateType == "https://slsa.dev/provenance/v1"' a/provenance.intoto.json
}

# make check-release, of the part that needs no build
@test "twice makes the files twice, and ends well" {
	"$BATS_FILE_TMPDIR/clone/scripts/release/twice" "$version" "$PWD/both" --only=source
	diff -r both/a both/b
	[ -s "both/a/nputools-$version.tar.gz" ]
	# an error of either build is an error of both
	run "$BATS_FILE_TMPDIR/clone/scripts/release/twice" 9.9.9 "$PWD/neither" --only=source
	[ "$status" != 0 ]
}

@test "minisign signs the sums with a key of the releaser" {
	need minisign
	minisign -G -W -p key.pub -s key.sec >/dev/null
	release "$PWD/a" "$version" --only=source --sign="minisign:$PWD/key.sec"
	minisign -V -p key.pub -m a/SHA256SUMS
	echo >>a/SHA256SUMS
	run minisign -V -p key.pub -m a/SHA256SUMS
	[ "$status" != 0 ]
}

@test "OpenPGP signs the sums with a key of the releaser" {
	need gpg
	# a socket's path is short
	GNUPGHOME=$(mktemp -d)
	export GNUPGHOME
	gpg --batch --passphrase '' --quick-gen-key releaser@nputools.invalid 2>/dev/null
	release "$PWD/a" "$version" --only=source --sign=openpgp:releaser@nputools.invalid
	gpg --verify a/SHA256SUMS.asc a/SHA256SUMS 2>/dev/null
	gpgconf --kill all
	rm -rf "$GNUPGHOME"
}

@test "another version, a tree with changes and a full directory are refused" {
	local said
	run release "$PWD/a" 9.9.9 --only=source
	[ "$status" = 2 ]
	[ "$output" = "make-release: Makefile says version '$version', not '9.9.9'" ]
	run release "$PWD/b" 1.0 --only=source
	[ "$status" = 2 ]
	run release "$PWD/b" "$version" --only=source,sources
	[ "$output" = "make-release: there is no part 'sources'" ]
	mkdir full
	touch full/file
	run release "$PWD/full" "$version" --only=source
	[[ $output = *"full is not empty" ]]
	git clone -q "$BATS_FILE_TMPDIR/clone" changed
	echo >>changed/README.md
	DIR=$PWD/c run changed/scripts/release/make-release "$version" --only=source
	[ "$output" = "make-release: the tree has changes that are not committed" ]
	# nothing is left behind
	for said in a b c; do
		[ ! -e "$said" ] || [ -z "$(ls -A "$said")" ]
	done
}
