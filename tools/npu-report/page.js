'use strict';
/*
 * Draws the pictures of npu-report's page from the JSON in the page.  A click on an operator
 * marks the operator in all pictures: every element that belongs to node i of the network
 * has the attribute data-n="i".
 */
(function () {
const D = JSON.parse(document.getElementById('data').textContent);
/* Gets the name space of SVG from the browser, so that the page contains no address. */
const holder = document.createElement('div');
holder.innerHTML = '<svg></svg>';
const SVG = holder.firstChild.namespaceURI;
const $ = id => document.getElementById(id);
const LIMITS = ['compute', 'sram', 'constants', 'stall', 'transfer'];
const nodeOfLayer = new Map();
D.nodes.forEach((x, i) => { if (x.y >= 0 && !nodeOfLayer.has(x.y)) nodeOfLayer.set(x.y, i); });
const layerOf = i => i >= 0 && D.nodes[i].y >= 0 ? D.layers[D.nodes[i].y] : null;
const total = l => l.t[0] + l.t[1] + l.t[2] + l.t[3];
const readers = D.nodes.map(() => []);
D.nodes.forEach((x, i) => x.r.forEach(r => readers[r].push(i)));

/* ---- numbers and shapes ---------------------------------------------------------- */

function three(v) { return v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0); }

function bytes(v)
{
	if (v < 1024)
		return v + ' bytes';
	const units = ['KiB', 'MiB', 'GiB'];
	let i = 0;
	for (v /= 1024; v >= 1024 && i < 2; i++)
		v /= 1024;
	return three(v) + ' ' + units[i];
}

function time(cycles)
{
	const ms = cycles / D.clock * 1e3 / D.batch;
	return ms >= 1e3 ? three(ms / 1e3) + ' s' : ms < 1 ? three(ms * 1e3) + ' µs' : three(ms) + ' ms';
}

/* Removes the zeros at the end of a fraction: 1.50 KiB becomes 1.5 KiB. */
const short = s => s.replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ');

const percent = v => (100 * v).toFixed(1) + ' %';

/* marks of an axis: 1, 2 or 5 times a power of ten (or of 1024) */
function step(most, marks, base)
{
	if (!(most > 0))
		return 1;
	const unit = base === 1024 ? Math.pow(1024, Math.max(0, Math.floor(Math.log(most) / Math.log(1024)))) : 1;
	const x = most / unit / marks, ten = Math.pow(10, Math.floor(Math.log10(x)));
	const k = x / ten;
	return unit * ten * (k > 5 ? 10 : k > 2 ? 5 : k > 1 ? 2 : 1);
}

function add(parent, tag, attributes, text)
{
	const e = parent.namespaceURI === SVG || tag === 'svg'
		? document.createElementNS(SVG, tag) : document.createElement(tag);
	for (const k in attributes)
		if (attributes[k] !== undefined)
			e.setAttribute(k, attributes[k]);
	if (text !== undefined)
		e.textContent = text;
	parent.appendChild(e);
	return e;
}

function picture(box, width, height, label)
{
	box.replaceChildren();
	return add(box, 'svg', { width, height, viewBox: `0 0 ${width} ${height}`,
		role: 'group', 'aria-label': label });
}

/* The width of a box; a box without a layout, for example before printing, gets 240 pixels. */
const widthOf = box => Math.max(240, box.clientWidth - 2);

const pen = document.createElement('canvas').getContext('2d');
pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
function fit(s, width)
{
	if (pen.measureText(s).width <= width)
		return s;
	let n = s.length;
	while (n > 1 && pen.measureText(s.slice(0, n) + '…').width > width)
		n--;
	return n > 1 ? s.slice(0, n) + '…' : '';
}

function keys(box, list)
{
	list.forEach(([colour, name]) => {
		const k = add(box, 'span', { class: 'key' });
		add(k, 'i', {}).style.background = `var(${colour})`;
		k.append(name);
	});
}

const COLOURS = ['--c1', '--c2', '--c3', '--c4', '--c5'];
const SPANS = ['tensor', 'buffer', 'input', 'output', 'variable'];
const SPAN_NAMES = ['tensor', 'weights on their way', 'input', 'output', 'variable'];
const SPAN_COLOURS = ['--c1', '--c3', '--c2', '--c5', '--c6'];

/* ---- the chosen operator ---------------------------------------------------------------- */

let chosen = -1;

function markAll()
{
	document.querySelectorAll('.on').forEach(e => e.classList.remove('on'));
	document.querySelectorAll('.node[aria-pressed]').forEach(e => e.setAttribute('aria-pressed', 'false'));
	if (chosen < 0)
		return;
	document.querySelectorAll(`[data-n="${chosen}"]`).forEach(e => {
		e.classList.add('on');
		if (e.classList.contains('node'))
			e.setAttribute('aria-pressed', 'true');
	});
}

function choose(i, from)
{
	chosen = i;
	markAll();
	showPanel();
	const box = $('network'), e = box && box.querySelector('.on');
	if (e && !box.contains(from)) {
		const r = e.getBoundingClientRect(), b = box.getBoundingClientRect();
		box.scrollTop += r.top - b.top - b.height / 2;
		box.scrollLeft += r.left - b.left - b.width / 2;
	}
}

function link(parent, i)
{
	const b = add(parent, 'button', { class: 'link', type: 'button' }, D.nodes[i].l);
	b.addEventListener('click', () => choose(i, b));
	parent.append(' ');
}

function fact(list, name, value)
{
	add(list, 'dt', {}, name);
	const d = add(list, 'dd', {}, typeof value === 'string' ? value : undefined);
	if (Array.isArray(value))
		value.forEach(i => link(d, i));
}

function facts(list, l)
{
	const most = l.t.indexOf(Math.max(...l.t));
	fact(list, 'time', `${time(total(l))}, ${percent(total(l) / D.cycles)}`);
	fact(list, 'cycles', `${Math.round(total(l)).toLocaleString('en')} from ${Math.round(l.s).toLocaleString('en')}`);
	fact(list, 'limited by', D.limits[most]);
	l.t.forEach((v, k) => {
		if (v > total(l) / 1e3 && k !== most)
			fact(list, '', `${D.limits[k]} ${percent(v / total(l))}`);
	});
	if (l.m > 0)
		fact(list, 'MACs', `${l.m.toLocaleString('en')}, ${percent(l.m / (total(l) * D.macs))} of the array`);
	if (l.k)
		fact(list, 'block', l.k.join(' x ') + ' (height, width, depth)');
	fact(list, 'moved', bytes(l.b));
	if (l.o > 0)
		fact(list, 'weights', `${bytes(l.o)} encoded to ${bytes(l.w)}, ${percent(l.w / l.o)}`);
	if (l.c > l.w)
		fact(list, 'scales, tables', bytes(l.c - l.w));
}

function showPanel()
{
	const p = $('panel');
	p.replaceChildren();
	p.classList.toggle('empty', chosen < 0);
	if (chosen < 0) {
		add(p, 'p', { class: 'soft' }, 'Choose an operator in any picture or table: it is marked in all of them, and its numbers stand here.');
		return;
	}
	const x = D.nodes[chosen], l = layerOf(chosen);
	const close = add(p, 'button', { class: 'close', type: 'button', 'aria-label': 'close' }, '×');
	close.addEventListener('click', () => choose(-1));
	add(p, 'h3', {}, x.l);
	add(p, 'div', { class: 'name' }, x.n);
	const list = add(p, 'dl', {});
	fact(list, 'operator', `${x.k} on the ${l ? 'NPU' : 'CPU'}`);
	if (l) {
		facts(list, l);
	} else {
		if (x.cpu)
			fact(list, 'roughly', `${x.cpu.toLocaleString('en')} cycles of a ${D.cpu}, ${time(x.ct)}`);
		fact(list, 'because', x.why || 'the compiled file does not say');
	}
	D.spans.filter(s => s[0] === chosen && SPANS[s[2]] !== 'buffer').forEach(s =>
		fact(list, 'result', `${s[8]}, ${bytes(s[5])} at ${s[4]} of the ${s[3]}`));
	if (x.r.length)
		fact(list, 'reads', x.r);
	if (readers[chosen].length)
		fact(list, 'read by', readers[chosen]);
	if (l) {
		const b = add(p, 'button', { type: 'button' }, 'Zoom to it');
		b.addEventListener('click', () => {
			const all = D.ops.filter(o => o[0] === chosen);
			const from = Math.min(...all.map(o => o[1])), to = Math.max(...all.map(o => o[2]));
			const room = (to - from) / 2;
			setView((from - room) / D.cycles, (to + room) / D.cycles);
			$('timeline').scrollIntoView({ block: 'center' });
		});
	}
}

document.addEventListener('click', ev => {
	const e = ev.target.closest('[data-n]');
	if (e && Number(e.dataset.n) >= 0 && !dragged)
		choose(Number(e.dataset.n), e);
});
document.addEventListener('keydown', ev => {
	const e = ev.target.closest && ev.target.closest('[data-n]');
	if (ev.key === 'Escape')
		choose(-1);
	else if (e && (ev.key === 'Enter' || ev.key === ' ')) {
		ev.preventDefault();
		choose(Number(e.dataset.n), e);
	}
});

/* ---- the network -------------------------------------------------------------------- */

/*
 * Assigns each node to a row: the length of the longest path from an input.  An edge over
 * several rows gets a slot in each row between its ends.
 */
function levels()
{
	/* Operators are in execution order.  Only a state is read before its writer (r > i). */
	const depth = [];
	D.nodes.forEach((x, i) => {
		depth[i] = x.r.reduce((d, r) => r < i ? Math.max(d, depth[r] + 1) : d, 0);
	});
	/* A node without inputs, for example a state, goes to the row above its first reader. */
	D.nodes.forEach((x, i) => {
		const later = readers[i].filter(k => k > i);
		if (later.length && !x.r.some(r => r < i))
			depth[i] = Math.min(...later.map(k => depth[k])) - 1;
	});
	const rows = [];
	const put = (d, slot) => { (rows[d] = rows[d] || []).push(slot); return slot; };
	const slots = D.nodes.map((x, i) => put(depth[i], { node: i, from: [] }));
	const ends = [];
	D.nodes.forEach((x, i) => x.r.filter(r => r < i).forEach(r => {
		let last = slots[r];
		const way = [last];
		for (let d = depth[r] + 1; d < depth[i]; d++) {
			last = put(d, { node: -1, from: [last] });
			way.push(last);
		}
		slots[i].from.push(last);
		way.push(slots[i]);
		ends.push(way);
	}));
	return { rows, ends };
}

/* Places each slot below the middle of its inputs, without overlaps. */
function place(rows, width, thin, gap)
{
	let most = 0;
	const size = s => s.node < 0 ? thin : width;
	rows.forEach((row, d) => {
		row.forEach((s, k) => {
			s.want = s.from.length ? s.from.reduce((a, f) => a + f.x, 0) / s.from.length : k * (width + gap);
			s.k = k;
		});
		row.sort((a, b) => a.want - b.want || a.k - b.k);
		let right = -Infinity;
		row.forEach(s => {
			s.x = Math.max(s.want, right + size(s) / 2);
			right = s.x + size(s) / 2 + gap;
		});
		/* Moves the row left by the mean distance that it was pushed to the right. */
		const shift = row.reduce((a, s) => a + s.x - s.want, 0) / row.length;
		row.forEach(s => { s.x -= shift; s.y = d; });
	});
	const left = Math.min(...rows.flat().map(s => s.x - size(s) / 2));
	rows.flat().forEach(s => { s.x -= left; most = Math.max(most, s.x + size(s) / 2); });
	return most;
}

/* The bytes of tensors and buffers that are live while a layer runs. */
function inUse(l)
{
	const to = l.s + total(l);
	return D.spans.reduce((a, s) => a + (s[6] < to && s[7] > l.s ? s[5] : 0), 0);
}

const uses = D.layers.map(inUse);
const mostUse = Math.max(1, ...uses), mostTime = Math.max(1, ...D.layers.map(total));

function paint(rect, i, mode)
{
	const l = layerOf(i);
	if (!l) {
		rect.style.fill = 'var(--c6)';
		rect.setAttribute('fill-opacity', .5);
		return;
	}
	const y = D.nodes[i].y;
	const most = l.t.indexOf(Math.max(...l.t));
	rect.style.fill = mode === 'bound' ? `var(${COLOURS[most]})`
		: mode === 'memory' ? 'var(--c1)' : 'var(--c3)';
	rect.setAttribute('fill-opacity', mode === 'bound' ? .5
		: mode === 'memory' ? .05 + .6 * uses[y] / mostUse : .05 + .6 * total(l) / mostTime);
}

function describe(i, mode)
{
	const x = D.nodes[i], l = layerOf(i);
	if (!l)
		return x.cpu ? `CPU, about ${time(x.ct)}` : 'CPU';
	return mode === 'memory' ? bytes(uses[x.y])
		: mode === 'bound' ? D.limits[l.t.indexOf(Math.max(...l.t))] : time(total(l));
}

function drawNetwork()
{
	const box = $('network'), mode = $('colour').value, HIGH = 38, GAP = 20;
	const graph = levels(), all = widthOf(box);
	const most = Math.max(...graph.rows.map(r => r.filter(s => s.node >= 0).length));
	let width = Math.max(72, Math.min(190, (all - 24) / most - 10));
	let wide = place(graph.rows, width, 14, 8);
	for (let k = 0; k < 3 && wide > all - 16 && width > 72; k++) {
		width = Math.max(72, width * (all - 16) / wide - 2);
		wide = place(graph.rows, width, 14, 8);
	}
	const left = Math.max(8, (all - wide) / 2);
	const high = graph.rows.length * (HIGH + GAP);
	const svg = picture(box, Math.max(all, wide + 2 * left), high,
		`the network: ${D.nodes.length} operators`);
	const top = s => s.y * (HIGH + GAP) + GAP / 2;
	graph.ends.forEach(way => {
		let d = `M${way[0].x + left} ${top(way[0]) + HIGH}`;
		for (let k = 1; k < way.length; k++) {
			const a = way[k - 1], b = way[k], x1 = a.x + left, x2 = b.x + left;
			const y1 = top(a) + HIGH, y2 = top(b);
			d += `C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
			if (b.node < 0)
				d += `V${y2 + HIGH}`;
		}
		add(svg, 'path', { class: 'path', d });
	});
	graph.rows.flat().filter(s => s.node >= 0).sort((a, b) => a.node - b.node).forEach((s, k) => {
		const x = D.nodes[s.node], about = describe(s.node, mode);
		const g = add(svg, 'g', { class: 'node', 'data-n': s.node, role: 'button',
			tabindex: k ? -1 : 0, 'aria-pressed': 'false', 'aria-label': `${x.l}, ${x.k}, ${about}`,
			transform: `translate(${s.x + left - width / 2} ${top(s)})` });
		const r = add(g, 'rect', { width, height: HIGH, rx: 5 });
		paint(r, s.node, mode);
		add(g, 'text', { x: 7, y: 15 }, fit(x.l, width - 12));
		add(g, 'text', { x: 7, y: 29, class: 'soft' }, fit(`${about} · ${x.k}`, width - 12));
		add(g, 'title', {}, `${x.n}: ${x.k}, ${about}`);
	});
	markAll();
	if (!box.scrollTop && wide > all)
		box.scrollLeft = Math.min(...graph.rows[0].map(s => s.x)) + left - all / 2;
}

/* Arrow keys move along the edges. */
$('network').addEventListener('keydown', ev => {
	const e = ev.target.closest('.node');
	if (!e || !ev.key.startsWith('Arrow'))
		return;
	const i = Number(e.dataset.n), down = ev.key === 'ArrowDown' || ev.key === 'ArrowRight';
	const to = down ? readers[i][0] : D.nodes[i].r[0];
	const next = $('network').querySelector(`.node[data-n="${to}"]`);
	ev.preventDefault();
	if (next) {
		e.setAttribute('tabindex', -1);
		next.setAttribute('tabindex', 0);
		next.focus();
	}
});

/* ---- timeline and memory: both show the same range of time ------------------------------------ */

let from = 0, to = 1, dragged = false, waiting = 0;
const LEFT = 64, RIGHT = 10;

function setView(a, b)
{
	const least = 1e-4;
	if (b - a < least)
		[a, b] = [(a + b - least) / 2, (a + b + least) / 2];
	if (b - a >= 1)
		[a, b] = [0, 1];
	const shift = a < 0 ? -a : b > 1 ? 1 - b : 0;
	from = a + shift;
	to = b + shift;
	if (!waiting)
		waiting = requestAnimationFrame(() => { waiting = 0; drawTime(); });
}

function zoom(by, at)
{
	const x = at === undefined ? (from + to) / 2 : at;
	setView(x - (x - from) * by, x + (to - x) * by);
}

function scale(width)
{
	const w = width - LEFT - RIGHT;
	return c => LEFT + (c / D.cycles - from) / (to - from) * w;
}

function timeAxis(svg, x, y, high)
{
	const ms = D.cycles / D.clock * 1e3, a = from * ms, b = to * ms;
	const s = step(b - a, Math.max(2, svg.clientWidth / 160));
	for (let v = Math.ceil(a / s) * s; v <= b; v += s) {
		const at = x(v / ms * D.cycles);
		add(svg, 'line', { class: 'grid', x1: at, x2: at, y1: y - high, y2: y });
		if (at < svg.clientWidth - 24)
			add(svg, 'text', { x: at, y: y + 14, 'text-anchor': 'middle', class: 'soft' },
				ms < 1 ? `${+(v * 1e3).toPrecision(4)} µs` : `${+v.toPrecision(4)} ms`);
	}
}

const seen = (a, b) => b > from * D.cycles && a < to * D.cycles;

function drawTimeline()
{
	const box = $('timeline'), width = widthOf(box), HIGH = 34, y = D.cpus.length ? [18, 64, 110] : [18, 64];
	const bottom = y[y.length - 1] + 42;
	const svg = picture(box, width, bottom + 26, 'kernels of the NPU, transfers and operators on the CPU over time');
	const x = scale(width), right = width - RIGHT;
	timeAxis(svg, x, bottom, bottom - 14);
	['NPU', 'DMA', 'CPU'].slice(0, y.length).forEach((s, k) => add(svg, 'text', { x: 8, y: y[k] + HIGH / 2 + 4 }, s));
	const bar = (o, lane, kind, name, about) => {
		if (!seen(o[1], o[2]))
			return;
		const a = Math.max(LEFT, x(o[1])), b = Math.min(right, x(o[2]));
		const r = add(svg, 'rect', { class: kind + ' span', 'data-n': o[0],
			x: a, y: y[lane], width: Math.max(.7, b - a), height: HIGH });
		add(r, 'title', {}, `${name}: ${time(o[2] - o[1])} from ${time(o[1])}, ${about}`);
		if (b - a > 40)
			add(svg, 'text', { x: a + 4, y: y[lane] + HIGH / 2 + 4, 'pointer-events': 'none' }, fit(name, b - a - 8));
	};
	D.ops.forEach(o => bar(o, o[3] === 4 ? 1 : 0, LIMITS[o[3]], o[0] >= 0 ? D.nodes[o[0]].l : 'transfer',
		o[3] === 4 ? 'transfer of weights' : D.limits[o[3]]));
	D.cpus.forEach(o => bar(o, 2, 'cpu', o[0] >= 0 ? D.nodes[o[0]].l : o[3], `on the CPU, roughly`));
}

function drawMemory()
{
	const box = $('memory'), width = widthOf(box), HIGH = 260;
	const places = D.peaks.filter(p => p.top > 0);
	if (!places.length) {
		box.textContent = 'The compiled file has no source map, which lists its memory.';
		return;
	}
	const svg = picture(box, width, places.length * (HIGH + 60), 'tensors and weight buffers: addresses over time');
	const x = scale(width), right = width - RIGHT;
	places.forEach((p, k) => {
		/* The highest address may be in use at another time than the peak of bytes. */
		const top = D.spans.reduce((a, m) => m[3] === p.place ? Math.max(a, m[4] + m[5]) : a, p.top);
		const y0 = k * (HIGH + 60) + HIGH + 26, y = v => y0 - v / top * HIGH, s = step(top, 5, 1024);
		timeAxis(svg, x, y0, HIGH);
		for (let v = 0; v <= top; v += s) {
			add(svg, 'line', { class: 'grid', x1: LEFT, x2: right, y1: y(v), y2: y(v) });
			add(svg, 'text', { x: LEFT - 6, y: y(v) + 4, 'text-anchor': 'end', class: 'soft' }, v ? short(bytes(v)) : '0');
		}
		D.spans.forEach(m => {
			if (m[3] !== p.place || !seen(m[6], m[7]))
				return;
			const a = Math.max(LEFT, x(m[6])), b = Math.min(right, x(m[7]));
			const high = m[5] / top * HIGH, w = Math.max(.7, b - a);
			const r = add(svg, 'rect', { class: SPANS[m[2]] + ' span', 'data-n': m[0],
				x: a, y: y(m[4] + m[5]), width: w, height: Math.max(.7, high) });
			add(r, 'title', {}, `${m[1]} ${m[8]}: ${bytes(m[5])} at ${m[4]}, ${time(m[6])} to ${time(m[7])}`);
			if (w > 40 && high > 13)
				add(svg, 'text', { x: a + 4, y: y(m[4] + m[5] / 2) + 4, 'pointer-events': 'none' }, fit(m[1], w - 8));
		});
		const at = x((p.start + p.end) / 2);
		if (at > LEFT && at < right)
			add(svg, 'line', { class: 'mark', x1: at, x2: at, y1: y0, y2: y0 - HIGH });
		add(svg, 'text', { x: LEFT, y: y0 - HIGH - 9 }, fit(`${p.place}: ${bytes(p.bytes)} of ${bytes(top)} in use at ${time(p.start)}, the peak`, width - LEFT - RIGHT));
	});
}

function drawTime()
{
	drawTimeline();
	drawMemory();
	markAll();
}

document.querySelectorAll('.time').forEach(box => {
	let last = null;
	const at = ev => {
		const r = box.getBoundingClientRect();
		return from + (ev.clientX - r.left - LEFT) / (r.width - LEFT - RIGHT) * (to - from);
	};
	box.addEventListener('wheel', ev => {
		if (!ev.ctrlKey && !ev.metaKey && !ev.altKey)
			return;
		ev.preventDefault();
		zoom(ev.deltaY > 0 ? 1.25 : .8, at(ev));
	}, { passive: false });
	box.addEventListener('dblclick', ev => zoom(.4, at(ev)));
	box.addEventListener('pointerdown', ev => { last = ev.clientX; dragged = false; });
	box.addEventListener('pointermove', ev => {
		if (last === null || !(ev.buttons & 1))
			return;
		const by = (last - ev.clientX) / (box.clientWidth - LEFT - RIGHT) * (to - from);
		dragged = dragged || Math.abs(last - ev.clientX) > 3;
		if (!dragged)
			return;
		last = ev.clientX;
		setView(from + by, to + by);
	});
	box.addEventListener('pointerup', () => { last = null; setTimeout(() => { dragged = false; }, 0); });
	box.addEventListener('keydown', ev => {
		const by = (to - from) / 5;
		const move = { ArrowLeft: [-by, -by], ArrowRight: [by, by] }[ev.key];
		if (move)
			setView(from + move[0], to + move[1]);
		else if (ev.key === '+' || ev.key === '-')
			zoom(ev.key === '+' ? .6 : 1.6);
		else
			return;
		ev.preventDefault();
	});
});

/* ---- the curve ------------------------------------------------------------------------ */

function drawCurve()
{
	const box = $('curve');
	if (!box)
		return;
	const width = widthOf(box), HIGH = 230, y0 = HIGH + 14;
	const svg = picture(box, width, HIGH + 50, 'time over SRAM, of all plans that nothing beats');
	const right = Math.max(D.sram, ...D.points.map(p => p[0])) * 1.05;
	const top = Math.max(D.cycles, ...D.points.map(p => p[1])) * 1.08;
	const x = v => LEFT + v / right * (width - LEFT - RIGHT), y = v => y0 - v / top * HIGH;
	const ms = v => v / D.clock * 1e3 / D.batch, sx = step(right, Math.max(2, width / 140), 1024), sy = step(ms(top), 5);
	for (let v = 0; v <= right; v += sx) {
		add(svg, 'line', { class: 'grid', x1: x(v), x2: x(v), y1: y0, y2: y0 - HIGH });
		if (x(v) < width - 30)
			add(svg, 'text', { x: x(v), y: y0 + 15, 'text-anchor': 'middle', class: 'soft' }, v ? short(bytes(v)) : '0');
	}
	for (let v = sy; v <= ms(top); v += sy) {
		const at = y(v / ms(1));
		add(svg, 'line', { class: 'grid', x1: LEFT, x2: width - RIGHT, y1: at, y2: at });
		add(svg, 'text', { x: LEFT - 6, y: at + 4, 'text-anchor': 'end', class: 'soft' }, short(time(v / ms(1))));
	}
	let d = '';
	D.points.forEach((p, k) => { d += k ? `H${x(p[0])}V${y(p[1])}` : `M${x(p[0])} ${y(p[1])}`; });
	add(svg, 'path', { class: 'line', d });
	const say = (p, name) => {
		$('point').textContent = `${name}${bytes(p[0])}, ${time(p[1])}` +
			(p[2] ? `: ${p[2]}` : '') + (name ? '' : `; --arena-cache-size=${p[0]}`);
	};
	D.points.forEach(p => {
		const c = add(svg, 'circle', { class: 'point', cx: x(p[0]), cy: y(p[1]), r: 4, tabindex: 0,
			role: 'button', 'aria-label': `${bytes(p[0])}, ${time(p[1])}` });
		add(c, 'title', {}, `${bytes(p[0])}, ${time(p[1])}`);
		c.addEventListener('click', () => say(p, ''));
		c.addEventListener('focus', () => say(p, ''));
	});
	const here = [D.sram, D.cycles, ''];
	const c = add(svg, 'circle', { class: 'here', cx: x(here[0]), cy: y(here[1]), r: 6 });
	add(c, 'title', {}, 'this plan');
	c.addEventListener('click', () => say(here, 'this plan: '));
	const end = x(here[0]) > width / 2;
	add(svg, 'text', { x: x(here[0]) + (end ? -10 : 10), y: y(here[1]) - 10, 'text-anchor': end ? 'end' : 'start' },
		`this plan: ${time(here[1])}, ${bytes(here[0])}`);
	say(here, 'this plan: ');
}

/* ---- tables, search ------------------------------------------------------------------- */

const byName = new Map();
D.nodes.forEach((x, i) => { if (!byName.has(x.n)) byName.set(x.n, i); });

function linkTables()
{
	document.querySelectorAll('table').forEach(t => {
		const ops = t.closest('section') && t.closest('section').id === 'time';
		[...t.tBodies[0].rows].forEach((row, k) => {
			const i = ops ? (D.ops.concat(D.cpus)[k] || [])[0] : byName.get(row.cells[0].title || row.cells[0].textContent);
			if (i >= 0)
				row.dataset.n = i;
		});
	});
}

function csv(t)
{
	return [...t.rows].map(r => [...r.cells].map(c => {
		const s = c.textContent;
		return /[",\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
	}).join(',')).join('\n') + '\n';
}

/* Copies with execCommand(), because a page from disk may lack the clipboard interface. */
function copy(s)
{
	const area = add(document.body, 'textarea', { 'aria-hidden': 'true' });
	area.value = s;
	area.select();
	const ok = document.execCommand('copy');
	area.remove();
	return ok;
}

document.querySelectorAll('details').forEach(d => {
	const t = d.querySelector('table');
	if (!t)
		return;
	const b = document.createElement('button');
	b.type = 'button';
	b.textContent = 'Copy as CSV';
	b.addEventListener('click', () => { b.textContent = copy(csv(t)) ? 'Copied' : 'This browser does not copy'; });
	d.insertBefore(b, d.firstElementChild.nextSibling);
});

function search()
{
	const s = $('search').value.trim().toLowerCase();
	document.querySelectorAll('.hit').forEach(e => e.classList.remove('hit'));
	const hits = s ? D.nodes.map((x, i) => i).filter(i => (D.nodes[i].n + ' ' + D.nodes[i].k).toLowerCase().includes(s)) : [];
	hits.forEach(i => document.querySelectorAll(`[data-n="${i}"]`).forEach(e => e.classList.add('hit')));
	$('found').textContent = s ? `${hits.length} of ${D.nodes.length}` : '';
	return hits;
}

$('search').addEventListener('input', search);
$('search').addEventListener('keydown', ev => {
	const hits = search();
	if (ev.key === 'Enter' && hits.length)
		choose(hits[(hits.indexOf(chosen) + 1) % hits.length], ev.target);
});

/* ---- the whole page -------------------------------------------------------------------------- */

function drawAll()
{
	drawNetwork();
	drawTime();
	drawCurve();
}

keys($('limit-keys'), D.limits.map((s, k) => [COLOURS[k], s]).concat([['--c5', 'transfer']]));
keys($('memory-keys'), SPAN_NAMES.map((s, k) => [SPAN_COLOURS[k], s]).filter((x, k) => D.spans.some(s => s[2] === k)));
$('colour').addEventListener('change', drawNetwork);
document.querySelectorAll('[data-zoom]').forEach(b => b.addEventListener('click', () =>
	b.dataset.zoom === '0' ? setView(0, 1) : zoom(Number(b.dataset.zoom))));
let width = 0;
new ResizeObserver(() => {
	if (document.body.clientWidth !== width) {
		width = document.body.clientWidth;
		drawAll();
	}
}).observe(document.body);
linkTables();
showPanel();
drawAll();
})();
