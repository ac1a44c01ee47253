/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the page of make web in a browser: page.js PAGE CASE DIR [ARGUMENT ...].  Each
 * case prints its results; downloaded files are in DIR.
 */
"use strict";

const fs = require("fs");
const http = require("http");
const path = require("path");
const { Browser } = require("./browser.js");

const [page, name, dir, ...args] = process.argv.slice(2);
const disk = "file://" + path.resolve(page, "index.html");
const text = (id) => `document.getElementById(${JSON.stringify(id)}).innerText`;
const done = "document.body.dataset.done !== undefined";
/* what the numbers, the curve and its slider call the memories */
const memories = "[...['n-sram', 'n-flash'].map((id) => " +
	"document.getElementById(id).previousSibling.textContent), " +
	"...['#graph text:nth-of-type(2)', '#curve h2', '#curve label'].map((s) => " +
	"document.querySelector(s).textContent.match(/(\\S+)( buys|:|$)/)[1])].join(' ')";

async function ready(b) {
	await b.until("document.querySelector('#sample:enabled') !== null");
}

async function model(b, file) {
	await b.value("delete document.body.dataset.done");
	await b.file(path.resolve(file));
	await b.until("document.getElementById('model').innerText !== ''");
	await b.until(done);
}

async function fetched(b, id) {
	const file = path.join(dir, await b.value(`document.getElementById('${id}').download`));
	await b.value(`document.getElementById('${id}').click()`);
	for (let i = 0; !fs.existsSync(file); i++) {
		if (i === 200)
			throw new Error(`no ${file} but ${fs.readdirSync(dir)}`);
		await new Promise((again) => setTimeout(again, 50));
	}
	return file;
}

/* drops a file with these bytes on the page */
async function drop(b, name, base64) {
	await b.value(`{
		delete document.body.dataset.done;
		const t = new DataTransfer();
		t.items.add(new File([Uint8Array.from(atob(${JSON.stringify(base64)}),
			(c) => c.charCodeAt(0))], ${JSON.stringify(name)}));
		document.dispatchEvent(new DragEvent("drop", { dataTransfer: t }));
	}`);
}

function check(ok, what) {
	if (!ok)
		throw new Error(what);
}

const cases = {
	/* a file, its numbers, downloads, the slider by keyboard */
	async compile(b, file) {
		await ready(b);
		await model(b, file);
		for (const id of ["n-sram", "n-flash", "n-cycles", "n-time", "n-range", "n-compiled-in", "placed"])
			console.log(`${id}\t${await b.value(text(id))}`);
		console.log(`rows\t${await b.value("document.querySelectorAll('#rows tr').length")}`);
		for (const id of ["get-model", "get-header", "get-report"])
			console.log(`${id}\t${path.basename(await fetched(b, id))}`);
	},
	/* a folder of samples and a float model, chosen or dropped, with a range */
	async quantize(b, how, folder, range, resize, file) {
		await ready(b);
		await b.value(`document.getElementById("resize").value = ${JSON.stringify(resize)}`);
		await b.value(`document.getElementById("range").value = ${JSON.stringify(range)}`);
		if (how === "dropped") {
			await b.drop(path.resolve(folder), path.resolve(file));
			await b.until(done);
		} else {
			await b.file(path.resolve(folder), "#data");
			await b.until("document.getElementById('chosen').innerText !== ''");
			await model(b, file);
		}
		console.log(`chosen\t${await b.value(text("chosen"))}`);
		check(await b.value("document.getElementById('error').hidden"), await b.value(text("message")));
		for (const id of ["n-accuracy", "n-equal-answers", "n-sram"])
			console.log(`${id}\t${await b.value(`document.getElementById("${id}")?.innerText`)}`);
		const made = !await b.value("document.getElementById('get-quantized').hidden");
		console.log(`quantized\t${made}`);
		if (made)
			await fetched(b, "get-quantized");
		await fetched(b, "get-model");
	},
	/* the report in its frame: pictures are drawn, and a click marks an operator */
	async report(b) {
		const nodes = "document.querySelectorAll('#network .node').length";
		await ready(b);
		await b.value("document.getElementById('sample').click()");
		await b.until(done);
		await b.value("document.getElementById('report').scrollIntoView()");
		for (let i = 0; !await b.inFrame(nodes); i++) {
			check(i < 200, "the report has no pictures");
			await new Promise((again) => setTimeout(again, 50));
		}
		console.log(`nodes\t${await b.inFrame(nodes)}`);
		console.log(`bars\t${await b.inFrame("document.querySelectorAll('#timeline rect').length > 12")}`);
		await b.inFrame("document.querySelector('#network .node').dispatchEvent(" +
			"new MouseEvent('click', { bubbles: true }))");
		console.log(`marked\t${await b.inFrame("document.querySelectorAll('.on').length > 2")}`);
		console.log(`panel\t${await b.inFrame("document.querySelector('#panel h3').innerText")}`);
		check(await b.value("try { document.getElementById('report').contentDocument === null } " +
			"catch (e) { true }"), "the frame has the page's origin");
	},
	/* a part that is too small: the message, and a slider that does nothing */
	async small(b, file) {
		const slide = (n) => b.value(`{
			const e = document.getElementById("slider");
			e.value = ${n};
			e.dispatchEvent(new Event("input"));
		}`);
		await ready(b);
		await b.value("{ const e = document.getElementById('part'); e.value = 'renesas-ra8p1'; " +
			"e.dispatchEvent(new Event('change')); }");
		await model(b, file);
		await slide(0);
		await new Promise((again) => setTimeout(again, 400));
		console.log(await b.value("document.getElementById('error').hidden ? 'fits' : " + text("message")));
		await b.until(done);
		await slide(1000);
		await new Promise((again) => setTimeout(again, 400));
		await b.until(done);
	},
	/* the end of the slider on a part; then a limit that is refused, and another plan */
	async limit(b, part, file) {
		const hidden = "['error', 'result', 'pictures'].map((id) => " +
			"document.getElementById(id).hidden).join(' ')";
		const again = async (script) => {
			await b.value(`{ delete document.body.dataset.done; ${script} }`);
			await b.until(done);
			console.log(`hidden\t${await b.value(hidden)}`);
		};
		const change = (id, value, event) => `const e = document.getElementById("${id}"); ` +
			`e.value = "${value}"; e.dispatchEvent(new Event("${event}"));`;
		await ready(b);
		await b.value(`{ ${change("part", part, "change")} }`);
		await model(b, file);
		const last = await b.value("document.getElementById('slider').max");
		await again(change("slider", last, "input"));
		console.log(`last\t${last}\t${await b.value(text("n-sram"))}`);
		await again("compile(-1);");
		await again(change("slider", 0, "input"));
	},
	/* the memory systems that are offered for each accelerator, and those that are chosen */
	async memories(b) {
		const list = (id) => `[...document.getElementById("${id}").options].map((o) => o.value)`;
		const change = (id, value) => b.value(`{
			const e = document.getElementById("${id}");
			e.value = "${value}";
			e.dispatchEvent(new Event("change"));
		}`);
		const chosen = "['accelerator', 'system', 'mode'].map((id) => " +
			"document.getElementById(id).value).join(' ')";
		await ready(b);
		for (const a of await b.value(list("accelerator"))) {
			await change("accelerator", a);
			console.log(`chosen ${await b.value(chosen)}`);
			for (const s of await b.value(list("system"))) {
				await change("system", s);
				for (const m of await b.value(list("mode")))
					console.log(`offered ${a} ${s} ${m}`);
			}
		}
		await change("part", "alif-e7-he");
		await change("part", "");
		console.log(`kept ${await b.value(chosen)}`);
		await change("accelerator", "ethos-u85-256");
		console.log(`then ${await b.value(chosen)}`);
	},
	async slide(b) {
		await ready(b);
		await b.value("document.getElementById('sample').focus()");
		await b.key("Enter", "Enter", 13);
		await b.until(done);
		const before = await b.value(text("n-sram")), limit = await b.value(text("limit"));
		check(limit.startsWith(before + ","), `the slider is at ${limit}, the plan has ${before}`);
		await b.value("delete document.body.dataset.done");
		await b.value("document.getElementById('slider').focus()");
		await b.key("Home", "Home", 36);
		await b.until(done);
		console.log(`${before}\t${await b.value(text("n-sram"))}\t${await b.value(text("limit"))}`);
		console.log(path.basename(await fetched(b, "get-model")));
	},
	async refuse(b, file) {
		await ready(b);
		await model(b, file);
		check(!await b.value("document.getElementById('error').hidden"), "no error is shown");
		console.log(await b.value(text("message")));
	},
	/* files of other tools, dropped: the programs' advice */
	async foreign(b, ...files) {
		await ready(b);
		for (const file of files) {
			await drop(b, path.basename(file), fs.readFileSync(file).toString("base64"));
			await b.until(done);
			check(!await b.value("document.getElementById('error').hidden"), "no error is shown");
			console.log(await b.value(text("message")));
		}
	},
	/* for every part: the slider at the smallest plan and at the fastest one */
	async parts(b) {
		const set = (id, value, event) => b.value(`{
			delete document.body.dataset.done;
			const e = document.getElementById(${JSON.stringify(id)});
			e.value = ${JSON.stringify(value)};
			e.dispatchEvent(new Event("${event}"));
		}`);
		await ready(b);
		await b.value("document.getElementById('sample').click()");
		await b.until(done);
		for (const part of await b.value("[...document.getElementById('part').options]" +
				".map((o) => o.value).filter((v) => v)")) {
			await set("part", part, "change");
			await b.until(done);
			const last = Number(await b.value("document.getElementById('slider').max"));
			for (const at of last ? [0, last] : []) {
				await set("slider", at, "input");
				await b.until(done);
				check(await b.value("document.getElementById('error').hidden"),
					`${part}: ` + await b.value(text("message")));
				console.log(`${part}\t${at ? "fastest" : "smallest"}\t` +
					`${await b.value(text("n-sram"))}\t${await b.value(text("n-flash"))}\t` +
					`${await b.value(text("n-cycles"))}\t` +
					await b.value(memories));
			}
		}
	},
	/* each control that no other case uses, and the list of all controls */
	async controls(b) {
		const choose = async (id, value) => {
			await b.value(`{
				delete document.body.dataset.done;
				const e = document.getElementById(${JSON.stringify(id)});
				e.value = ${JSON.stringify(value)};
				e.dispatchEvent(new Event("change"));
			}`);
			await b.until(done);
			check(await b.value("document.getElementById('error').hidden"), await b.value(text("message")));
			return b.value("['n-sram', 'n-flash', 'n-cycles', 'n-time', 'n-outputs'].map((id) => " +
				"document.getElementById(id)?.innerText).join('\\t')");
		};
		await ready(b);
		await b.value("document.getElementById('sample').click()");
		await b.until(done);
		console.log(`system\t${await choose("system", "Ethos_U55_Deep_Embedded")}`);
		console.log(`mode\t${await choose("mode", "Sram_Only")}`);
		console.log(`check\t${await choose("check", "1")}`);
		console.log(`ends\t${await choose("ends", "1")}`);
		console.log(`none\t${await choose("part", "himax-we2")}`);
		console.log(`back\t${await choose("part", "")}`);
		const all = await b.value("[...document.querySelectorAll('button, input, select, textarea, a, " +
			"summary, iframe, [tabindex], [role=button]')].map((e) => e.id || e.className).sort().join(' ')");
		console.log(`all\t${all}`);
	},
	async cancel(b, file) {
		await ready(b);
		await b.file(path.resolve(file));
		await b.until("!document.getElementById('cancel').disabled");
		await b.value("document.getElementById('cancel').click()");
		await b.until(done);
		console.log(await b.value(text("step")));
		await b.until("ready");
		await b.value("document.getElementById('sample').click()");
		await b.until(done + " && document.body.dataset.done !== 'cancelled'");
		check(await b.value("document.getElementById('error').hidden"), "then it fails");
		console.log(await b.value(text("n-sram")));
	},
	/* a dropped file; its name is shown as text everywhere */
	async names(b, name) {
		await ready(b);
		await drop(b, name, await b.value("NPUTOOLS.sample"));
		await b.until(done);
		check(await b.value("window.ran === undefined"), "a name was run");
		console.log(await b.value(text("title")));
		console.log(await b.value("document.getElementById('get-model').download"));
	},
	/* run after compiling; another generation, and a part */
	async targets(b) {
		const choose = async (id, value) => {
			await b.value("delete document.body.dataset.done");
			await b.value(`{
				const e = document.getElementById(${JSON.stringify(id)});
				e.value = ${JSON.stringify(value)};
				e.dispatchEvent(new Event("change"));
			}`);
			await b.until(done);
			check(await b.value("document.getElementById('error').hidden"), `${value}: ` +
				await b.value(text("message")));
			console.log(`${value}\t${await b.value("['accelerator', 'system', 'mode']" +
				".map((k) => document.getElementById(k).value).join(' ')")}\t` +
				await b.value(text("n-sram")));
		};
		await ready(b);
		await b.value("document.getElementById('check').value = '1'");
		await b.value("document.getElementById('sample').click()");
		await b.until(done);
		check(await b.value("document.getElementById('error').hidden"),
			await b.value(text("message")));
		console.log(await b.value(text("n-outputs")));
		await choose("accelerator", "ethos-u85-256");
		await choose("accelerator", "ethos-u65-512");
		await choose("part", "alif-e4-u85");
	},
	/* not wider than a phone, in light and dark themes */
	async phone(b) {
		await b.send("Emulation.setDeviceMetricsOverride",
			{ width: 360, height: 740, deviceScaleFactor: 2, mobile: true });
		await ready(b);
		await b.value("document.getElementById('sample').click()");
		await b.until(done);
		for (const value of ["light", "dark"]) {
			await b.send("Emulation.setEmulatedMedia",
				{ features: [{ name: "prefers-color-scheme", value }] });
			console.log(`${value} ${await b.value("document.documentElement.scrollWidth")} ` +
				await b.value("getComputedStyle(document.body).backgroundColor"));
			const { data } = await b.send("Page.captureScreenshot", { format: "png" });
			fs.writeFileSync(path.join(dir, `${value}.png`), Buffer.from(data, "base64"));
		}
	},
};
cases.served = cases.compile;

function serve() {
	const server = http.createServer((q, r) => {
		const file = path.join(page, path.basename(q.url) || "index.html");
		const type = { ".html": "text/html", ".js": "text/javascript" }[path.extname(file)];
		r.writeHead(fs.existsSync(file) ? 200 : 404, { "Content-Type": type });
		r.end(fs.existsSync(file) ? fs.readFileSync(file) : "");
	});
	return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

async function main() {
	const server = name === "served" ? await serve() : null;
	const own = server && `http://127.0.0.1:${server.address().port}/`;
	const b = new Browser(path.resolve(dir));
	let status = 0;
	try {
		await b.open(own || disk, own);
		await cases[name](b, ...args);
		check(!b.requests.length, `requests: ${b.requests}`);
		check(!b.said.length, `the console says: ${b.said}`);
	} catch (e) {
		console.error(e.message, b.said.join("\n"));
		status = 1;
	}
	await b.close();
	if (server)
		server.close();
	process.exit(status);
}

main();
