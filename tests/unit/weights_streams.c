/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests weight streams that another compiler made: every stream must decode to the number
 * of values that its operation needs.  Encoding it again must be lossless, and the result
 * may be at most 16 bytes longer.
 *
 * weights_streams [-s] [-LEVEL] [FILE.tflite...]
 *
 * Without files: all of $NPUTOOLS_SHARED/reference/vela-compiled.  -s prints every stream,
 * not only the totals of a file.
 */
#include "coding.h"

#include "base/cli.h"
#include "base/file.h"
#include "base/little_endian.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SKIPPED = 77 };

/* ---- a minimal FlatBuffers reader for trusted files ---- */

static const uint8_t *
follow(const uint8_t *p)
{
	return p + load_le32(p);
}

/* field `slot` of a table, or NULL */
static const uint8_t *
field(const uint8_t *table, unsigned slot)
{
	const uint8_t *vtable = table - (int32_t)load_le32(table);
	unsigned at = 4 + 2 * slot;
	unsigned ofs = at < load_le16(vtable) ? load_le16(vtable + at) : 0;
	return ofs ? table + ofs : NULL;
}

/* element i of the vector of tables in a field */
static const uint8_t *
element(const uint8_t *table, unsigned slot, uint32_t i)
{
	return follow(follow(field(table, slot)) + 4 + 4 * i);
}

static uint32_t
length(const uint8_t *table, unsigned slot)
{
	const uint8_t *f = field(table, slot);
	return f ? load_le32(follow(f)) : 0;
}

/* the data of a tensor's buffer */
static struct bytes
tensor_data(const uint8_t *model, const uint8_t *graph, uint32_t tensor)
{
	const uint8_t *f = field(element(graph, 0, tensor), 2);
	const uint8_t *buffer = element(model, 4, f ? load_le32(f) : 0);
	f = field(buffer, 0);
	if (!f)
		return (struct bytes){ 0 };
	return (struct bytes){ .p = follow(f) + 4, .n = load_le32(follow(f)) };
}

/* ---- the registers with the addresses of weights ---- */

enum {
	OP_CONV = 0x002, OP_DEPTHWISE = 0x003, OP_DMA = 0x010,
	IFM_DEPTH_M1 = 0x104, IFM_PRECISION = 0x105, OFM_DEPTH_M1 = 0x113,
	OFM_BLK_DEPTH_M1 = 0x117, KERNEL_W_M1 = 0x120, KERNEL_H_M1 = 0x121,
	KERNEL_STRIDE = 0x122, PARALLEL_MODE = 0x123, WEIGHT_REGION = 0x128,
	DMA_SRC_REGION = 0x130, DMA_DST_REGION = 0x131,
	WEIGHT_BASE = 0x020, DMA_SRC = 0x030, DMA_DST = 0x031, DMA_LEN = 0x032,
	WEIGHT1_BASE = 0x090, /* + 1: length */
};

struct copy {
	uint32_t src, dst, len, region;
};

struct walk {
	uint32_t reg0[0x200], reg1[0x200];
	struct bytes flash;
	struct copy copies[4096];
	size_t n_copies;
	uint8_t *seen; /* a flag for every 16 bytes of flash */
	int ou;
	/* results */
	const char *file;
	bool verbose, failed;
	int level;
	size_t n_streams, values, theirs, ours;
	long worst;
	double encode_s, decode_s, cost_s;
};

/* the offset in flash for an address of a region, or UINT32_MAX */
static uint32_t
flash_offset(const struct walk *w, uint32_t region, uint32_t at)
{
	if (region == 0)
		return at;
	for (size_t i = w->n_copies; i-- > 0;) {
		const struct copy *c = &w->copies[i];
		if (c->region == region && at >= c->dst &&
		    at < c->dst + c->len)
			return c->src + (at - c->dst);
	}
	return UINT32_MAX;
}

static size_t
expected_count(const struct walk *w, bool depthwise, int core, int cores)
{
	const uint32_t *r = w->reg0;
	uint32_t stride = r[KERNEL_STRIDE];
	int dil_x = 1 + (stride >> 3 & 1), dil_y = 1 + (stride >> 4 & 1);
	struct weights_order ord = {
		.traversal = depthwise	 ? WEIGHTS_DEPTHWISE
			     : stride & 4 ? WEIGHTS_PART_KERNEL
					  : WEIGHTS_DEPTH_FIRST,
		.block_depth = (int)r[OFM_BLK_DEPTH_M1] + 1,
		.ou = w->ou,
		.ifm_bits = (r[IFM_PRECISION] >> 2 & 3) == 1 ? 16 : 8,
		.dilation_y = dil_y,
		.dilation_x = dil_x,
		.end = (int)r[OFM_DEPTH_M1] + 1,
		.core = core,
		.cores = cores,
	};
	return weights_order_count(&ord, (int)r[KERNEL_H_M1] / dil_y + 1,
				   (int)r[KERNEL_W_M1] / dil_x + 1,
				   (int)r[IFM_DEPTH_M1] + 1);
}

static bool
check_stream(struct walk *w, struct bytes in, size_t expected, uint32_t at)
{
	struct arena *a = arena_open();
	struct weights_values v;
	struct err e = { 0 };

	if (!weights_decode(a, in, -1, &v, &e) || v.n != expected) {
		printf("%s: stream at 0x%x: %zu values, %zu expected: %s\n",
		       w->file, at, v.n, expected, e.text);
		arena_close(a);
		return false;
	}
	struct coding c = { .v = v.v, .n = v.n, .level = w->level };
	bool ok = coding_run(&c, a);
	if (!ok)
		printf("%s: stream at 0x%x: encoded again it is %zu bytes, "
		       "costs %zu, and differs: %s\n",
		       w->file, at, c.out.n, c.cost, c.e.text);
	long more = (long)c.out.n - (long)in.n;
	if (w->verbose)
		printf("%8x %8zu values %7zu bytes, ours %7zu %+6ld %6.2f%% "
		       "%6.1f M/s\n", at, v.n, in.n, c.out.n, more,
		       100.0 * (double)c.out.n / (double)in.n,
		       1e-6 * (double)v.n / c.encode_s);
	w->n_streams++;
	w->values += v.n;
	w->theirs += in.n;
	w->ours += c.out.n;
	w->decode_s += c.decode_s;
	w->encode_s += c.encode_s;
	w->cost_s += c.cost_s;
	w->worst = more > w->worst ? more : w->worst;
	arena_close(a);
	return ok;
}

static void
kernel(struct walk *w, bool depthwise)
{
	int cores = (int)w->reg0[PARALLEL_MODE] + 1;

	for (int core = 0; core < cores; core++) {
		uint32_t reg = core ? WEIGHT1_BASE : WEIGHT_BASE;
		uint32_t len = w->reg1[reg + 1];
		uint32_t at = flash_offset(w, w->reg0[WEIGHT_REGION],
					   w->reg1[reg]);
		if (len == 0 || (at != UINT32_MAX && w->seen[at / 16]))
			continue;
		if (at > w->flash.n || len > w->flash.n - at) {
			printf("%s: no weights at 0x%x\n", w->file,
			       w->reg1[reg]);
			w->failed = true;
			continue;
		}
		w->seen[at / 16] = 1;
		struct bytes in = { .p = w->flash.p + at, .n = len };
		if (!check_stream(w, in,
				  expected_count(w, depthwise, core, cores),
				  at))
			w->failed = true;
	}
}

static void
command_stream(struct walk *w, struct bytes words)
{
	for (size_t i = 32; i + 4 <= words.n; i += 4) {
		uint32_t word = load_le32(words.p + i), code = word & 0x1ff;
		if (word & 0x4000) {
			i += 4;
			w->reg1[code] = load_le32(words.p + i);
		} else if (code >= 0x100) {
			w->reg0[code] = word >> 16;
		} else if (code == OP_DMA && w->reg0[DMA_SRC_REGION] == 0 &&
			   w->n_copies < ARRAY_LEN(w->copies)) {
			w->copies[w->n_copies++] = (struct copy){
				.src = w->reg1[DMA_SRC],
				.dst = w->reg1[DMA_DST],
				.len = w->reg1[DMA_LEN],
				.region = w->reg0[DMA_DST_REGION],
			};
		} else if (code == OP_CONV || code == OP_DEPTHWISE) {
			kernel(w, code == OP_DEPTHWISE);
		}
	}
}

/* every ethos-u operator of a file; false: a stream failed */
static bool
check_file(struct walk *w)
{
	struct arena *a = arena_open();
	struct bytes file;
	struct err e = { 0 };

	if (!file_read(a, w->file, SIZE_MAX, &file, &e)) {
		printf("%s\n", e.text);
		return false;
	}
	const uint8_t *model = follow(file.p), *graph = element(model, 2, 0);
	for (uint32_t i = 0; i < length(graph, 3); i++) {
		const uint8_t *op = element(graph, 3, i);
		const uint8_t *code = field(op, 0), *in = follow(field(op, 1));
		code = element(model, 1, code ? load_le32(code) : 0);
		const uint8_t *custom = field(code, 1);
		if (!custom || strcmp((const char *)follow(custom) + 4,
				      "ethos-u") != 0)
			continue;
		struct bytes words =
		    tensor_data(model, graph, load_le32(in + 4));
		w->flash = tensor_data(model, graph, load_le32(in + 8));
		if (!w->seen)
			w->seen = anew(a, uint8_t, w->flash.n / 16 + 1);
		/* macs per cycle 2^5: U55-32, whose ublocks are 4 deep */
		w->ou = (load_le32(words.p + 8) & 15) == 5 ? 4 : 8;
		command_stream(w, words);
	}
	arena_close(a);
	return !w->failed;
}

static void
print_row(const char *name, const struct walk *w)
{
	double n = 1e-6 * (double)w->values;

	if (w->n_streams)
		printf("%-28.28s %4zu streams %8zu values %8zu bytes, ours "
		       "%8zu %.4f, worst %+ld, M/s: encode %.1f cost %.1f "
		       "decode %.0f\n", name, w->n_streams, w->values,
		       w->theirs, w->ours,
		       (double)w->ours / (double)w->theirs, w->worst,
		       n / w->encode_s, n / w->cost_s, n / w->decode_s);
}

static void
add(struct walk *sum, const struct walk *w)
{
	sum->n_streams += w->n_streams;
	sum->values += w->values;
	sum->theirs += w->theirs;
	sum->ours += w->ours;
	sum->encode_s += w->encode_s;
	sum->cost_s += w->cost_s;
	sum->decode_s += w->decode_s;
	sum->worst = w->worst > sum->worst ? w->worst : sum->worst;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int
main(int argc, char **argv)
{
	const char *shared = getenv("NPUTOOLS_SHARED");
	char pattern[4096];
	bool verbose = false, ok = true;
	int level = WEIGHTS_LEVEL_DEFAULT, first = 1;
	glob_t found = { 0 };
	char **files = argv;
	size_t n_files;

	for (; first < argc && argv[first][0] == '-'; first++) {
		if (argv[first][1] == 's')
			verbose = true;
		else
			level = atoi(argv[first] + 1);
	}
	snprintf(pattern, sizeof(pattern), "%s/reference/vela-compiled/*/*/*",
		 shared ? shared : "../shared");
	files += first;
	n_files = (size_t)(argc - first);
	if (n_files == 0) {
		if (glob(pattern, 0, NULL, &found) != 0) {
			printf("skipped: no files at %s\n", pattern);
			return EXIT_SKIPPED;
		}
		files = found.gl_pathv;
		n_files = found.gl_pathc;
	}
	static struct walk sum;
	/* the found files: every second one, including the last; NPUTOOLS_ALL: all;
	 * NPUTOOLS_QUICK: every eighth */
	size_t step = !found.gl_pathc || getenv("NPUTOOLS_ALL") ? 1 : 2;
	const char *quick = getenv("NPUTOOLS_QUICK");
	if (found.gl_pathc && quick && *quick)
		step = 8;
	for (size_t i = (n_files - 1) % step; i < n_files; i += step) {
		struct walk *w = calloc(1, sizeof(*w));
		if (!w)
			return EXIT_TROUBLE;
		w->file = files[i];
		w->verbose = verbose;
		w->level = level;
		ok &= check_file(w);
		print_row(base_name(w->file), w);
		add(&sum, w);
		free(w);
	}
	print_row("total", &sum);
	globfree(&found);
	if (level >= WEIGHTS_LEVEL_DEFAULT && sum.worst > 16) {
		printf("a stream is more than 16 bytes larger\n");
		ok = false;
	}
	return ok ? EXIT_YES : EXIT_NO;
}
