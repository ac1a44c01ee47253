// SPDX-License-Identifier: Apache-2.0
// Opens pages in headless Chromium with its protocol over a pipe (file descriptors 3
// and 4), without packages.  A page records forbidden events: console errors and
// requests.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

function connect(child)
{
	const waiting = new Map(), listeners = [];
	let id = 0, rest = '';
	child.stdio[4].setEncoding('utf8');
	child.stdio[4].on('data', data => {
		const parts = (rest + data).split('\0');
		rest = parts.pop();
		for (const part of parts) {
			const m = JSON.parse(part);
			if (!m.id)
				listeners.forEach(f => f(m));
			else if (m.error)
				waiting.get(m.id).reject(new Error(m.error.message));
			else
				waiting.get(m.id).resolve(m.result);
			waiting.delete(m.id);
		}
	});
	return {
		on: f => listeners.push(f),
		send: (method, params, sessionId) => new Promise((resolve, reject) => {
			waiting.set(++id, { resolve, reject });
			child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
		}),
	};
}

class Page {
	constructor(connection, session)
	{
		this.errors = [];
		this.requests = [];
		this.loaded = null;
		this.send = (method, params = {}) => connection.send(method, params, session);
		connection.on(m => {
			const p = m.params;
			if (m.sessionId !== session)
				return;
			if (m.method === 'Runtime.exceptionThrown')
				this.errors.push(p.exceptionDetails.exception.description);
			if (m.method === 'Runtime.consoleAPICalled')
				this.errors.push(p.type + ': ' + p.args.map(x => x.value).join(' '));
			if (m.method === 'Log.entryAdded')
				this.errors.push(p.entry.level + ': ' + p.entry.text);
			if (m.method === 'Network.requestWillBeSent')
				this.requests.push(p.request.url);
			if (m.method === 'Page.loadEventFired' && this.loaded)
				this.loaded();
		});
	}

	async open(file, width, theme)
	{
		for (const d of ['Page', 'Runtime', 'Log', 'Network'])
			await this.send(d + '.enable');
		await this.send('Emulation.setDeviceMetricsOverride', { width,
			height: 900, deviceScaleFactor: 1, mobile: width < 600 });
		await this.send('Emulation.setEmulatedMedia', {
			features: [{ name: 'prefers-color-scheme', value: theme }] });
		const loaded = new Promise(resolve => { this.loaded = resolve; });
		await this.send('Page.navigate', { url: 'file://' + path.resolve(file) });
		await loaded;
	}

	// with a user's gesture, as copying needs one of the last seconds
	async run(code)
	{
		const r = await this.send('Runtime.evaluate', { expression: `(${code})()`,
			awaitPromise: true, returnByValue: true, userGesture: true });
		if (r.exceptionDetails)
			throw new Error(r.exceptionDetails.exception.description);
		return r.result.value;
	}

	async click(selector)
	{
		const r = await this.run(`() => {
			const e = document.querySelector(${JSON.stringify(selector)});
			e.scrollIntoView({ block: 'center', inline: 'center' });
			const r = e.getBoundingClientRect();
			return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
		}`);
		for (const type of ['mousePressed', 'mouseReleased'])
			await this.send('Input.dispatchMouseEvent', { type, x: r.x, y: r.y,
				button: 'left', clickCount: 1 });
	}

	async shoot(file, whole)
	{
		const r = await this.send('Page.captureScreenshot',
			{ format: 'png', captureBeyondViewport: whole });
		fs.writeFileSync(file, Buffer.from(r.data, 'base64'));
	}
}

// withBrowser(program, f): calls f with a function that makes a Page
async function withBrowser(program, f)
{
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'browser-'));
	const child = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu',
		'--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
		'--disable-component-update', '--disable-sync', '--user-data-dir=' + dir,
		'--remote-debugging-pipe', 'about:blank'],
	{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
	const ended = new Promise((resolve, reject) => {
		child.on('exit', resolve);
		child.on('error', reject);
	});
	try {
		const c = connect(child);
		const gone = ended.then(() => { throw new Error('the browser has ended'); });
		gone.catch(() => {});
		const open = async () => {
			const { targetId } = await c.send('Target.createTarget', { url: 'about:blank' });
			const { sessionId } = await c.send('Target.attachToTarget',
				{ targetId, flatten: true });
			return new Page(c, sessionId);
		};
		await Promise.race([f(open), gone]);
		await c.send('Browser.close').catch(() => {});
		await ended;
	} finally {
		child.kill('SIGKILL');
		fs.rmSync(dir, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
	}
}

module.exports = { withBrowser };
