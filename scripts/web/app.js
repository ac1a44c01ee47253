/* SPDX-License-Identifier: Apache-2.0 */
/* The page: sends the user's choices to the worker, and shows the worker's results. */
"use strict";

const $ = (id) => document.getElementById(id);
const STEPS = {
	quantize: "Running the samples, and quantizing",
	operators: "Deciding what the NPU runs", compile: "Compiling", estimate: "Estimating",
	header: "Writing the C header", curve: "Searching what more SRAM buys",
	report: "Drawing the report", check: "Running both, and comparing",
};

let worker = null, ready = false, profile = {};
let systems = [], modes = []; /* memory systems: a name, and what it works with */
let model = null; /* name, bytes */
let data = []; /* samples for a float model: folder, or "", name, bytes */
let quantized = null, figures = null; /* the integer version of model, and its figures */
let front = null; /* points of the model and target that are shown, and the front's JSON */
let made = {}; /* npu-perf's figures of the plan that is shown */
let job = 0, again = 0, shown = 0; /* shown: the job whose result is on the page */

/* ---- the worker ------------------------------------------------------------------- */

function start() {
	const source = URL.createObjectURL(new Blob([NPUTOOLS.worker],
		{ type: "text/javascript" }));
	ready = false;
	worker = new Worker(source);
	worker.onmessage = ({ data }) => heard(data);
	worker.onerror = (e) => fail(`the page: ${e.message || "the worker did not start"}`);
	worker.postMessage({ modules: NPUTOOLS.modules });
}

function heard(data) {
	if (data.ready) {
		ready = true;
		fillChoices(data.ready);
		idle(model ? "" : "Ready");
		$("sample").disabled = false;
		if (model && job)
			compile(0);
		return;
	}
	if (data.id !== undefined && data.id !== job)
		return;
	if (data.step) {
		$("progress").value = data.at / data.of;
		$("step").textContent = STEPS[data.step];
	} else if (data.found) {
		Object.entries(data.found).forEach(([k, v]) => show[k] && show[k](v, data.found));
	} else if (data.failed) {
		fail(data.failed);
	} else if (data.done) {
		idle("Done");
		document.body.dataset.done = job;
	}
}

function idle(text) {
	$("step").textContent = text;
	$("progress").value = text === "Done" ? 1 : 0;
	$("cancel").disabled = true;
}

function fail(text) {
	$("message").textContent = text.trimEnd();
	$("error").hidden = false;
	if (shown !== job) /* the result is that of another limit */
		["result", "pictures"].forEach((s) => $(s).hidden = true);
	idle("Failed");
	document.body.dataset.done = job;
}

function cancel() {
	worker.terminate();
	job = 0;
	start();
	idle("Cancelled");
	document.body.dataset.done = "cancelled";
}

/* limit: bytes of SRAM, or 0; the curve is kept while only the limit changes */
function compile(limit) {
	clearTimeout(again);
	if (!model)
		return;
	if (!$("cancel").disabled) { /* the worker computes an outdated request */
		worker.terminate();
		start();
	}
	job++;
	delete document.body.dataset.done;
	$("error").hidden = true;
	if (!limit) {
		front = quantized = figures = null;
		["result", "curve", "operators", "pictures", "get-quantized"]
			.forEach((s) => $(s).hidden = true);
	}
	$("cancel").disabled = false;
	$("step").textContent = ready ? "" : "Unpacking the compiler";
	if (!ready)
		return; /* heard() calls this function again */
	worker.postMessage({ compile: {
		id: job, bytes: quantized || model.bytes, name: model.name, limit,
		accelerator: $("accelerator").value, check: $("check").value === "1",
		curve: !front, front: front && front.json, data: quantized ? [] : data,
		range: $("range").value, resize: $("resize").value, integers: $("ends").value === "1",
		memory: $("part").value ? [`--part=${$("part").value}`]
			: [`--system-config=${$("system").value}`,
				`--memory-mode=${$("mode").value}`],
	} });
}

/* ---- choices ---------------------------------------------------------------------- */

function fill(select, values, chosen) {
	select.replaceChildren(...values.map(([value, text]) => {
		const o = document.createElement("option");
		o.value = value;
		o.textContent = text === undefined ? value : text;
		o.selected = value === chosen;
		return o;
	}));
}

/* from the lists of npu-sched; choices are kept when the worker restarts */
function fillChoices({ parts, profiles, accelerators, version }) {
	if ($("part").options.length)
		return;
	const [first, second] = profiles.split(/^memory modes.*\n/m);
	systems = [...first.matchAll(/^ {2}(\S+) .*? {2}(\w+) [\d./]+ {2}(ethos-\S+)? ?\(/gm)]
		.map((m) => ({ name: m[1], hasDram: m[2] === "Dram", accelerator: m[3] }));
	modes = [...second.matchAll(/^ {2}(\S+) +Axi\d (Axi\d)/gm)]
		.map((m) => ({ name: m[1], needsDram: m[2] === "Axi1" }));
	profile = {};
	for (const m of parts.matchAll(/^(\S+) +(ethos-\S+) .*  (\S+) (\S+)(?: \(reference platform\))?$/gm))
		profile[m[1]] = { accelerator: m[2], system: m[3], mode: m[4] };
	fill($("part"), [["", "another chip"],
		...Object.keys(profile).map((name) => [name])], "");
	fill($("accelerator"), (accelerators.match(/ethos-u\d+-\d+/g) || []).map((a) => [a]),
		"ethos-u55-128");
	fitSystem();
	$("version").textContent = version.replace(/^\S+ \((.*)\)/, "$1").trim() + ".";
}

/* the system and mode that npucc takes for a generation if none is named */
const USUAL = {
	u55: ["Ethos_U55_High_End_Embedded", "Shared_Sram"],
	u65: ["Ethos_U65_High_End", "Dedicated_Sram"],
	u85: ["Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram"],
};

/* offers the systems of the accelerator; the chosen one is kept if it is among them */
function fitSystem() {
	const own = $("accelerator").value, u = own.match(/u\d+/)[0], before = $("system").value;
	const fit = systems.filter((s) => s.accelerator ? s.accelerator === own
		: s.name.startsWith(`Ethos_${u.toUpperCase()}_`)).map((s) => [s.name]);
	const kept = fit.some(([name]) => name === before);
	fill($("system"), fit, kept ? before : USUAL[u][0]);
	fitMode(kept ? $("mode").value : USUAL[u][1]);
}

/* offers the modes of the system: an arena outside of SRAM must be in DRAM */
function fitMode(chosen) {
	const { hasDram } = systems.find((s) => s.name === $("system").value);
	fill($("mode"), modes.filter((m) => hasDram || !m.needsDram).map((m) => [m.name]), chosen);
}

function choosePart() {
	const p = profile[$("part").value];
	["accelerator", "system", "mode"].forEach((k) => $(k).disabled = !!p);
	if (!p)
		return;
	$("accelerator").value = p.accelerator;
	fitSystem();
	$("system").value = p.system;
	fitMode(p.mode);
}

/* ---- what was found ----------------------------------------------------------------- */

/* label: what is shown, if it is not the name */
function number(name, value, label = name) {
	const id = "n-" + name.toLowerCase().replace(/[^a-z]+/g, "-");
	let dd = $(id);
	if (!dd) {
		const dt = document.createElement("dt"), div = document.createElement("div");
		dd = document.createElement("dd");
		dd.id = id;
		dt.textContent = label;
		div.append(dt, dd);
		$("numbers").append(div);
	}
	dd.textContent = value;
}

function bytes(n) {
	return n < 10240 ? `${n} bytes` : `${(n / 1024).toFixed(1)} KiB`;
}

function seconds(s) {
	const [one, name] = s < 1e-3 ? [1e-6, "µs"] : s < 1 ? [1e-3, "ms"] : [1, "s"];
	return `${Number((s / one).toPrecision(3))} ${name}`;
}

function download(id, name, data, type) {
	const a = $(id);
	if (a.href)
		URL.revokeObjectURL(a.href);
	a.href = URL.createObjectURL(new Blob([data], { type }));
	a.download = name;
	a.hidden = false;
}

function baseName() {
	return model.name.replace(/\.\w+$/, "");
}

/* what the quantized model loses on the samples */
function showFigures() {
	const percent = (v) => `${Number((100 * v).toPrecision(4))} %`;
	if (figures && figures.accuracy)
		number("Accuracy", `${percent(figures.accuracy.float)} in float, ` +
			`${percent(figures.accuracy.integer)} quantized`, "Accuracy on these samples");
	if (figures && figures.equal_answers !== null)
		number("Equal answers", `${figures.equal_answers} of ${figures.samples}`,
			"Equal answers on these samples");
}

const show = {
	placed(text) {
		const lines = text.trimEnd().split("\n");
		$("placed").textContent = lines.pop();
		$("rows").replaceChildren(...lines.map((line) => {
			const tr = document.createElement("tr");
			const m = line.match(/^\s*(\d+)\s+(NPU|CPU)\s+(\S+)(?:\s+(.*))?$/) ||
				["", "", "", "", line]; /* a sum of the rows */
			const [name, why] = (m[4] || "").split(/(?:^|\s+)because: (.*)/);
			tr.className = m[2] === "CPU" ? "cpu" : "";
			[m[1], m[2], m[3], name, why].forEach((s, i) => {
				const td = tr.insertCell();
				if (i !== 3 || !s) {
					td.textContent = s || "";
					return;
				}
				/* converters join the names of all operators that they fuse */
				const div = td.appendChild(document.createElement("div"));
				div.className = "name";
				div.textContent = td.title = s;
			});
			return tr;
		}));
		$("operators").hidden = false;
	},
	compiled(data, { ms, said, name }) {
		shown = job;
		$("result").hidden = false;
		$("title").textContent = model.name;
		$("numbers").replaceChildren();
		showFigures();
		$("notes").textContent = said.trim();
		number("Compiled in", `${Math.round(ms)} ms`);
		number("Compiled model", bytes(data.length));
		download("get-model", `${baseName()}_npu.tflite`, data, "application/octet-stream");
	},
	quantized(data, { figures: text }) {
		[quantized, figures] = [data, JSON.parse(text)];
		download("get-quantized", `${baseName()}_int8.tflite`, data, "application/octet-stream");
	},
	header(data) {
		download("get-header", `${baseName()}.h`, data, "text/plain");
	},
	report(text) {
		const r = JSON.parse(text), memory = r.constants_name;
		made = r;
		number("SRAM", bytes(r.sram_bytes), r.sram_name);
		/* as in the report: a memory of both has its name above the arena */
		number("Flash", bytes(r.arena_in === "dram" ? r.dram_bytes : r.flash_bytes),
			memory === r.sram_name ? "Constants"
			: memory === "flash" ? "Flash" : memory);
		document.querySelectorAll(".sram").forEach((e) => e.textContent = r.sram_name);
		$("graph").setAttribute("aria-label", `Cycles over ${r.sram_name}`);
		number("Cycles", Math.round(r.cycles_per_inference).toLocaleString("en"));
		number("Time", seconds(r.inference_seconds));
		/* as in the report; the CPU's cycles are known to a factor, without a probability */
		number("Range", `${seconds(r.inference_seconds_low)} to ${seconds(r.inference_seconds_high)}`,
			r.cpu_operators ? "Range of the time" : "Time, with a probability of 80 %");
		number("Inferences a second", Number((1 / r.inference_seconds).toPrecision(3))
			.toLocaleString("en"));
		number("On the CPU", r.cpu_operators);
	},
	front(json) {
		/* without those that the chip's memories are too small for */
		const points = JSON.parse(json).front.filter((q) => q.fits !== false);
		$("curve").hidden = points.length < 2;
		if (!points.length)
			return;
		front = { json, points };
		$("slider").max = points.length - 1;
		/* the plan whose numbers stand above: without a limit, not the fastest one */
		let i = 0;
		points.forEach((q, k) => { i = q.sram <= made.sram_bytes ? k : i; });
		$("slider").value = i;
		drawCurve(i);
	},
	html(text) {
		$("report").srcdoc = text;
		$("pictures").hidden = false;
		download("get-report", `${baseName()}.html`, text, "text/html");
	},
	equal() {
		number("Outputs", "equal to the model's");
	},
};

/* ---- the curve ------------------------------------------------------------------------ */

function svg(name, attributes, text) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name);
	Object.entries(attributes).forEach(([k, v]) => e.setAttribute(k, v));
	if (text !== undefined)
		e.textContent = text;
	return e;
}

function drawCurve(chosen) {
	const width = Math.max(240, $("graph").clientWidth);
	const p = front.points, left = 70, right = width - 20, top = 15, bottom = 185;
	const most = { s: p[p.length - 1].sram, c: p[0].cycles }, least = { s: p[0].sram,
		c: p[p.length - 1].cycles };
	const x = (s) => left + (right - left) * (s - least.s) / (most.s - least.s || 1);
	const y = (c) => bottom - (bottom - top) * (c - least.c) / (most.c - least.c || 1);
	let path = "";
	p.forEach((q, i) => path += i ? `H${x(q.sram)}V${y(q.cycles)}` : `M${x(q.sram)} ${y(q.cycles)}`);
	$("graph").setAttribute("viewBox", `0 0 ${width} 220`);
	$("graph").replaceChildren(
		svg("path", { class: "axis", fill: "none", d: `M${left} ${top}V${bottom}H${right}` }),
		svg("path", { class: "curve", d: path }),
		...p.map((q, i) => svg("circle", { class: i === chosen ? "chosen" : "point",
			cx: x(q.sram), cy: y(q.cycles), r: i === chosen ? 6 : 3 })),
		svg("text", { x: left, y: 205 }, bytes(least.s)),
		svg("text", { x: right, y: 205, "text-anchor": "end" }, `${bytes(most.s)} ${made.sram_name}`),
		svg("text", { x: left - 5, y: top + 8, "text-anchor": "end" },
			Math.round(most.c).toLocaleString("en")),
		svg("text", { x: left - 5, y: bottom, "text-anchor": "end" },
			Math.round(least.c).toLocaleString("en")));
	const q = p[chosen];
	$("limit").textContent = `${bytes(q.sram)}, ${Math.round(q.cycles).toLocaleString("en")} cycles`;
	$("slider").setAttribute("aria-valuetext", $("limit").textContent);
}

/* ---- what the user does --------------------------------------------------------------- */

/* files: path below the chosen folder, and file; deeper folders and hidden files are left out */
async function takeData(name, files) {
	const taken = [];
	for (const { path, file } of files) {
		const parts = path.split("/");
		if (parts.length < 3 && !parts.some((p) => p.startsWith(".")))
			taken.push({ folder: parts.length > 1 ? parts[0] : "", name: parts.pop(),
				bytes: new Uint8Array(await file.arrayBuffer()) });
	}
	data = taken;
	$("chosen").textContent = `${name}, ${data.length} files`;
	compile(0);
}

/*
 * All files of a folder that was dropped: of a handle, or of an entry, which browsers without
 * handles have.  A page from a disk can read handles alone.
 */
async function filesOf(folder, at) {
	const found = [];
	if (folder.values) {
		for await (const e of folder.values())
			if (e.kind === "directory")
				found.push(...await filesOf(e, `${at}${e.name}/`));
			else
				found.push({ path: at + e.name, file: await e.getFile() });
		return found;
	}
	const reader = folder.createReader();
	for (;;) { /* the browser gives some entries at a time */
		const some = await new Promise((ok, no) => reader.readEntries(ok, no));
		if (!some.length)
			return found;
		for (const e of some)
			if (e.isDirectory)
				found.push(...await filesOf(e, `${at}${e.name}/`));
			else
				found.push({ path: at + e.name,
					file: await new Promise((ok, no) => e.file(ok, no)) });
	}
}

/* a model, a folder of samples, or both */
async function takeDropped(transfer) {
	const files = [...transfer.files]; /* the transfer is empty after an await */
	const items = [...transfer.items].map((i) => i.getAsFileSystemHandle
		? i.getAsFileSystemHandle().catch(() => null) : i.webkitGetAsEntry());
	const folders = (await Promise.all(items))
		.filter((e) => e && (e.isDirectory || e.kind === "directory"));
	const file = files.find((f) => !folders.some((e) => e.name === f.name));
	if (folders.length)
		await takeData(folders[0].name, await filesOf(folders[0], ""));
	if (file)
		await take(file.name, file);
}

async function take(name, blob) {
	let buffer;
	try {
		buffer = await blob.arrayBuffer();
	} catch (e) { /* a folder, or a file that is gone */
		fail(`${name}: can't read this file`);
		return;
	}
	model = { name, bytes: new Uint8Array(buffer) };
	$("model").textContent = `${name}, ${bytes(model.bytes.length)}`;
	compile(0);
}

function begin() {
	const drop = $("drop");
	$("file").onchange = (e) => e.target.files[0] && take(e.target.files[0].name, e.target.files[0]);
	["dragover", "dragleave", "drop"].forEach((kind) => document.addEventListener(kind, (e) => {
		e.preventDefault();
		drop.classList.toggle("over", kind === "dragover");
		if (kind === "drop")
			takeDropped(e.dataTransfer);
	}));
	$("data").onchange = (e) => {
		const files = [...e.target.files].map((file) => ({ file,
			path: file.webkitRelativePath.split("/").slice(1).join("/") || file.name }));
		if (files.length)
			takeData(files[0].file.webkitRelativePath.split("/")[0] || files[0].file.name, files);
	};
	["range", "resize"].forEach((k) => $(k).onchange = () => data.length && compile(0));
	$("samples").onsubmit = (e) => e.preventDefault();
	$("sample").onclick = () => take("digits.tflite", new Blob([Uint8Array.from(
		atob(NPUTOOLS.sample), (c) => c.charCodeAt(0))]));
	$("cancel").onclick = cancel;
	$("part").onchange = () => { choosePart(); compile(0); };
	$("accelerator").onchange = () => { fitSystem(); compile(0); };
	$("system").onchange = () => { fitMode($("mode").value); compile(0); };
	["mode", "check", "ends"].forEach((k) => $(k).onchange = () => compile(0));
	$("options").onsubmit = (e) => e.preventDefault();
	$("slider").oninput = () => {
		const i = Number($("slider").value);
		if (!front)
			return; /* the model does not fit the part */
		drawCurve(i);
		clearTimeout(again);
		again = setTimeout(() => compile(front.points[i].sram), 250);
	};
	addEventListener("resize", () => front && drawCurve(Number($("slider").value)));
	start();
}

begin();
