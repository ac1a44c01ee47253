/* SPDX-License-Identifier: Apache-2.0 */
/* Parses Vela's options: some have an effect, others are ignored or refused. */
#include "vela.h"

#include "base/cli.h"

#include <string.h>

enum fate { NOOP_FATE = 1, ONLY_FATE, FAIL_FATE };

static const struct other {
	enum fate fate; /* 0: the option has the same effect as in Vela */
	const char *name, *value, *reason;
} others[] = {
#define KEEP(id, text, arg, help)
#define NOOP(id, text, arg, why) \
	[OPT_##id - OPT_FIRST] = { NOOP_FATE, text, arg, why },
#define ONLY(id, text, arg, why) \
	[OPT_##id - OPT_FIRST] = { ONLY_FATE, text, arg, why },
#define FAIL(id, text, arg, why) \
	[OPT_##id - OPT_FIRST] = { FAIL_FATE, text, arg, why },
#include "vela.def"
#undef KEEP
#undef NOOP
#undef ONLY
#undef FAIL
};

static const struct argp_option option_list[] = {
#define KEEP(id, text, value, help) { text, OPT_##id, value, 0, help, 0 },
#define NOOP(id, text, value, why) { text, OPT_##id, value, OPTION_HIDDEN, NULL, 0 },
#define ONLY NOOP
#define FAIL NOOP
#include "vela.def"
	{ 0 }
};

void
words_add(struct arena *a, struct words *w, const char *word)
{
	agrow(a, w->v, w->n, &w->cap);
	w->v[w->n++] = word;
}

static void
take_other(struct options *o, const struct other *k, const char *arg)
{
	switch (k->fate) {
	case NOOP_FATE:
		cli_note(arena_printf(o->a, "--%s does nothing", k->name), "%s", k->reason);
		break;
	case ONLY_FATE:
		if (strcmp(arg, k->value) != 0)
			cli_error("--%s=%s is not supported: %s", k->name, arg, k->reason);
		break;
	case FAIL_FATE:
		cli_error("--%s is not supported: %s", k->name, k->reason);
		o->refused = true;
		break;
	}
}

static void
take_operators(struct options *o, const char *arg)
{
	while (*arg) {
		size_t n = strcspn(arg, ",");
		if (n)
			words_add(o->a, &o->cpu, arena_strndup(o->a, arg, n));
		arg += n + (arg[n] == ',');
	}
}

static void
list_files(struct text *t)
{
	text_puts(t, "Arm/vela.ini\n");
}

static bool
take_kept(struct options *o, int key, const char *arg)
{
	static const char *const formats[] = { "tflite", "raw", NULL };
	switch (key) {
	case OPT_ACCEL: o->accel = arg; break;
	case OPT_SYSTEM: o->system = arg; break;
	case OPT_MODE: o->mode = arg; break;
	case OPT_PART: o->part = arg; break;
	case OPT_ANY: o->any = true; break;
	case OPT_CONFIG: words_add(o->a, &o->config, arg); break;
	case OPT_OPTIMISE: o->optimise = arg; break;
	case OPT_ARENA: o->arena = arg; break;
	case OPT_DIR: o->dir = arg; break;
	case OPT_FORMAT: o->raw = cli_choice("--output-format", arg, formats) == 1; break;
	case OPT_CPU: take_operators(o, arg); break;
	case OPT_SEPARATE: o->separate = true; break;
	case OPT_CPU_NAMES: o->cpu_names = true; break;
	case OPT_LIST_FILES: cli_show(list_files);
	case OPT_LIST: o->list = arg; break;
	default: return false;
	}
	return true;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	if (key == ARGP_KEY_ARG) {
		if (o->network)
			cli_error("several networks; npu-vela compiles one network at a time");
		/* "./" before a leading "-" keeps programs from reading an option */
		o->network = *arg == '-' ? arena_printf(o->a, "./%s", arg) : arg;
	} else if (key == ARGP_KEY_END && !o->network && !o->list && !o->refused) {
		cli_error("no network; name a .tflite or .tosa file");
	} else if (key == ARGP_KEY_END && !o->accel && !o->part) {
		o->accel = "ethos-u55-256";
	} else if (key >= OPT_V_QUANTIZATION && key <= OPT_BLOCK) {
		take_other(o, &others[key - OPT_FIRST], arg);
	} else if (key >= OPT_ALL && key <= OPT_V_REGISTERS) {
		/* the name of a listing is that of the option without "verbose-" */
		for (const struct argp_option *k = option_list; k->name; k++)
			if (k->key == key)
				words_add(o->a, &o->verbose, k->name + strlen("verbose-"));
	} else if (key != ARGP_KEY_END && !take_kept(o, key, arg)) {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "NETWORK",
	.doc = "Compiles a TFLite model or a TOSA graph with Vela's options, and writes "
	       "Vela's files: DIR/NAME_vela.tflite or .npz, DIR/NAME_summary_SYSTEM.csv."
	       "\vVela's other options are accepted with a message, or refused: "
	       "npu-vela(1).",
};

void
options_parse(struct options *o, int argc, char **argv)
{
	cli_parse(&argp, argc, argv, o, NULL);
}
