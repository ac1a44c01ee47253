/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same library from C++ (tests/libnputools.bats).
 * usage: embed-cc MODEL PART: writes the compiled model to standard output
 *        embed-cc codes MODEL MODEL-WITH-CPU-OPERATOR: prints the codes of errors
 *        embed-cc MODEL
 * Calls each function with arguments that it must refuse, and prints status and messages.
 */
#include "nputools.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

class Output {
public:
	Output() = default;
	Output(const Output &) = delete;
	Output &operator=(const Output &) = delete;
	~Output() { nputools_free(&out); }
	void say(const char *what, int status) const
	{
		std::printf("%s: %d %s, %s: %s", what, status, nputools_code_name(out.code),
			    out.data ? "data" : "nothing", out.messages);
	}
	nputools_output out{};
};

using Bytes = std::vector<char>;

nputools_options
options(const char *part)
{
	nputools_options o{};
	o.size = sizeof(o);
	o.part = part;
	return o;
}

void
compile(const char *what, const nputools_options *o, const Bytes &b)
{
	Output x;
	int status = nputools_compile(o, b.data(), b.size(), &x.out);
	x.say(what, status);
}

void
refuse_options(const Bytes &model)
{
	nputools_options o = options(nullptr);
	compile("no options", nullptr, model);
	compile("no target", &o, model);
	o.size++;
	compile("newer caller", &o, model);
	struct {
		nputools_options o;
		char more[32];
	} newer{ options("himax-we2"), {} };
	newer.o.size = sizeof(newer);
	newer.o.effort = 10;
	compile("newer members, all zero", &newer.o, model);
	newer.more[31] = 1;
	compile("newer members", &newer.o, model);
	/* each size that is no member's end is refused, and none is read beyond */
	int taken = 0;
	for (size_t n = 0; n <= sizeof(o); n++) {
		Output x;
		o = options("no such chip");
		o.effort = 10;
		o.size = n;
		bool refused = nputools_compile(&o, nullptr, 0, &x.out) == 2 && x.out.messages &&
			       std::string(x.out.messages).find("size is") != std::string::npos;
		taken += !refused;
	}
	std::printf("sizes of options: %d\n", taken);
	o = options("no such chip");
	compile("part", &o, model);
	o = options("alif-e7-hp");
	o.effort = 10;
	compile("effort", &o, model);
	o = options("alif-e7-hp");
	o.arena_cache_size = 1024;
	compile("little memory", &o, model);
}

void
refuse_models(const Bytes &model)
{
	nputools_options o = options("alif-e7-hp");
	const Bytes half(model.begin(), model.begin() + static_cast<long>(model.size() / 2));
	compile("no bytes", &o, {});
	compile("half", &o, half);
	Output verified, estimated, simulated;
	nputools_buffer result;
	verified.say("verify",
		     nputools_verify(nullptr, model.data(), model.size(), &verified.out));
	estimated.say("estimate",
		      nputools_estimate(nullptr, model.data(), model.size(), &estimated.out));
	const Bytes begin(model.begin(), model.begin() + 8);
	compile("begin", &o, begin);
	Output null, no_inputs, no_outputs, no_data;
	null.say("null", nputools_compile(&o, nullptr, 0, &null.out));
	no_inputs.say("no inputs", nputools_simulate(nullptr, model.data(), model.size(), nullptr,
						     1, &result, 1, &no_inputs.out));
	nputools_buffer frame{ model.data(), 784 };
	no_outputs.say("no outputs", nputools_simulate(nullptr, model.data(), model.size(), &frame,
						       1, nullptr, 1, &no_outputs.out));
	frame.data = nullptr;
	no_data.say("no data", nputools_simulate(nullptr, model.data(), model.size(), &frame, 1,
						 &result, 1, &no_data.out));
	simulated.say("simulate", nputools_simulate(nullptr, model.data(), model.size(),
						    nullptr, 0, &result, 1, &simulated.out));
}

/* a call in the function progress */
int
nested(void *context, double)
{
	const Bytes &model = *static_cast<Bytes *>(context);
	nputools_options o = options("alif-e7-hp");
	Output x;
	int status = nputools_compile(&o, model.data(), model.size(), &x.out);
	std::printf("a call in progress: %d %s\n", status, nputools_code_name(x.out.code));
	return 1;
}

void
code(const char *what, const nputools_options &o, const void *model, size_t size)
{
	Output x;
	int status = nputools_compile(&o, model, size, &x.out);
	std::printf("%s: %d %s\n", what, status, nputools_code_name(x.out.code));
}

/* cpu: a model with an operator for the CPU */
int
show_codes(const Bytes &model, Bytes &cpu)
{
	nputools_options o = options("alif-e7-hp");
	std::printf("a null result: %d\n",
		    nputools_compile(&o, model.data(), model.size(), nullptr));
	o.fail_on_cpu = 1;
	code("no CPU allowed", o, cpu.data(), cpu.size());
	o.arena_cache_size = 1024;
	code("little memory", o, model.data(), model.size());
	code("no model", o, nullptr, 100);
	o.release = [](void *, void *) {};
	code("half of an allocator", o, model.data(), model.size());
	o.release = nullptr;
	std::printf("null feature: %d, unknown: %d, compile: %d\n", nputools_has(nullptr),
		    nputools_has("no such feature"), nputools_has("compile"));
	std::printf("code 99: %s\n", nputools_code_name(99));
	o.progress = nested;
	o.progress_context = &cpu;
	code("cancelled", o, model.data(), model.size());
	return 0;
}

Bytes
read(const char *name)
{
	std::ifstream f(name, std::ios::binary);
	return { std::istreambuf_iterator<char>(f), {} };
}

int
write_compiled(const Bytes &model, const char *part)
{
	nputools_options o = options(part);
	Output x;
	int status = nputools_compile(&o, model.data(), model.size(), &x.out);
	std::fputs(x.out.messages, stderr);
	return std::fwrite(x.out.data, 1, x.out.size, stdout) == x.out.size ? status : 2;
}

} // namespace

int
main(int argc, char **argv)
{
	const std::string how = argc > 1 ? argv[1] : "";
	if (how == "codes" && argc > 3) {
		Bytes cpu = read(argv[3]);
		return show_codes(read(argv[2]), cpu);
	}
	const Bytes model = read(how.c_str());
	if (model.empty())
		return 2;
	if (argc > 2)
		return write_compiled(model, argv[2]);
	std::printf("%s\n", nputools_version());
	refuse_options(model);
	refuse_models(model);
	return 0;
}
