# SPDX-License-Identifier: Apache-2.0
# make site: the folder that a static host serves.

load ../lib/common

site=${NPUTOOLS_SITE-$TOP/build-site}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	[ -d "$site" ] || skip "no build-site: make site"
}

@test "every link of the site leads to a file of the site, and to an element of it" {
	need node
	node "$TOP/tests/lib/links.js" "$site" >found || { cat found; false; }
	grep -Eq '^[0-9]+ pages, [0-9]{4,} links$' found
	# page, manual and examples are reached from the start
	for d in compile examples manual; do
		grep -q "href=\"$d/index.html\"" "$site/index.html"
		[ -s "$site/$d/index.html" ]
	done
}

@test "the examples are outputs of the programs" {
	npucc --quiet --part=alif-e7-he --advice --report=r.html -o digits-alif-e7-he.tflite \
		"$TOP/tests/models/digits.tflite"
	cmp r.html "$site/examples/digits-alif-e7-he.html"
	cmp digits-alif-e7-he.tflite "$site/examples/digits-alif-e7-he.tflite"
	[ -n "$(find "$site/examples/sources" -name bare.c)" ]
	for f in "$site"/examples/*.html "$site"/examples/sources/*; do
		[ "${f##*/}" = index.html ] ||
			grep -q "href=\"${f#"$site/examples/"}\">.*<dd>..*</dd>" "$site/examples/index.html"
	done
}
