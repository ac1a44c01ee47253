// SPDX-License-Identifier: Apache-2.0
// Opens a page of npu-report at several widths and in both themes, clicks through it,
// and compares its headline with the report; each failure is printed as a line.
// usage: node page.js BROWSER PAGE.html REPORT.json [WIDTH...]
'use strict';
const fs = require('fs');
const { withBrowser } = require('./browser.js');

// ---- in the page --------------------------------------------------------------------

// functions for the page, sent as text: each contains all that it uses
function layout()
{
	const out = [];
	if (document.documentElement.scrollWidth > innerWidth)
		out.push(`wider than the window: ${document.documentElement.scrollWidth}`);
	for (const svg of document.querySelectorAll('svg')) {
		const box = svg.getBoundingClientRect(), name = svg.getAttribute('aria-label');
		const list = [...svg.querySelectorAll('text')].map(e =>
			({ s: e.textContent, r: e.getBoundingClientRect() }));
		if (!name)
			out.push('a picture without a label');
		list.forEach((a, i) => {
			if (a.r.left < box.left - 1 || a.r.right > box.right + 1 ||
			    a.r.top < box.top - 1 || a.r.bottom > box.bottom + 1)
				out.push(`${name}: outside: ${a.s}`);
			for (const b of svg.closest('#network, #curve, #timeline') ? list.slice(i + 1) : [])
				if (a.r.left + 1 < b.r.right && b.r.left + 1 < a.r.right &&
				    a.r.top + 2 < b.r.bottom && b.r.top + 2 < a.r.bottom)
					out.push(`${name}: ${a.s} overlaps ${b.s}`);
		});
	}
	for (const e of document.querySelectorAll('button, input, select'))
		if (!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels && e.labels.length))
			out.push(`no name for ${e.outerHTML}`);
	return out.slice(0, 20);
}

// axes whose marks do not grow; for memory and curve, the marks are bytes or times
function axes()
{
	const units = { bytes: 1, KiB: 1024, MiB: 1048576, µs: 1, ms: 1e3, s: 1e6 };
	const out = [];
	for (const id of ['memory', 'curve', 'timeline'])
		for (const end of ['middle', 'end']) {
			const v = [...document.querySelectorAll(`#${id} text.soft[text-anchor="${end}"]`)].map(e => {
				const [n, unit] = e.textContent.split(' ');
				return { at: Number(e.getAttribute(end === 'end' ? 'y' : 'x')),
					v: parseFloat(n) * (units[unit] || 1), s: e.textContent };
			}).sort((a, b) => end === 'end' ? b.at - a.at : a.at - b.at);
			// the marks of several memories start again
			v.slice(1).forEach((x, i) => {
				if (x.v <= v[i].v && x.v !== 0 && x.at !== v[i].at)
					out.push(`${id}: ${x.s} follows ${v[i].s}`);
			});
		}
	return out;
}

function headline()
{
	return [...document.querySelectorAll('#facts [data-key]')].map(e =>
		({ key: e.dataset.key, value: e.dataset.value, text: e.textContent }));
}

// the places where node i is marked, and other marks
function marked(i)
{
	const out = {};
	for (const id of ['network', 'timeline', 'memory', 'time', 'longest'])
		out[id] = document.querySelectorAll(`#${id} .on[data-n="${i}"]`).length;
	out.other = document.querySelectorAll(`.on:not([data-n="${i}"])`).length;
	out.panel = document.querySelector('#panel').textContent;
	return out;
}

function nodes()
{
	const all = id => [...document.querySelectorAll(`#${id} [data-n]`)].map(e => Number(e.dataset.n));
	return { network: all('network'), timeline: all('timeline'), memory: all('memory'),
		kinds: [...document.querySelectorAll('#network .node title')].map(e => e.textContent) };
}

// ---- outside --------------------------------------------------------------------------

let failures = 0;
function check(ok, ...what)
{
	if (!ok) {
		console.log('failed:', ...what);
		failures++;
	}
}

const units = { bytes: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824, µs: 1e-3, ms: 1, s: 1e3 };

function checkHeadline(facts, report)
{
	const keys = facts.map(f => f.key).sort().join();
	const time = report.inference_cpu_cycles > 0 ? 'inference_seconds' : 'inference_ms';
	check(keys === `flash_bytes,${time},npu_layers,sram_bytes`, 'headline has', keys);
	for (const f of facts) {
		const want = report[f.key], unit = f.text.split(' ')[1];
		const has = parseFloat(f.text) * (units[unit] || 1) / (f.key === 'inference_seconds' ? 1e3 : 1);
		if (want === null) { // the report has no value
			check(f.value === '' && /^all/.test(f.text), f.key, 'reads', f.text);
			continue;
		}
		check(Number(f.value) === want, f.key, 'is', f.value, 'not', want);
		check(Math.abs(has - want) <= .0051 * want, f.key, 'reads', f.text, 'not', want);
	}
}

async function checkMarks(page)
{
	const all = await page.run(nodes);
	const shown = new Set(all.timeline.filter(i => i >= 0));
	const i = all.network.find(n => shown.has(n) && all.memory.includes(n)), seen = new Set([i]);
	await page.click(`#network [data-n="${i}"]`);
	let m = await page.run(`() => (${marked})(${i})`);
	check(m.network >= 1 && m.timeline >= 1 && m.memory >= 1 && m.time >= 2, 'a click on node', i,
		'marks', JSON.stringify(m));
	check(m.other === 0, 'other marks than of', i);
	check(/on the (NPU|CPU)/.test(m.panel) && /limited by/.test(m.panel), 'the panel says', m.panel);
	// the other direction: from the timeline's longest bar, from a table
	const j = await page.run(`() => {
		let best = null;
		for (const e of document.querySelectorAll('#timeline rect[data-n]'))
			if (Number(e.dataset.n) !== ${i} && Number(e.dataset.n) >= 0 &&
			    (!best || e.getBBox().width > best.getBBox().width))
				best = e;
		best.id = 'bar-to-click';
		return Number(best.dataset.n);
	}`);
	await page.click('#bar-to-click');
	m = await page.run(`() => (${marked})(${j})`);
	check(m.network >= 1 && m.timeline >= 1 && m.other === 0, 'a click on the timeline marks', JSON.stringify(m));
	const k = await page.run(`() => Number(document.querySelector('#longest tr[data-n]').dataset.n)`);
	await page.click('#longest tr[data-n] td');
	m = await page.run(`() => (${marked})(${k})`);
	check(m.network >= 1 && m.longest >= 1, 'a click in a table marks', JSON.stringify(m));
	// keys: Escape clears, Enter selects, an arrow moves
	const state = await page.run(`() => {
		const key = (e, key) => e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
		key(document.body, 'Escape');
		const none = document.querySelectorAll('.on').length;
		const e = document.querySelector('#network [data-n="${i}"]');
		e.focus();
		key(e, 'Enter');
		const one = document.querySelectorAll('#network .on[aria-pressed="true"]').length;
		key(e, 'ArrowDown');
		return { none, one, walked: document.activeElement.classList.contains('node') };
	}`);
	check(state.none === 0 && state.one === 1 && state.walked, 'keys', JSON.stringify(state));
}

async function checkTools(page)
{
	const s = await page.run(`() => {
		const input = document.querySelector('#search');
		const node = document.querySelector('#network .node:last-of-type');
		input.value = node.querySelector('title').textContent.split(': ')[0];
		input.dispatchEvent(new Event('input'));
		const hits = document.querySelectorAll('#network .hit').length;
		const found = document.querySelector('#found').textContent;
		// the marks of the axis: a zoom moves them, whatever is drawn between
		const axis = () => [...document.querySelectorAll('#timeline text.soft')].map(e =>
			e.textContent).join();
		const before = axis();
		document.querySelector('[data-zoom="0.5"]').click();
		return new Promise(resolve => {
			const end = Date.now() + 5000;
			const look = () => axis() === before && Date.now() < end ? setTimeout(look, 50)
				: resolve({ hits, found, before, after: axis(),
					copies: document.querySelectorAll('details button').length,
					tables: document.querySelectorAll('details table').length });
			look();
		});
	}`);
	check(s.hits >= 1 && /^\d+ of \d+$/.test(s.found), 'search', JSON.stringify(s));
	check(s.after !== s.before, 'zoom', s.before, s.after);
	check(s.copies === s.tables && s.tables >= 5, 'CSV', s.copies, s.tables);
	for (const colour of ['memory', 'bound', 'time']) {
		const fills = await page.run(`() => {
			const e = document.querySelector('#colour');
			e.value = '${colour}';
			e.dispatchEvent(new Event('change'));
			return new Set([...document.querySelectorAll('.node rect')].map(r =>
				r.style.fill + r.getAttribute('fill-opacity'))).size;
		}`);
		check(fills > 1 || colour === 'bound', 'colours by', colour, fills);
	}
}

async function checkPage(page, file, report, width, theme)
{
	await page.open(file, width, theme);
	(await page.run(layout)).forEach(s => check(false, width, theme, s));
	(await page.run(axes)).forEach(s => check(false, width, theme, s));
	checkHeadline(await page.run(headline), report);
	await checkMarks(page);
	await checkTools(page);
	(await page.run(layout)).forEach(s => check(false, width, theme, 'then', s));
	const dark = await page.run(() => getComputedStyle(document.body).backgroundColor);
	check((theme === 'dark') === !/255/.test(dark), theme, dark);
	check(page.errors.length === 0, width, theme, page.errors.join('; '));
	check(page.requests.length === 1, width, theme, 'requests', page.requests.join(' '));
}

const [browser, file, json, ...widths] = process.argv.slice(2);
withBrowser(browser, async open => {
	const report = JSON.parse(fs.readFileSync(json, 'utf8'));
	for (const width of widths.map(Number))
		for (const theme of ['light', 'dark'])
			await checkPage(await open(), file, report, width, theme);
}).catch(e => {
	console.log('failed:', e.stack);
	failures++;
}).finally(() => process.exit(failures ? 1 : 0));
