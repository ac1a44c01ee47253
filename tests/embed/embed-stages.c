/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of libnputools one by one (tests/libnputools.bats).
 * usage: embed-stages MODEL ACCELERATOR SYSTEM-CONFIG MEMORY-MODE
 * Writes the results of the stages, part, sched, wenc and tflite, and the reports
 * partition.json and front.json, and then prints what damaged texts give.
 */
#include "nputools.h"

#include <stdio.h>
#include <string.h>

enum { MAX_MODEL = 1 << 24 };

static unsigned char model[MAX_MODEL];

/* Writes a result; returns the status of the call, 2 if the result cannot be written. */
static int
save(const char *path, int status, const struct nputools_output *out)
{
	FILE *f = fopen(path, "wb");
	size_t n = f ? fwrite(out->data, 1, out->size, f) : 0;
	if (status)
		fputs(out->messages, stderr);
	return f && !fclose(f) && n == out->size ? status : 2;
}

int
main(int argc, char **argv)
{
	static const char *const files[] = { "part", "sched", "wenc", "tflite" };
	if (argc != 5)
		return 2;
	struct nputools_options o = { .size = sizeof(o), .name = argv[1], .accelerator = argv[2],
				      .system_config = argv[3], .memory_mode = argv[4] };
	struct nputools_output in = { 0 }, out;
	FILE *f = fopen(argv[1], "rb");
	size_t n = f ? fread(model, 1, sizeof(model), f) : 0;
	int status = 0;
	if (f)
		(void)fclose(f);
	for (int k = NPUTOOLS_PARTITION; k <= NPUTOOLS_EMIT && !status; k++) {
		status = nputools_stage(&o, k, k ? in.data : model, k ? in.size : n, &out);
		status = save(files[k], status, &out);
		if (!status && k < NPUTOOLS_EMIT) {
			struct nputools_output bad;
			/* half of the text of this stage */
			int wrong = nputools_stage(&o, k + 1, out.data, out.size / 2, &bad);
			printf("half of %s: %d %s\n", files[k], wrong, nputools_code_name(bad.code));
			nputools_free(&bad);
		}
		nputools_free(&in);
		in = out;
	}
	nputools_free(&in);
	status |= save("front.json", nputools_front(&o, model, n, &out), &out);
	nputools_free(&out);
	status |= save("partition.json", nputools_partition(&o, model, n, &out), &out);
	nputools_free(&out);
	printf("stage 4: %d\n", nputools_stage(&o, 4, model, n, &out));
	nputools_free(&out);
	return status;
}
