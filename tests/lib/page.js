// SPDX-License-Identifier: Apache-2.0
// Opens a page of npu-report at several widths, in both themes at the first, clicks through it,
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
			for (const b of svg.closest('#network, #source, #curve, #timeline, #memory') ? list.slice(i + 1) : [])
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

// the marks of the peaks: the time of each, by the axes, and the bytes that are live then
function peaks()
{
	const data = JSON.parse(document.querySelector('#data').textContent), LEFT = 64, RIGHT = 10;
	const svg = document.querySelector('#memory svg');
	return [...svg.querySelectorAll('.peak')].map((e, k) => {
		const at = Number(e.getAttribute('x')) + Number(e.getAttribute('width')) / 2;
		const time = (at - LEFT) / (svg.viewBox.baseVal.width - LEFT - RIGHT) * data.cycles;
		const p = data.peaks.filter(x => x.top > 0)[k];
		// bytes that two tensors share count once
		let live = 0, end = 0;
		data.spans.filter(s => s[3] === p.place && s[6] <= time && s[7] >= time)
			.sort((a, b) => a[4] - b[4]).forEach(s => {
				live += Math.max(0, s[4] + s[5] - Math.max(end, s[4]));
				end = Math.max(end, s[4] + s[5]);
			});
		return { place: p.place, live, want: p.bytes };
	});
}

// the colours of the keys of limits, and those of the operators that run on the NPU
function colours()
{
	return { keys: [...document.querySelectorAll('#limit-keys i')].map(e => e.style.background),
		nodes: [...document.querySelectorAll('#network .node rect')].map(e => e.style.fill)
			.filter(c => c !== 'var(--c6)') };
}

// the units of an axis, and the part of the picture that its points fill
function fill()
{
	const svg = document.querySelector('#curve svg'), dots = [...svg.querySelectorAll('circle')];
	const units = end => new Set([...svg.querySelectorAll(`text.soft[text-anchor="${end}"]`)]
		.map(e => e.textContent.split(' ')).filter(x => x.length === 2).map(x => x[1])).size;
	const part = (name, size) => {
		const v = dots.map(e => Number(e.getAttribute(name)));
		return (Math.max(...v) - Math.min(...v)) / size;
	};
	return { middle: units('middle'), end: units('end'),
		across: part('cx', svg.viewBox.baseVal.width - 74), up: part('cy', 230) };
}

// sorts each table by each column, up and down; returns what is out of order
function sortAll()
{
	const out = [], value = s => parseFloat(s.replace(/,/g, '')) * ({ KiB: 1024, MiB: 1048576,
		'µs': 1e-3, s: 1e3 }[s.split(' ')[1]] || 1);
	for (const t of document.querySelectorAll('table'))
		[...t.tHead.rows[0].cells].forEach((th, k) => {
			const rows = t.tBodies[0].rows.length;
			for (let turn = 0; turn < 2; turn++) {
				th.click();
				const down = th.getAttribute('aria-sort') === 'descending';
				const cells = [...t.tBodies[0].rows].map(r => r.cells[k].textContent);
				const v = th.classList.contains('n') ? cells.map(value).filter(x => !isNaN(x)) : cells;
				if (v.some((x, i) => i && (down ? x > v[i - 1] : x < v[i - 1])) || cells.length !== rows)
					out.push(`${th.textContent} ${down ? 'down' : 'up'}: ${cells.slice(0, 4)}`);
			}
			if (t.querySelectorAll('[aria-sort]').length !== 1)
				out.push(`${th.textContent}: several columns are sorted`);
		});
	return out;
}

// cells of tables that a narrow window shows as cards: label and width
function cards()
{
	const out = [];
	document.querySelectorAll('details').forEach(d => { d.open = true; });
	for (const td of document.querySelectorAll('table td:not(:first-child)')) {
		const label = getComputedStyle(td, '::before').content, r = td.getBoundingClientRect();
		if (td.textContent && (!/^".+"$/.test(label) || r.right > innerWidth))
			out.push(`${td.textContent}: ${label}, up to ${r.right}`);
	}
	document.querySelectorAll('details').forEach(d => { d.open = false; });
	return out.slice(0, 5);
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
			if (end === 'middle' && v.length === 1)
				out.push(`${id}: one mark, ${v[0].s}, tells no distance`);
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
	// the time of an operator is the same in the table and beside the pictures
	const differ = await page.run(`() => [...document.querySelectorAll('#longest > table tr[data-n]')].filter(r => {
		r.cells[0].click();
		return !document.querySelector('#panel').textContent.includes(r.cells[2].textContent);
	}).map(r => r.textContent)`);
	check(differ.length === 0, 'the panel has other times than the table for', differ.join('; '));
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
		if (colour !== 'memory')
			continue;
		// at most the peaks are in use, as tensors share bytes
		const [key, most] = await page.run(() => [document.querySelector('#network-keys .key').textContent,
			JSON.parse(document.querySelector('#data').textContent).peaks.reduce((sum, p) => sum + p.bytes, 0)]);
		const [n, unit] = /full colour: ([0-9.]+) (\w+)/.exec(key).slice(1);
		check(n * units[unit] <= most * 1.005, key, 'of memory in use, at most', most);
	}
}

// a selection has an address, which chooses the operator again
async function checkAddress(page)
{
	const s = await page.run(async () => {
		const key = (e, key) => e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
		const next = () => new Promise(done => setTimeout(done, 100));
		const e = document.querySelectorAll('#network .node')[1];
		key(e, 'Enter');
		const hash = location.hash, name = document.querySelector('#panel h3').textContent;
		key(document.body, 'Escape');
		const none = location.hash + document.querySelectorAll('.on').length;
		location.hash = hash;
		await next();
		const again = document.querySelector('#panel h3')?.textContent;
		key(document.body, 'Escape');
		location.hash = '#op=%zz';
		await next();
		return { hash, name, none, again, bad: document.querySelectorAll('.on').length };
	});
	check(s.hash.startsWith('#op=') && s.again === s.name && s.none === '0' && s.bad === 0,
		'address', JSON.stringify(s));
}

async function checkCurve(page)
{
	const s = await page.run(fill);
	check(s.middle === 1 && s.end === 1, 'units of the axes', JSON.stringify(s));
	check(s.across > .8 && s.up > .8, 'the curve fills', JSON.stringify(s));
	await page.run(() => {
		document.addEventListener('copy', e => { window.copied = e.target.value; });
		document.querySelector('#curve circle.point').id = 'dot-to-click';
	});
	await page.click('#dot-to-click');
	const c = await page.run(() => [window.copied, document.querySelector('#point').textContent]);
	check(/^--arena-cache-size=\d+$/.test(c[0]) && c[1].endsWith(`${c[0]}, copied`), 'a point copies', c);
}

// every control has an effect, and there are no others
async function checkControls(page)
{
	const out = await page.run(async () => {
		const out = [], all = s => [...document.querySelectorAll(s)];
		const expect = (ok, what) => ok || out.push(what);
		const drawn = () => new Promise(done => setTimeout(done, 80));
		const axis = () => all('#timeline text.soft').map(e => `${e.textContent} at ${e.getAttribute('x')}`).join();
		const press = (e, key) => e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
		// zoom in, out, all, and by keys
		const whole = axis();
		document.querySelector('[data-zoom="0.5"]').click();
		await drawn();
		const near = axis();
		document.querySelector('[data-zoom="2"]').click();
		await drawn();
		expect(near !== whole && axis() === whole, 'zoom out');
		for (const key of ['+', 'ArrowRight', 'ArrowLeft', '-']) {
			const before = axis();
			press(document.querySelector('#memory'), key);
			await drawn();
			expect(axis() !== before, `the key ${key} of the timeline`);
		}
		document.querySelector('#timeline').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
		document.querySelector('#timeline').dispatchEvent(new WheelEvent('wheel',
			{ bubbles: true, cancelable: true, ctrlKey: true, deltaY: -1 }));
		await drawn();
		expect(axis() !== whole, 'double click and wheel');
		document.querySelector('[data-zoom="0"]').click();
		await drawn();
		expect(axis() === whole, 'the whole time');
		// the panel: a link to another operator, zoom to the operator, close
		const middle = all('#network .node').find(e => {
			e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
			return document.querySelector('#panel button.link') &&
				all('#panel button').some(b => b.textContent === 'Zoom to it');
		});
		const name = document.querySelector('#panel h3').textContent;
		all('#panel button').find(b => b.textContent === 'Zoom to it').click();
		await drawn();
		expect(axis() !== whole, 'zoom to the operator');
		document.querySelector('#panel button.link').click();
		expect(middle && document.querySelector('#panel h3').textContent !== name, 'a link of the panel');
		document.querySelector('#panel .close').click();
		expect(all('.on').length === 0 && document.querySelector('#panel').classList.contains('empty'), 'close');
		document.querySelector('[data-zoom="0"]').click();
		// the search: Enter chooses one hit after the other
		const search = document.querySelector('#search');
		search.value = 'conv';
		search.dispatchEvent(new Event('input'));
		press(search, 'Enter');
		const first = document.querySelector('#panel h3')?.textContent;
		press(search, 'Enter');
		expect(all('.hit').length > 1 && first && document.querySelector('#panel h3').textContent !== first,
			'Enter in the search');
		// the operator that has this name comes first
		const label = JSON.parse(document.querySelector('#data').textContent).nodes.map(x => x.l).pop();
		search.value = label;
		press(search, 'Enter');
		expect(document.querySelector('#panel h3').textContent === label, 'an exact name in the search');
		search.value = '';
		search.dispatchEvent(new Event('input'));
		expect(all('.hit').length === 0, 'an empty search');
		press(document.body, 'Escape');
		// folded tables, and their copies
		const copied = [];
		document.addEventListener('copy', e => copied.push(e.target.value));
		for (const s of all('summary')) {
			s.click();
			expect(s.parentElement.open, `unfold ${s.textContent}`);
			const b = s.parentElement.querySelector('button'), t = s.parentElement.querySelector('table');
			b.click();
			const lines = (copied[copied.length - 1] || '').trimEnd().split('\n');
			expect(b.textContent === 'Copied' && lines.length === t.rows.length &&
				lines[0].includes(t.rows[0].cells[0].textContent.split(',')[0]), `copy ${s.textContent}`);
			s.click();
		}
		// keys of the heads of columns, and of points
		const th = document.querySelector('#longest th');
		press(th, 'Enter');
		expect(th.getAttribute('aria-sort'), 'Enter on the head of a column');
		press(th, ' ');
		const dot = document.querySelector('#curve circle.point');
		if (dot) {
			dot.focus();
			expect(document.querySelector('#point').textContent.includes('--arena-cache-size='), 'focus on a point');
			press(dot, 'Enter');
			expect(/--arena-cache-size=/.test(copied[copied.length - 1]), 'Enter on a point');
		}
		const known = '#search, #colour, [data-zoom], details button, summary, th, .node, #panel *, ' +
			'circle.point, .time, [data-n]';
		all('button, input, select, textarea, summary, a, [tabindex], [role="button"], [onclick]')
			.forEach(e => expect(e.matches(known), `untested: ${e.outerHTML.slice(0, 80)}`));
		return out;
	});
	out.forEach(s => check(false, 'control:', s));
}

// the model beside the compiled network: all operators, and the facts of one
async function checkModel(page)
{
	const s = await page.run(() => {
		const data = JSON.parse(document.querySelector('#data').textContent).source;
		const nodes = [...document.querySelectorAll('#source .node')];
		const k = data.ops.findIndex(o => o.a.length && o.i.some(t => t >= 0 && data.tensors[t].h));
		nodes[k].dispatchEvent(new MouseEvent('click', { bubbles: true }));
		const panel = document.querySelector('#panel');
		return { ops: data.ops.length, nodes: nodes.length, op: data.ops[k],
			tensors: data.ops[k].i.concat(data.ops[k].o).map(t => data.tensors[t]),
			panel: panel.textContent, bars: panel.querySelectorAll('svg rect').length,
			beside: document.querySelectorAll('#network .on').length,
			shapes: ['#source', '#network'].map(box =>
				[...document.querySelectorAll(`${box} .halo`)].map(e => e.textContent)) };
	});
	check(s.nodes === s.ops && s.beside === 1, 'the model has', s.nodes, 'of', s.ops, s.beside);
	s.op.a.forEach(([name, value]) => check(s.panel.includes(name.replace(/_/g, ' ') + value),
		'the panel has no', name, value));
	s.tensors.forEach(t => {
		check(s.panel.includes(`${t.t} ${t.s.join('x')}`), 'the panel has no', t.s);
		check(!t.q || s.panel.includes('scale'), 'no scale of', t.n);
		check(!t.c || s.panel.includes(`constant: ${+t.c[0].toPrecision(4)} to `), 'no values of', t.n);
	});
	check(s.bars >= 24, 'no histogram');
	// in one notation, and whole
	s.shapes.forEach(all => check(all.length && all.every(x => /^\d+(x\d+)*$/.test(x)),
		'no shapes on edges, or cut off', all));
}

async function checkPage(page, file, report, width, theme)
{
	await page.open(file, width, theme);
	(await page.run(layout)).forEach(s => check(false, width, theme, s));
	(await page.run(axes)).forEach(s => check(false, width, theme, s));
	checkHeadline(await page.run(headline), report);
	for (const p of await page.run(peaks))
		check(p.live === p.want, 'the mark of the peak of', p.place, 'is at', p.live, 'bytes of', p.want);
	const c = await page.run(colours);
	check(!c.nodes.some(x => c.keys.includes(x)), 'colours of time are those of limits', JSON.stringify(c));
	await checkMarks(page);
	await checkAddress(page);
	await checkControls(page);
	if (await page.run(() => document.querySelector('#curve circle.point') !== null))
		await checkCurve(page);
	if (await page.run(() => document.querySelector('#source') !== null))
		await checkModel(page);
	await checkTools(page);
	(await page.run(sortAll)).forEach(s => check(false, width, theme, 'not sorted', s));
	if (width <= 600)
		(await page.run(cards)).forEach(s => check(false, width, theme, 'card', s));
	(await page.run(layout)).forEach(s => check(false, width, theme, 'then', s));
	const dark = await page.run(() => getComputedStyle(document.body).backgroundColor);
	check((theme === 'dark') === !/255/.test(dark), theme, dark);
	check(page.errors.length === 0, width, theme, page.errors.join('; '));
	check(page.requests.length === 1, width, theme, 'requests', page.requests.join(' '));
}

const [browser, file, json, ...widths] = process.argv.slice(2);
withBrowser(browser, async open => {
	const report = JSON.parse(fs.readFileSync(json, 'utf8'));
	// themes differ only in colours: the first of several widths has both
	for (const [i, width] of widths.map(Number).entries())
		for (const theme of i || widths.length === 1 ? ['light'] : ['light', 'dark'])
			await checkPage(await open(), file, report, width, theme);
}).catch(e => {
	console.log('failed:', e.stack);
	failures++;
}).finally(() => process.exit(failures ? 1 : 0));
