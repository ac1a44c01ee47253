/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's worker: compiles a model step by step and sends the result of each step
 * to the page.  Requests: {modules} once, then {compile}.  Answers: {ready}, {step},
 * {found}, {failed}, {done}.  To cancel, the page ends the worker.
 */
"use strict";

let modules = {}, text = new TextDecoder();

async function unpack(base64) {
	let packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
	let stream = new Blob([packed]).stream()
		.pipeThrough(new DecompressionStream("gzip"));
	return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/* a program's status, output and messages; v: its name and arguments */
function run(fs, ...v) {
	let out = new WasiBuffer(), err = new WasiBuffer();
	let host = { fs, env: {}, cwd: "/", module: (name) => modules[name] || null };
	let status = new Wasi(host, v, [new WasiNull(), out, err]).run(modules[v[0]]);
	return { status, out: text.decode(all(out)), err: text.decode(all(err)) };
}

function all(buffer) {
	let n = buffer.parts.reduce((sum, p) => sum + p.length, 0);
	let p = new Uint8Array(n);
	buffer.read(p);
	return p;
}

class Refused extends Error {}

/* Messages name options of programs for which the page has a control. */
function forPage(message) {
	message = message.replace(/--integer-io of npucc( or tfl-partition)?/g,
		"the choice of float inputs and outputs above");
	let m = message.match(/^(.*error: )not fully integer: .*?(\d+ of \d+ operators read or compute floats)/m);
	return !m ? message : `${m[1]}${m[2]}: choose a folder of pictures above, ` +
		"with which the page makes an integer model";
}

/* the page shows the message of a program that fails */
function must(fs, ...v) {
	let r = run(fs, ...v);
	if (r.status & 127)
		throw new Refused(r.err + `${v[0]}: ended by signal ${r.status & 127}`);
	if (r.status)
		throw new Refused(forPage(r.err) || `${v[0]}: status ${r.status >> 8}`);
	return r;
}

/* the suffix that the bytes ask for; a file of another tool keeps its own, for the advice */
function suffixOf(b, name) {
	let known = { TFL3: ".tflite", TOSA: ".tosa" }[text.decode(b.subarray(4, 8))];
	return known || (name.match(/\.\w+$/) || [".tflite"])[0];
}

/*
 * Quantizes a float model with the user's samples.  Returns the path of the integer model;
 * of the model itself, if it is integer already.
 */
function quantize(fs, job, model, say) {
	let made = model.replace(/\.\w+$/, "_int8.tflite");
	if (!run(fs, "tfl-quantcheck", "-q", model).status)
		return model;
	fs.mkdirSync("/data");
	for (let { folder, name, bytes } of job.data) {
		let names = fs.readdirSync("/data");
		if (folder && !names.includes(folder))
			fs.mkdirSync(`/data/${folder}`);
		fs.put(folder ? `/data/${folder}/${name}` : `/data/${name}`, bytes);
	}
	let report = must(fs, "tfl-quantize", "-j1", "--data=/data", `--range=${job.range}`,
		`--resize=${job.resize}`, "--json", "-o", made, "--", model).out;
	say({ quantized: fs.get(made), figures: report });
	return made;
}

/*
 * job: bytes, name, accelerator, memory (options of the memory system), limit (bytes,
 * or 0), check, curve (true if the front is needed), data (samples: folder, or "", name, bytes)
 * range and resize, with which a float model is quantized; integers: the model's float ends
 * become integers
 */
function compile(job) {
	let fs = new MemoryFs(), say = (found) => postMessage({ id: job.id, found });
	let suffix = suffixOf(job.bytes, job.name), tosa = suffix === ".tosa";
	let name = job.name.replace(/\.\w+$/, "").replace(/[/\0]/g, "_")
		.slice(0, 60) || "model";
	let model = `/${name}${suffix}`, made = `/${name}_npu.tflite`;
	let target = ["-a", job.accelerator, ...job.memory];
	let limit = job.limit ? [`--arena-cache-size=${job.limit}`] : [];
	let ends = job.integers && !tosa ? ["--integer-io"] : [];
	let quantizes = job.data.length && suffix === ".tflite";
	let steps = ["operators", "compile", "estimate", "header", "report"];
	if (job.curve)
		steps.splice(4, 0, "curve");
	if (job.check)
		steps.push("check");
	let step = (what) => postMessage({ id: job.id, step: what,
		at: steps.indexOf(what), of: steps.length });
	if (quantizes)
		steps.unshift("quantize");
	fs.mkdirSync("/tmp");
	fs.put(model, job.bytes);
	if (quantizes) {
		step("quantize");
		model = quantize(fs, job, model, say);
	}

	step("operators");
	say({ placed: must(fs, tosa ? "tosa-partition" : "tfl-partition", "--report",
		...ends, "-a", job.accelerator, "--", model).out });

	step("compile");
	let begin = performance.now();
	let said = must(fs, "npucc", ...target, ...ends, ...limit, "-o", made, "--", model).err;
	let compiled = fs.get(made);
	say({ ms: performance.now() - begin, said: forPage(said), compiled, name });

	step("estimate");
	let report = run(fs, "npu-perf", "--json", ...job.memory, made);
	if (!report.status) {
		fs.put("/report.json", new TextEncoder().encode(report.out));
		say({ report: report.out });
	}

	step("header");
	must(fs, "tfl2c", `--name-of=${name}`, "-o", `/${name}.h`, made);
	say({ header: fs.get(`/${name}.h`) });

	let front = [];
	if (!report.status && job.curve) {
		step("curve");
		let curve = run(fs, "npucc", ...target, ...ends, "--front", "--json", "-o", "-", "--", model);
		if (!curve.status) {
			fs.put("/front.json", new TextEncoder().encode(curve.out));
			front = ["--front=/front.json"];
			say({ front: curve.out });
		}
	} else if (job.front) {
		fs.put("/front.json", new TextEncoder().encode(job.front));
		front = ["--front=/front.json"];
	}
	if (!report.status) {
		step("report");
		say({ html: must(fs, "npu-report", "--html", ...front,
			...(tosa ? [] : ["--source=" + model]), "/report.json").out });
	}
	if (job.check) {
		step("check");
		must(fs, "npu-sim", "--require-outputs", "--inputs=random,min,max,alternating",
			`--compare=${model}`, made);
		say({ equal: true });
	}
}

onmessage = async ({ data }) => {
	try {
		if (data.modules) {
			await Promise.all(Object.entries(data.modules).map(
				async ([k, v]) => modules[k] = await unpack(v)));
			let fs = new MemoryFs();
			postMessage({ ready: {
				parts: must(fs, "npu-sched", "--list-parts").out,
				profiles: must(fs, "npu-sched", "--list-profiles").out,
				accelerators: run(fs, "npu-sched", "-a", "none").err,
				version: must(fs, "npucc", "--version").out,
			} });
			return;
		}
		compile(data.compile);
		postMessage({ id: data.compile.id, done: true });
	} catch (e) {
		postMessage({ id: data.compile && data.compile.id, failed: e instanceof Refused
			? e.message : `the page: ${e.message}` });
	}
};
