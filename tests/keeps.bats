#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# What a compiled file keeps of the model: signatures, and an archive behind the model.

load lib/common
load lib/model

# compile MODEL OUT [OPTION...]
compile()
{
	npucc -a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram -o "$2" "${@:3}" "$1" 2>notes
}

# signatures FILE: key, subgraph, and every input and output as name:tensor's name
signatures()
{
	flatc --json --strict-json --raw-binary -o . "$TOP/tests/models/tflite.fbs" -- "$1"
	jq -r '. as $m | .signature_defs[]? | .subgraph_index as $s
		| ($m.subgraphs[$s // 0]) as $g
		| [.signature_key, $s // 0] + [.inputs[]?, .outputs[]?
			| .name + ":" + $g.tensors[.tensor_index // 0].name + ":" +
				(.tensor_index // 0 | if IN($g.inputs[]) then "in"
					elif IN($g.outputs[]) then "out" else "no border" end)]
		| join(" ")' "$(basename "$1" .tflite).json"
}

# two signatures of one subgraph; the second names the output alone
two='.signature_defs = [
	{signature_key:"serving_default", inputs:[{name:"x",tensor_index:0}],
	 outputs:[{name:"y",tensor_index:3}]},
	{signature_key:"second", inputs:[], outputs:[{name:"result",tensor_index:3}]}]'

@test "signatures name the compiled inputs and outputs" {
	model m "$two"
	compile m.tflite c.tflite
	cat >want <<-'END'
		serving_default 0 x:in:in y:out:out
		second 0 result:out:out
	END
	signatures m.tflite | diff want -
	signatures c.tflite | diff want -
	# a batch of several inputs is another tensor of the same name
	compile m.tflite b.tflite --batch=4
	signatures b.tflite | diff want -
}

@test "a signature of a float border names the integer tensor that replaces the border" {
	model m ".operator_codes += [{deprecated_builtin_code:114,builtin_code:114,version:1},
			{deprecated_builtin_code:6,builtin_code:6,version:1}]
		| $t += [{shape:[1,4],type:0,name:\"real in\"},{shape:[1,2],type:0,name:\"real out\"}]
		| .subgraphs[0].inputs = [4] | .subgraphs[0].outputs = [5]
		| .subgraphs[0].operators |= [{opcode_index:1,inputs:[4],outputs:[0]}] + . +
			[{opcode_index:2,inputs:[3],outputs:[5]}]
		| .signature_defs = [{signature_key:\"k\", inputs:[{name:\"x\",tensor_index:4}],
			outputs:[{name:\"y\",tensor_index:5}]}]"
	compile m.tflite c.tflite
	[ "$(signatures c.tflite)" = "k 0 x:real in:in y:real out:out" ]
	compile m.tflite i.tflite --integer-io
	[ "$(signatures i.tflite)" = "k 0 x:in:in y:out:out" ]
}

@test "signatures of other subgraphs stay, and of tensors that are gone do not" {
	model m "$two"' | .subgraphs += [.subgraphs[0] | .name = "other"]
		| .signature_defs[1].subgraph_index = 1'
	compile m.tflite c.tflite
	cat >want <<-'END'
		serving_default 0 x:in:in y:out:out
		second 1 result:out:out
	END
	signatures c.tflite | diff want -
	[ ! -s notes ] || ! grep signature notes
	for wrong in '[1].outputs[0].tensor_index = 1' '[1].outputs[0].tensor_index = 99' \
		'[1].subgraph_index = 7'; do
		model m "$two | .signature_defs$wrong"
		compile m.tflite c.tflite
		[ "$(signatures c.tflite)" = "serving_default 0 x:in:in y:out:out" ]
		grep -qx 'npu-cmdgen: warning: signature 1 is left out: it names tensors that the compiled model lacks' notes
	done
}

# listed FILE: names, sizes and contents of the files in the archive; a reader of ZIP that
# takes a mistake of the places for an error
listed()
{
	python3 - "$1" <<-'END'
		import sys, zipfile
		z = zipfile.ZipFile(sys.argv[1])
		assert z.testzip() is None
		data = open(sys.argv[1], 'rb').read()
		for i in z.infolist():
		    # places count from the beginning of the file, as for files that begin with a ZIP
		    assert data[i.header_offset:i.header_offset + 4] == b'PK\3\4'
		    print(i.filename, i.file_size, z.read(i.filename))
		end = data.rindex(b'PK\5\6')
		at = int.from_bytes(data[end + 16:end + 20], 'little')
		assert data[at:at + 4] == b'PK\1\2'
	END
}

@test "an archive behind the model is behind the compiled model, too" {
	need python3
	printf 'cat\ndog\n' >labels.txt
	head -c 3000 "$TOP/README.md" >text
	cat >zip.py <<-'END'
		import sys, zipfile
		with zipfile.ZipFile(sys.argv[1], 'a', zipfile.ZIP_DEFLATED) as z:
		    z.write('labels.txt')
		    z.write('text', 'folder/text')
		    z.comment = sys.argv[2].encode()
	END
	for comment in "" "made by a test"; do
		# places from the beginning of the model, and from the beginning of the archive
		model m
		python3 zip.py m.tflite "$comment"
		listed m.tflite >want
		[ "$(wc -l <want)" = 2 ]
		compile m.tflite c.tflite
		listed c.tflite | diff want -
		rm -f a.zip
		python3 zip.py a.zip "$comment"
		model m
		cat a.zip >>m.tflite
		compile m.tflite c.tflite
		listed c.tflite | diff want -
		! command -v unzip >/dev/null || unzip -tq c.tflite
		npu-dis --verify c.tflite >/dev/null
		npu-sim --seed 1 --compare=m.tflite c.tflite
	done
	# the model itself is the same
	model m
	compile m.tflite d.tflite
	npu-sim --seed 1 d.tflite >want
	npu-sim --seed 1 c.tflite | diff want -
}

@test "an archive that contradicts itself is not copied" {
	need python3
	model m
	compile m.tflite want.tflite
	python3 - <<-'END'
		import zipfile
		with zipfile.ZipFile('m.tflite', 'a') as z:
		    z.writestr('labels.txt', 'cat')
		b = bytearray(open('m.tflite', 'rb').read())
		end, entry = b.rindex(b'PK\5\6'), b.rindex(b'PK\1\2')
		for name, at, value in (('size', end + 12, 0xfffffff0), ('place', end + 16, 0xffffff00),
		                        ('many', end + 10, 0xffff), ('local', entry + 42, 0x7fffffff),
		                        ('name', entry + 28, 0xffff), ('short', end + 12, 10)):
		    x = bytearray(b)
		    x[at:at + 2] = value.to_bytes(4, 'little')[:2]
		    if value > 0xffff:
		        x[at:at + 4] = value.to_bytes(4, 'little')
		    open(name + '.tflite', 'wb').write(x)
		open('cut.tflite', 'wb').write(b[:-1])
	END
	for f in size place many local name short cut; do
		compile $f.tflite c.tflite
		[ "$(wc -c <c.tflite)" -le $(($(wc -c <want.tflite) + 200)) ]
		! grep -q labels.txt c.tflite
	done
}
