#!/usr/bin/env bats
# mkinput: every format gives the numbers worked out by hand, and the demo model recognises
# its digits.
bats_require_minimum_version 1.5.0

load lib/common
load lib/model

# input 0 of fc.json: INT8 [1,4], scale 0.5, zero point -10
numbers() { # FILE: the int8 bytes of raw output
	od -An -v -td1 "$1" | xargs
}

# gives "NUMBERS" ARG...: mkinput's raw output has these numbers
gives() {
	local want=$1
	shift
	mkinput --format=raw -o out.raw "$@" || return
	local got
	got=$(numbers out.raw)
	[ "$got" = "$want" ] || { echo "got: $got"; return 1; }
}

# picture H W C: a model with an input of this shape, scale 1/255, zero point -128
picture() {
	model p "$t[0].shape = [1,$1,$2,$3] | $t[0].quantization =
		{scale:[0.003921568859368563],zero_point:[-128]} |
		$t[1].shape = [2,$(($1 * $2 * $3))] |
		.buffers[1].data = [range($((2 * $1 * $2 * $3)))]"
}

@test "the header has the guide's format, byte for byte" {
	model m
	printf '0, 1, -59, 68.5\n' >v.csv
	mkinput m.tflite v.csv >got
	cat >want <<-'END'
	#ifndef INPUT_DATA_H
	#define INPUT_DATA_H

	#include <stdint.h>

	static const int input_data_len = 4;
	static const int8_t input_data[] = {
	  -10, -8, -128, 127
	};

	#endif /* INPUT_DATA_H */
	END
	diff want got
	mkinput --name x --guard G --section .in -o in.h m.tflite v.csv
	grep -qx '#ifndef G' in.h
	grep -qx 'static int8_t x\[\] __attribute__((section(".in"), aligned(16), used)) = {' in.h
}

@test "rounding is half away from zero, in float32, and clamps" {
	model m
	echo '0.25 -0.25 0.24999999 -0.24999999' >v.csv
	gives "-9 -11 -10 -10" m.tflite v.csv
	echo '0.75;-0.75;1e30;-1e30' >v.csv
	gives "-8 -12 127 -128" m.tflite v.csv
}

@test "mkinput rounds as the functions in tfl2c's header" {
	need gcc
	model m
	seq -75.03 0.37 73 | head -400 >v.csv
	n=$(wc -l <v.csv)
	model w "$t[0].shape = [1,$n] | $t[1].shape = [2,$n] | .buffers[1].data = [range(2 * $n) | . % 100]"
	mkinput --format=raw -o got w.tflite v.csv
	tfl2c -n m -o m.h w.tflite
	{
		echo '#include "m.h"
		#include <stdio.h>
		static const float v[] = {'
		sed 's/\(.*\)/(float)\1,/' v.csv
		echo '};
		int main(void)
		{
			for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
				putchar(m_input_0_quantize(v[i]));
		}'
	} >t.c
	gcc -o t t.c
	./t | cmp - got
}

@test "npy values of the input's type are copied, and other types are quantized" {
	model m
	npy() { # DESCR SHAPE BYTES
		local h="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
		printf '\x93NUMPY\x01\x00%b' "\\x$(printf %02x $((${#h} + 1)))\\x00"
		printf '%s\n%b' "$h" "$3"
	}
	npy '|i1' '(4,)' '\x01\x02\xff\x80' >a.npy
	gives "1 2 -1 -128" m.tflite a.npy
	gives "-8 -6 -12 -128" --real m.tflite a.npy 
	npy '|u1' '(1, 4)' '\x01\x02\x00\xff' >b.npy
	gives "-8 -6 -10 127" m.tflite b.npy
	npy '<f4' '(4,1)' '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x80\xbf' >c.npy
	gives "-8 -6 -10 -12" m.tflite c.npy
	refuses 2 "b.npy: error: value 3 is 255, which is not a value of type INT8" mkinput --quantized m.tflite b.npy
	refuses 2 "a.npy: error: the values are quantized already: use --real with --scale, --mean or --range" \
		mkinput --scale 2 m.tflite a.npy
	npy '|i1' '(5,)' '\x01\x02\x03\x04\x05' >d.npy
	refuses 2 "d.npy: error: the file has 5 values of shape [5], the input needs 4 of shape [1,4]" mkinput m.tflite d.npy
	model s "$t[0].shape = [1,2,3] | $t[1].shape = [2,6] | .buffers[1].data = [range(12)]"
	npy '|i1' '(3,2)' '\x01\x02\x03\x04\x05\x06' >e.npy
	refuses 2 "e.npy: error: shape [3,2] does not match the input's [1,2,3]" mkinput s.tflite e.npy
	# its own output can be read
	mkinput --format=npy -o f.npy m.tflite a.npy
	gives "1 2 -1 -128" m.tflite f.npy
}

@test "raw values come from a file or from a pipe" {
	model m
	printf '\x01\x02\xff\x80' >a.bin
	gives "1 2 -1 -128" m.tflite a.bin
	printf '\x01\x02\xff\x80' | gives "1 2 -1 -128" m.tflite
	printf '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x80\xbf' >f.bin
	gives "-8 -6 -10 -12" --real m.tflite f.bin
	refuses 2 "f.bin: error: the file has 16 values of shape [16], the input needs 4 of shape [1,4]" mkinput m.tflite f.bin
}

@test "scale and mean are for all channels or for each, also as a fraction" {
	model m
	echo '0,51,102,255' >v.csv
	gives "-10 -10 -9 -8" --scale 1/255 m.tflite v.csv
	gives "-14 -8 -10 127" --mean 100,60,102,0 --scale 1/50,-1/9,3,1 m.tflite v.csv
	refuses 2 "v.csv: error: --scale or --mean has 2 numbers, the input has 4 channels" mkinput --mean 1,2 m.tflite v.csv
	refuses 2 "mkinput: error: --scale takes up to 64 numbers, not '1/'" mkinput --scale 1/ m.tflite v.csv
	refuses 2 "mkinput: error: --scale takes up to 64 numbers, not '1/0'" mkinput --scale 1/0 m.tflite v.csv
}

@test "grey pictures may be text, binary or bits" {
	picture 2 2 1
	printf 'P2 # grey\n2 2 255\n0 51 102 255' >a.pgm
	gives "-128 -77 -26 127" --range 0,1 p.tflite a.pgm
	printf 'P5\n2 2\n255\n\x00\x33\x66\xff' >b.pgm
	gives "-128 -77 -26 127" --range 0,1 p.tflite b.pgm
	gives "-128 -77 -26 127" --scale 1/255 p.tflite b.pgm
	gives "127 76 25 -128" --range 1,0 p.tflite b.pgm
	# 16 bits
	printf 'P5\n2 2\n65535\n\x00\x00\x33\x33\x66\x66\xff\xff' >c.pgm
	gives "-128 -77 -26 127" --range 0,1 p.tflite c.pgm
	printf 'P1\n2 2\n10 01' >d.pbm
	gives "-128 127 127 -128" --range 0,1 p.tflite d.pbm
	printf 'P4\n2 2\n\x80\x40' >e.pbm
	gives "-128 127 127 -128" --range 0,1 p.tflite e.pbm
	printf 'P5\n2 2\n255\n\x00\x33\x66' >short.pgm
	refuses 2 "short.pgm: error: pixels are cut short or above 255" mkinput --range 0,1 p.tflite short.pgm
	printf 'P5\n99999 99999\n255\n\x00' >bomb.pgm
	refuses 2 "bomb.pgm: error: 99999 by 99999 pixels do not match the file's 20 bytes" mkinput p.tflite bomb.pgm
	refuses 2 "b.pgm: error: the input takes 0 to 1: use --range=0,1, or --scale and --mean, to convert pixels to such numbers" \
		mkinput p.tflite b.pgm
}

@test "colour pictures are converted to grey, and grey to colour" {
	picture 1 2 1
	printf 'P6\n2 1\n255\n\xff\x00\x00\x10\x20\x30' >a.ppm
	# (19595*255 + 32768) >> 16 = 76; (19595*16 + 38470*32 + 7471*48 + 32768) >> 16 = 29
	gives "$((76 - 128)) $((29 - 128))" --range 0,1 p.tflite a.ppm
	picture 1 2 3
	gives "127 -128 -128 -112 -96 -80" --range 0,1 p.tflite a.ppm
	printf 'P2 2 1 255 7 9' >b.pgm
	gives "-121 -121 -121 -119 -119 -119" --range 0,1 p.tflite b.pgm
}

@test "resized pictures have the values worked out by hand" {
	picture 1 2 1
	printf 'P2 4 1 255 0 10 20 250' >a.pgm
	refuses 2 "a.pgm: error: the picture has 4 by 1 pixels, the input 2 by 1: use --resize" \
		mkinput --range 0,1 p.tflite a.pgm
	# area: means of (0,10) and (20,250); bilinear at 0.5 and 2.5: the same
	gives "-123 7" --range 0,1 --resize=area p.tflite a.pgm
	gives "-123 7" --range 0,1 --resize p.tflite a.pgm
	# 3 to 2 by area: (0 + 30/2) / 1.5 = 10 and (30/2 + 60) / 1.5 = 50
	printf 'P2 3 1 255 0 30 60' >b.pgm
	gives "-118 -78" --range 0,1 --resize=area p.tflite b.pgm
	# 2 to 4 bilinear: at -0.25, 0.25, 0.75, 1.25 of (0, 100)
	picture 1 4 1
	printf 'P2 2 1 255 0 100' >c.pgm
	gives "-128 -103 -53 -28" --range 0,1 --resize=bilinear p.tflite c.pgm
	# also along the columns
	picture 4 1 1
	printf 'P2 1 2 255 0 100' >d.pgm
	gives "-128 -103 -53 -28" --range 0,1 --resize p.tflite d.pgm
}

@test "PNG pictures are read" {
	picture 1 2 3
	# 2 by 1 pixels: (255,0,0) and (16,32,48)
	base64 -d >a.png <<-'END'
	iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8AgoGAAAAahAWCJK4gVAAAAAElFTkSuQmCC
	END
	run mkinput --range 0,1 --format=raw -o out p.tflite a.png
	[[ "$output" != *"built without libpng"* ]] || skip "built without libpng"
	[ "$status" -eq 0 ]
	[ "$(numbers out)" = "127 -128 -128 -112 -96 -80" ]
	head -c 50 a.png >cut.png
	refuses 2 "cut.png: error: " mkinput --range 0,1 p.tflite cut.png
	# the samples count as they are stored: 16 bits are not linear light, and no gamma applies
	picture 1 4 1
	base64 -d >words.png <<-'END'
	iVBORw0KGgoAAAANSUhEUgAAAAQAAAABEAAAAACMx4xSAAAAEUlEQVR4nGNgYGB+UWrw/z8ACgQDj4L3uAgAAAAASUVORK5CYII=
	END
	printf 'P5\n4 1\n65535\n\x00\x00\x03\xe8\x75\x30\xff\xff' >words.pgm
	mkinput --range 0,1 --format=raw -o pgm p.tflite words.pgm
	gives "$(numbers pgm)" --range 0,1 p.tflite words.png
	# samples 0 64 128 255, and a gamma of 1
	base64 -d >gamma.png <<-'END'
	iVBORw0KGgoAAAANSUhEUgAAAAQAAAABCAAAAADcV1ARAAAABGdBTUEAAYagMeiWXwAAAA1JREFUeJxjYHBo+A8AAsQBwDi+YZEAAAAASUVORK5CYII=
	END
	gives "-128 -64 0 127" --range 0,1 p.tflite gamma.png
}

@test "WAV sounds of 16 bits mono and 8 bits stereo are read, and their length is checked" {
	model m
	le() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))"; }
	wav() { # BITS CHANNELS BYTES(escaped) N
		printf 'RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00'
		le "$2"
		printf '\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00'
		le "$1"
		printf 'data'
		le "$4"
		le 0
		printf '%b' "$3"
	}
	# 0, 0.5, -1, 0.25 times 10: 0, 5, -10, 2.5
	wav 16 1 '\x00\x00\x00\x40\x00\x80\x00\x20' 8 >a.wav
	gives "-10 0 -30 -5" --scale 10 m.tflite a.wav
	# (192,128): 0.5 and 0: 0.25
	wav 8 2 '\xc0\x80\x80\x80\x00\x00\x80\xc0' 8 >b.wav
	gives "-5 -10 -30 -5" --scale 10 m.tflite b.wav
	wav 16 1 '\x00\x00\x00\x40' 4 >c.wav
	refuses 2 "c.wav: error: the file has 2 values of shape [2], the input needs 4 of shape [1,4]" \
		mkinput --scale 10 m.tflite c.wav
	gives "-10 0 -10 -10" --scale 10 --fit m.tflite c.wav
	# the input needs features: its values are far from a sample's, or it has rows of
	# them
	wav 16 1 '\x00\x00\x00\x40\x00\x80\x00\x20' 8 >a.wav
	refuses 2 "a.wav: error: these are sound samples, -1 to 1 or 4 steps of the input, but the input takes -59 to 68.5, probably features (MFCC, spectrum): use --features, --scale, or --from=sound to take the samples" \
		mkinput m.tflite a.wav
	gives "-10 -9 -12 -9" --from=sound m.tflite a.wav
	model rows "$t[0].shape = [1,2,2,1] | $t[0].quantization = {scale:[0.0078125],zero_point:[0]}"
	refuses 2 "a.wav: error: these are sound samples, but the input of shape [1,2,2,1] probably takes features (MFCC, spectrum)" \
		mkinput --scale=1 rows.tflite a.wav
	gives "0 64 -128 32" --from=sound rows.tflite a.wav
	wav 12 1 '\x00\x00' 2 >d.wav
	refuses 2 "d.wav: error: WAV of format 1 with 1 channels of 12 bits is not supported: convert it to PCM or float32" \
		mkinput m.tflite d.wav
}

@test "AIFF sounds are read by libsndfile" {
	model m
	# 0, 0.5, -1, 0.25 in 16 bits, big-endian
	printf '%b' 'FORM\x00\x00\x006AIFFCOMM\x00\x00\x00\x12\x00\x01\x00\x00\x00\x04\x00\x10@\x0b\xfa\x00\x00\x00\x00\x00\x00\x00SSND\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00@\x00\x80\x00 \x00' >a.aiff
	run mkinput --scale 10 --format=raw -o out m.tflite a.aiff
	[[ "$output" != *"built without libsndfile"* ]] || skip "built without libsndfile"
	[ "$status" -eq 0 ]
	[ "$(numbers out)" = "-10 0 -30 -5" ]
	# a sound without frames is silence
	printf '%b' 'FORM\x00\x00\x00.AIFFCOMM\x00\x00\x00\x12\x00\x01\x00\x00\x00\x00\x00\x10@\x0b\xfa\x00\x00\x00\x00\x00\x00\x00SSND\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00' >empty.aiff
	gives "-10 -10 -10 -10" --fit --scale 10 m.tflite empty.aiff
	head -c 13 a.aiff >cut.aiff
	refuses 2 "cut.aiff: error: " mkinput m.tflite cut.aiff
	# the begin of an MPEG frame; libsndfile's reader prints its own complaints
	printf '%b' '\xff\xfb\x90\x44ID3 and so on, to look like sound' >song.mp3
	refuses 2 "song.mp3: error: not a WAV, FLAC, Ogg or AIFF file" \
		mkinput --from=sound m.tflite song.mp3
}

@test "clipping is reported" {
	model m
	echo '1000 -1000 0 0' >v.csv
	run --separate-stderr mkinput --format=raw -o x m.tflite v.csv
	[ "$status" -eq 0 ]
	[ "$stderr" = "mkinput: warning: v.csv: 2 of 4 values are clipped: they span -1000 to 1000, the input takes -59 to 68.5; check --scale and --mean" ]
}

@test "the message has the place in a csv file of a value that is no number" {
	model m
	printf '# four\n1 2\n3 x4\n' >v.csv
	refuses 2 "v.csv:3: error: not a number: 'x4'" mkinput m.tflite v.csv
	printf '1 2 nan 3\n' >v.csv
	refuses 2 "v.csv: error: value 2 is not a number" mkinput m.tflite v.csv
}

@test "several inputs become numbered arrays, or one file each" {
	model m ".operator_codes[0] = {deprecated_builtin_code:0,builtin_code:0} |
		$t = [$t[0], ($t[0] | .name = \"b\"), ($t[3] | .shape = [1,4])] |
		.subgraphs[0].inputs = [0,1] | .subgraphs[0].outputs = [2] |
		.subgraphs[0].operators = [{inputs:[0,1],outputs:[2]}]"
	echo '1 2 3 4' >a.csv
	echo '5 6 7 8' >b.csv
	mkinput m.tflite a.csv b.csv >in.h
	grep -qx 'static const int8_t input_data_0\[\] = {' in.h
	grep -qx '  -8, -6, -4, -2' in.h
	grep -qx '  0, 2, 4, 6' in.h
	mkinput --format=raw -o x.bin m.tflite a.csv b.csv
	[ "$(numbers x_0.bin)" = "-8 -6 -4 -2" ]
	[ "$(numbers x_1.bin)" = "0 2 4 6" ]
	refuses 2 "m.tflite: error: the model has 2 inputs, but there is 1 file: give one for each" mkinput m.tflite a.csv
	refuses 2 "the result is 2 files: name them with -o FILE" mkinput --format=npy m.tflite a.csv b.csv
}

@test "the suffix of the output chooses the format, unless --format does" {
	model m
	echo '1 2 3 4' >v.csv
	for f in x.npy:npy x.raw:raw x.bin:raw x.h:header x:header; do
		mkinput --format="${f#*:}" m.tflite v.csv >want
		mkinput -o "${f%:*}" m.tflite v.csv
		cmp want "${f%:*}"
	done
	mkinput --format=header m.tflite v.csv >want
	mkinput --format=header -o x.npy m.tflite v.csv
	cmp want x.npy
	echo 'v.csv 1' >list
	mkinput --list=list --format=raw --labels=l -o want m.tflite
	mkinput --list=list -o x.bin m.tflite
	cmp want x.bin
}

@test "--expected writes the values worked out by hand" {
	model m
	# Weights 1..4 and -1..-4, bias 100 and -100, all of scale 0.5 * 0.25; output scale
	# 2, zero point 3: 130 / 16 and -130 / 16, which round to +-8.
	echo '0.5 1 1.5 2' >v.csv
	mkinput -o in.h --expected=out.h m.tflite v.csv
	grep -qx 'static const int expected_output_data_len = 2;' out.h
	grep -qx '  11, -5' out.h
	mkinput -o in.h --expected=out.raw m.tflite v.csv
	[ "$(numbers out.raw)" = "11 -5" ]
	mkinput --sections -o in.h --expected=out.h --expected-name want m.tflite v.csv
	grep -q 'input_data\[\] __attribute__((section("input_data_sec")' in.h
	grep -q 'output_data\[2\] __attribute__((section("output_data_sec")' in.h
	grep -q 'want\[\] __attribute__((section("expected_output_data_sec")' out.h
}

@test "the expected output of each digit's picture is that digit" {
	for d in 0 1 2 3 4 5 6 7 8 9; do
		mkinput --range 0,1 -o in.h --expected=e.raw \
			"$TOP/tests/models/digits.tflite" "$TOP/tests/models/digits/digit-$d.pgm"
		[ "$(od -An -v -td1 -w1 e.raw | cat -n | sort -k2n | awk 'END { print $1 - 1 }')" = "$d" ]
	done
}

@test "the golden results of TensorFlow Lite Micro are reproduced" {
	need_shared golden
	for m in seed_mnist_fc kws_ref_model person_detect; do
		for k in 0 1; do
			g=$SHARED/golden/$m/$k
			mkinput --format=npy -o i.npy --expected=o.npy \
				"$SHARED/models/$m.tflite" "$g/input_0.npy"
			cmp i.npy "$g/input_0.npy"
			cmp o.npy "$g/output_0.npy"
		done
	done
}

@test "--random gives the same values for the same seed" {
	model m
	mkinput --random 1 m.tflite >a
	mkinput --random 1 m.tflite | cmp - a
	run ! cmp -s a <(mkinput --random 2 m.tflite)
}

digits=$BATS_TEST_DIRNAME/models/digits.tflite

@test "--list: files from a text or from directories become one array with labels" {
	for d in 3 0 7; do
		mkdir -p "c/$d"
		cp "$TOP/tests/models/digits/digit-$d.pgm" "c/$d/"
		mkinput --range=0,1 --format=raw "$digits" "c/$d/digit-$d.pgm" >"$d.raw"
	done
	cat 0.raw 3.raw 7.raw >want
	mkinput --list=c --range=0,1 -o x.npy "$digits"
	tail -c $((3 * 784)) x.npy | cmp - want
	head -c 128 x.npy | grep -aq "'shape': (3, 1, 28, 28, 1)"
	[ "$(cat x.labels)" = "$(printf '0\n3\n7')" ]
	# paths in a text are relative to the text; labels are copied unchanged
	printf '# three\ndigit-0.pgm 0\n3/digit-3.pgm , 3.5 # half\n\n7/digit-7.pgm\t-1e3\n' >c/list
	cp c/0/digit-0.pgm c
	mkinput --list=c/list --range=0,1 --format=raw --labels=l -o x.raw "$digits"
	cmp x.raw want
	[ "$(cat l)" = "$(printf '0\n3.5\n-1e3')" ]
	# if labels are names, all of them are classes, numbered in their order
	printf '%s\n' 'c/3/digit-3.pgm owl' 'c/7/digit-7.pgm,cat' 'c/0/digit-0.pgm 7' 'c/0/digit-0.pgm cat' >list
	mkinput --list=list --range=0,1 --labels=l -o x.npy "$digits"
	[ "$(cat l)" = "$(printf '2\towl\n1\tcat\n0\t7\n1\tcat')" ]
}

@test "--list: what it refuses" {
	refuses 2 "list:2: error: a line needs the name of a file and a label, not 'b.pgm'" \
		sh -c 'printf "a.pgm 1\nb.pgm\n" >list; mkinput --list=list -o x.npy "$0"' "$digits"
	echo 'nowhere.pgm 1' >list
	refuses 2 "nowhere.pgm: error: No such file" mkinput --list=list -o x.npy "$digits"
	echo '# nothing' >list
	refuses 2 "list: error: the list names no files" mkinput --list=list -o x.npy "$digits"
	mkdir empty
	refuses 2 "empty: error: the directory has no subdirectory with files: make one for each class" mkinput --list=empty -o x.npy "$digits"
	printf 'a\0b 1\n' >list
	refuses 2 "a NUL byte" mkinput --list=list -o x.npy "$digits"
	refuses 2 "--list writes two files" mkinput --list=list "$digits"
	refuses 2 "--list excludes FILE operands" mkinput --list=list -o x.npy "$digits" list
	refuses 2 "--format=npy or --format=raw" mkinput --list=list --format=header -o x.npy "$digits"
	[ ! -e x.npy ]
	[ ! -e x.labels ]
}

@test "after a refusal there is no output file" {
	model m
	echo '1 2 3 4' >v.csv
	refuses 2 "mkinput: error: no MODEL: name the model that the input is for" mkinput
	refuses 2 "mkinput: error: --name needs a C identifier, not '1'" mkinput -n 1 m.tflite v.csv
	refuses 2 "mkinput: error: --name needs a C identifier, not 'int'" mkinput -n int m.tflite v.csv
	refuses 2 "mkinput: error: --expected-name is the name of the input's array, too: 'input_data'" \
		mkinput --expected=x.h --expected-name=input_data m.tflite v.csv
	refuses 2 "v.csv: error: --range works only with pictures" mkinput --range 0,1 m.tflite v.csv
	refuses 2 "x.csv: error: No such file or directory" mkinput -o out.h m.tflite x.csv
	model bad '.operator_codes[0] = {deprecated_builtin_code:127,builtin_code:200}'
	refuses 2 "bad.tflite: " mkinput -o out.h --expected=e.h bad.tflite v.csv
	[ ! -e out.h ] && [ ! -e e.h ]
	run mkinput -o /dev/full m.tflite v.csv
	[ "$status" -eq 2 ]
	[ "$output" = "mkinput: /dev/full: error: No space left on device" ]
}

@test "--hex writes bytes that the compiler takes unchanged" {
	need gcc
	model m
	echo '0.5 1 -1.5 2' >v.csv
	mkinput --hex -o in.h --expected=want.h m.tflite v.csv
	mkinput --format=raw -o in.raw m.tflite v.csv
	printf '#include "in.h"\n#include "want.h"\n#include <stdio.h>
	int main(void) { fwrite(input_data, 1, input_data_len, stdout);
	return expected_output_data_len != sizeof(expected_output_data); }\n' >t.c
	gcc -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror -o t t.c
	./t | cmp - in.raw
	grep -q 'static const uint8_t input_data\[\]' in.h
	grep -qE '0x[0-9a-f]{2}, 0x' in.h
}

# built FILE...: compiles as the evaluation kit does, with warnings as errors
built()
{
	local w="-Wall -Wextra -Wconversion -Wundef -Wpedantic -Wshadow -Wcast-align -Werror"
	local f
	# shellcheck disable=SC2086
	for f; do
		case $f in
		*.cc) g++ -std=c++17 $w -Wold-style-cast -c -o "${f//\//_}.o" "$f" ;;
		*) gcc -std=c99 $w -Wmissing-prototypes -c -o "${f//\//_}.o" "$f" ;;
		esac || return
	done
}

@test "pictures become the evaluation kit's samples" {
	need g++ objdump
	picture 2 3 1
	printf 'P6 3 2 255\n\x00\x01\x02abcdefghijklmno' >a.ppm
	printf 'P5 6 4 255\nAAAAAAAAAAAAAAAAAAAAAAAA' >"b \"?.pgm"
	mkinput --dialect=mlek-samples --resize -o new/dir p.tflite a.ppm "b \"?.pgm"
	built new/dir/sample_files.c
	objdump -h new_dir_sample_files.c.o | grep -q ' ifm '
	cat >t.cc <<-'END'
	#include "new/dir/sample_files.h"
	#include <cstring>
	static_assert(NUMBER_OF_FILES == 2 && IMAGE_DATA_SIZE == 18, "");
	static_assert(IMAGE_DATA_W == 3 && IMAGE_DATA_H == 2, "");
	int main()
	{
		return !(get_sample_n_elements() == 2 && get_sample_img_total_bytes() == 18 &&
			 get_sample_img_width() == 3 && get_sample_img_height() == 2 &&
			 !std::memcmp(get_sample_data_ptr(0), "\0\1\2abcdefghijklmno", 18) &&
			 get_sample_data_ptr(1)[17] == 'A' && im1[0] == 'A' &&
			 !std::strcmp(get_sample_data_filename(1), "b \"?.pgm") &&
			 !get_sample_data_ptr(2) && !get_sample_data_filename(2));
	}
	END
	built t.cc
	g++ -o t t.cc.o new_dir_sample_files.c.o
	./t
}

@test "sounds become the evaluation kit's samples" {
	need g++
	model m
	{
		printf 'RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0'
		printf 'data\x08\0\0\0\x01\0\xff\xff\x00\x80\xff\x7f'
	} >a.wav
	mkinput --dialect=mlek-samples -o . m.tflite a.wav a.wav
	built sample_files.c
	cat >t.cc <<-'END'
	#include "sample_files.h"
	int main()
	{
		const int16_t *p = get_sample_data_ptr(1);
		return !(get_sample_data_size(1) == 4 && !get_sample_data_size(2) &&
			 get_sample_sampling_frequency() == 16000 && AUDIO_SAMPLING_RATE == 16000 &&
			 get_sample_audio_num_channels() == 1 && p[0] == 1 && p[1] == -1 &&
			 p[2] == -32768 && p[3] == 32767 && audio0[3] == 32767);
	}
	END
	built t.cc
	g++ -o t t.cc.o sample_files.c.o
	./t
}

@test "the evaluation kit's test data compile and have the right values" {
	need g++
	model m
	mkinput --random=3 --format=raw -o in.raw --expected=out.raw m.tflite
	mkinput --random=3 --dialect=mlek-tests --use-case=kws -o gen m.tflite
	built gen/TestData_kws.cc
	cat >t.cc <<-'END'
	#include "gen/TestData_kws.hpp"
	#include <cstdio>
	using namespace arm::app::kws;
	static_assert(NUMBER_OF_IFM_FILES == 1 && NUMBER_OF_OFM_FILES == 1, "");
	static_assert(IFM_0_DATA_SIZE == 4 && OFM_0_DATA_SIZE == 2, "");
	int main()
	{
		const IFM_0_DATA_TYPE *in = ifm0_kws;
		std::fwrite(in, 1, IFM_0_DATA_SIZE, stdout);
		std::fwrite(GetOfmDataArray(0), 1, OFM_0_DATA_SIZE, stdout);
		return GetIfmDataArray(0) != in || GetOfmDataArray(1) || GetIfmDataArray(1);
	}
	END
	built t.cc
	g++ -o t t.cc.o gen_TestData_kws.cc.o
	./t | cmp - <(cat in.raw out.raw)
	# without a use case the names have no namespace, as in the kit
	mkinput --random=3 --dialect=mlek-tests -o gen m.tflite
	built gen/TestData.cc
	grep -q 'ifm0\[IFM_0_DATA_SIZE\]' gen/TestData.hpp
}

@test "a refusal leaves no directory of the evaluation kit's files" {
	picture 2 3 1
	printf 'P5 6 4 255\nAAAAAAAAAAAAAAAAAAAAAAAA' >b.pgm
	refuses 2 "--dialect=mlek-samples writes two files: name their directory with -o DIR" \
		mkinput --dialect=mlek-samples p.tflite b.pgm
	refuses 2 "b.pgm: error: the picture has 6 by 4 pixels, the input 3 by 2: use --resize" \
		mkinput --dialect=mlek-samples -o new p.tflite b.pgm
	echo 1 >c.csv
	refuses 2 "c.csv: error: neither a picture nor a sound" \
		mkinput --dialect=mlek-samples -o new p.tflite c.csv
	refuses 2 "--use-case works only with --dialect=mlek-tests" mkinput --use-case=a p.tflite
	refuses 2 "--use-case needs a C identifier, not 'a-b'" \
		mkinput --dialect=mlek-tests --use-case=a-b -o new p.tflite
	[ ! -e new ]
	[ -w /proc ] && refuses 2 "/proc/new: " \
		mkinput --dialect=mlek-samples --resize -o /proc/new p.tflite b.pgm
}

# noise RATE SAMPLES: a WAV file of 16 bits on standard output
noise()
{
	printf "$(awk -v rate="$1" -v n="$2" 'function le(v, bytes) {
			for (; bytes > 0; bytes--) { printf "\\x%02x", v % 256; v = int(v / 256) } }
		BEGIN {
			printf "RIFF"; le(36 + 2 * n, 4); printf "WAVEfmt "; le(16, 4); le(1, 2); le(1, 2)
			le(rate, 4); le(2 * rate, 4); le(2, 2); le(16, 2); printf "data"; le(2 * n, 4)
			for (x = 1; n > 0; n--) { x = (x * 1664525 + 1013904223) % 4294967296; le(int(x / 65536), 2) }
		}')"
}

# features N TYPE: a model with an input of N elements of this type, scale 0.25
features()
{
	model f "$t[0].shape = [1,$1] | $t[0].type = $2 | $t[0].quantization = {scale:[0.25],zero_point:[0]}
		| $t[1].shape = [2,$1] | .buffers[1].data = [range(2 * $1) | . % 100]"
}

@test "--features: a sound becomes the input of a keyword model" {
	local int8=9 float=0 all
	noise 16000 800 >a.wav # two frames of 30 ms
	features 80 $int8
	mkinput --features=micro-frontend --format=raw -o q f.tflite a.wav
	all=$(numbers q)
	# 660 603 663 605 ... of TensorFlow's library, times 256 / 666, less 128
	[[ $all == "126 104 127 105 126 105 126 104 126 104 126 105 126 105 127 105 "* ]]
	echo a.wav 1 >list
	mkinput --features=micro-frontend --list=list --labels=l --format=raw -o q2 f.tflite
	cmp q q2
	features 80 $float
	mkinput --features=micro-frontend --format=raw -o v f.tflite a.wav
	od -An -v -tf4 -w4 v | awk '{ v = sprintf("%.0f", $1 * 25.6); q = int((v * 256 + 333) / 666) - 128
		print (q > 127 ? 127 : q) }' | xargs >got
	[ "$(cat got)" = "$all" ]
	# integers by the scale of the input; mel is one frame in 40 numbers
	for f in mfcc:20 mel:80 lfbe:80; do
		features ${f#*:} $float
		mkinput --features=${f%:*} --format=raw -o v f.tflite a.wav
		features ${f#*:} $int8
		mkinput --features=${f%:*} --format=raw -o q f.tflite a.wav
		[ "$(numbers q)" = "$(od -An -v -tf4 -w4 v | awk '{ v = $1 * 4; q = int(v < 0 ? v - 0.5 : v + 0.5)
			print (q > 127 ? 127 : q < -128 ? -128 : q) }' | xargs)" ]
	done
	# 40 ms: one frame
	features 10 $float
	mkinput --features=mfcc-mlek --format=raw -o v f.tflite a.wav
	# the sound is cut and extended to the frames of the input
	features 40 $int8
	refuses 2 'a.wav: error: the file has 80 values of shape [80], the input needs 40 of shape [1,40]' \
		mkinput --features=micro-frontend f.tflite a.wav
	mkinput --features=micro-frontend --fit --format=raw -o q f.tflite a.wav
	[ "$(numbers q)" = "$(cut -d' ' -f1-40 <<<"$all")" ]
	features 120 $int8
	mkinput --features=micro-frontend --fit --format=raw -o q f.tflite a.wav
	[ "$(numbers q | cut -d' ' -f1-80)" = "$all" ]
	noise 16000 479 >short.wav
	refuses 2 'short.wav: error: the sound has 479 samples, one frame of --features=mel needs 480' \
		mkinput --features=mel f.tflite short.wav
	noise 8000 800 >slow.wav
	refuses 2 'slow.wav: error: --features needs 16000 samples per second, the sound has 8000' \
		mkinput --features=mfcc f.tflite slow.wav
	echo 1 2 3 >v.csv
	refuses 2 'v.csv: error: --features needs a sound' mkinput --features=mfcc f.tflite v.csv
	refuses 2 'a.wav: error: these are sound samples' mkinput f.tflite a.wav
}
