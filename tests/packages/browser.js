/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A headless Chromium, controlled with its own protocol over a pipe: the functions
 * that tests of the page use.
 */
"use strict";

const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

class Browser {
	constructor(downloads) {
		this.dir = fs.mkdtempSync(path.join(os.tmpdir(), "page-"));
		this.downloads = downloads;
		this.requests = []; /* except for this page's own files */
		this.said = []; /* errors of the console */
		this.waiting = new Map();
		this.n = 0;
		this.child = spawn(process.env.CHROMIUM || "chromium", ["--headless=new",
			"--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
			"--disable-component-update", "--disable-background-networking",
			"--remote-debugging-pipe", `--user-data-dir=${this.dir}`, "about:blank"],
			{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
		this.gone = new Promise((done) => this.child.on("exit", done));
		let text = "";
		this.child.stdio[4].setEncoding("utf8").on("data", (s) => {
			const all = (text + s).split("\0");
			text = all.pop();
			all.forEach((m) => this.hear(JSON.parse(m)));
		});
	}
	hear(m) {
		const { requestId, request } = m.params || {};
		if (m.id) {
			const [resolve, reject] = this.waiting.get(m.id);
			this.waiting.delete(m.id);
			m.error ? reject(new Error(m.error.message)) : resolve(m.result);
		} else if (m.method === "Network.requestWillBeSent" && requestId) {
			if (!/^(file|data|blob|about):/.test(request.url) &&
			    !(this.own && request.url.startsWith(this.own)))
				this.requests.push(request.url);
		} else if (m.method === "Runtime.exceptionThrown") {
			this.said.push(m.params.exceptionDetails.exception?.description ??
				m.params.exceptionDetails.text);
		} else if (m.method === "Log.entryAdded" && m.params.entry.level === "error") {
			this.said.push(m.params.entry.text);
		}
	}
	send(method, params = {}) {
		const id = ++this.n;
		this.child.stdio[3].write(JSON.stringify({ id, method, params,
			sessionId: this.session }) + "\0");
		return new Promise((...both) => this.waiting.set(id, both));
	}
	async open(url, own) {
		this.own = own;
		const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
		const { sessionId } = await this.send("Target.attachToTarget",
			{ targetId, flatten: true });
		this.session = sessionId;
		for (const domain of ["Page", "Runtime", "Network", "Log", "DOM"])
			await this.send(domain + ".enable");
		await this.send("Page.setDownloadBehavior",
			{ behavior: "allow", downloadPath: this.downloads });
		await this.send("Page.navigate", { url });
	}
	/* the value of an expression, after its promises */
	async value(expression) {
		const { result, exceptionDetails } = await this.send("Runtime.evaluate",
			{ expression, awaitPromise: true, returnByValue: true });
		if (exceptionDetails)
			throw new Error(exceptionDetails.exception.description);
		return result.value;
	}
	/* the value of an expression in the frame of the page, whose origin is another */
	async inFrame(expression) {
		const page = this.session;
		const { targetInfos } = await this.send("Target.getTargets");
		const frame = targetInfos.find((t) => t.type === "iframe");
		try {
			if (frame) { /* a process of its own */
				const { sessionId } = await this.send("Target.attachToTarget",
					{ targetId: frame.targetId, flatten: true });
				this.session = sessionId;
				return await this.value(expression);
			}
			const { frameTree } = await this.send("Page.getFrameTree");
			const child = frameTree.childFrames?.[0];
			if (!child) /* not loaded yet */
				return 0;
			const world = await this.send("Page.createIsolatedWorld",
				{ frameId: child.frame.id }).catch(() => null);
			const made = world && await this.send("Runtime.evaluate", { expression,
				contextId: world.executionContextId, returnByValue: true }).catch(() => null);
			if (!made) /* the frame got a process of its own meanwhile */
				return 0;
			if (made.exceptionDetails)
				throw new Error(made.exceptionDetails.exception.description);
			return made.result.value;
		} finally {
			this.session = page;
		}
	}
	async until(expression, seconds = 60) {
		const end = Date.now() + 1000 * seconds;
		while (!await this.value(expression)) {
			if (Date.now() > end)
				throw new Error(`not within ${seconds} s: ${expression}; the page says ` +
					await this.value("document.body.innerText.slice(0, 800)"));
			await new Promise((done) => setTimeout(done, 20));
		}
	}
	/* chooses a file, or a folder, in an input */
	async file(path, selector = "#file") {
		const { root } = await this.send("DOM.getDocument");
		const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector });
		await this.send("DOM.setFileInputFiles", { nodeId, files: [path] });
	}
	/* drops files and folders of the disk on the page, as a file manager does */
	async drop(...files) {
		const data = { items: [], files, dragOperationsMask: 1 };
		for (const type of ["dragEnter", "dragOver", "drop"])
			await this.send("Input.dispatchDragEvent", { type, x: 50, y: 50, data });
	}
	async key(key, code, windowsVirtualKeyCode) {
		for (const type of ["keyDown", "keyUp"])
			await this.send("Input.dispatchKeyEvent", { type, key, code,
				windowsVirtualKeyCode, text: key === "Enter" && type === "keyDown"
					? "\r" : undefined });
	}
	async close() {
		this.session = undefined;
		this.send("Browser.close").catch(() => 0);
		await Promise.race([this.gone, new Promise((late) => setTimeout(late, 5000))]);
		this.child.kill("SIGKILL");
		await this.gone;
		/* processes that Chromium has started may still be writing there */
		for (let i = 0; fs.existsSync(this.dir); i++)
			try {
				fs.rmSync(this.dir, { recursive: true, force: true });
			} catch (e) {
				if (i === 50)
					throw e;
				await new Promise((again) => setTimeout(again, 100));
			}
	}
}

module.exports = { Browser };
