'use strict';
/*
 * Draws the pictures of npu-report's page from the JSON in the page; the files of this
 * directory are one script, in the order of their names.  A click on an operator marks the
 * operator in all pictures: every element that belongs to node i of the network has the
 * attribute data-n="i".
 */
const D = JSON.parse(document.getElementById('data').textContent);
/* Gets the name space of SVG from the browser, so that the page contains no address. */
const holder = document.createElement('div');
holder.innerHTML = '<svg></svg>';
const SVG = holder.firstChild.namespaceURI;
const $ = id => document.getElementById(id);
const LIMITS = ['compute', 'sram', 'constants', 'stall', 'starting', 'transfer'];
/* An operator of the model that is part of another one is a node behind those that run. */
const RUN = D.nodes.length;
const M = D.source; /* the model that was compiled; undefined: not in the report */
const opOf = []; /* the operator of the model of each node */
(M ? M.ops : []).forEach((o, i) => {
	if (o.y < 0) {
		o.y = D.nodes.length;
		D.nodes.push({ n: o.n || o.k, l: o.n.split(';')[0].split('/').slice(-2).join('/') || o.k,
			k: o.k, y: -1, r: [], folded: true });
	}
	if (opOf[o.y] === undefined)
		opOf[o.y] = i;
});
const nodeOfLayer = new Map();
D.nodes.forEach((x, i) => { if (x.y >= 0 && !nodeOfLayer.has(x.y)) nodeOfLayer.set(x.y, i); });
const layerOf = i => i >= 0 && D.nodes[i].y >= 0 ? D.layers[D.nodes[i].y] : null;
const total = l => l.t.reduce((sum, v) => sum + v, 0); /* with the waiting before its kernels */
const readers = D.nodes.map(() => []);
D.nodes.forEach((x, i) => x.r.forEach(r => readers[r].push(i)));

/* ---- numbers and shapes ---------------------------------------------------------- */

/* Rounds as printf() does, for the same text as beside the pictures: a tie goes to an even digit. */
function fixed(v, digits)
{
	const all = v * Math.pow(10, digits), down = Math.floor(all);
	const tie = all - down === .5 && down % 2 === 0;
	return tie ? (down / Math.pow(10, digits)).toFixed(digits) : v.toFixed(digits);
}

function three(v) { return fixed(v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0); }

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

const percent = v => (100 * v).toFixed(1) + ' %';

/* The unit that all marks of an axis share: that of the largest mark. */
function byteUnit(most)
{
	const i = most < 1024 ? 0 : Math.min(3, Math.floor(Math.log(most) / Math.log(1024)));
	return { one: Math.pow(1024, i), name: ['bytes', 'KiB', 'MiB', 'GiB'][i] };
}

function timeUnit(ms)
{
	return ms < 1 ? { one: 1e-3, name: 'µs' } : ms < 1e3 ? { one: 1, name: 'ms' }
		: { one: 1e3, name: 's' };
}

const mark = (v, unit) => `${+(v / unit.one).toPrecision(4)} ${unit.name}`;

/*
 * The distance of an axis' marks: 1, 2 or 5 times a power of ten (or of 1024).  The axis gets at
 * most `marks` of them, and more than marks / 2.5 - 1.
 */
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
const widthsOf = new Map();
function textWidth(s)
{
	if (!widthsOf.has(s))
		widthsOf.set(s, pen.measureText(s).width);
	return widthsOf.get(s);
}

/*
 * The text in this width, shortened in the middle, at its begin or at its end: the first of these
 * ways in which no other of the texts looks the same; '' if there is none.
 */
function fit(s, width, others = [])
{
	if (textWidth(s) <= width)
		return s;
	const c = [...s];
	for (const part of [.5, 0, 1]) {
		let n = c.length - 1, front = 0, short = '';
		for (; n > 0; n--) {
			front = Math.ceil(n * part);
			short = c.slice(0, front).join('') + '…' + c.slice(c.length - n + front).join('');
			if (pen.measureText(short).width <= width)
				break;
		}
		const [head, tail] = short.split('…');
		if (n > 0 && !others.some(o => o !== s && o.length > head.length + tail.length &&
			o.startsWith(head) && o.endsWith(tail)))
			return short;
	}
	return '';
}

function keys(box, list)
{
	list.forEach(([colour, name]) => {
		const k = add(box, 'span', { class: 'key' });
		add(k, 'i', {}).style.background = `var(${colour})`;
		k.append(name);
	});
}

const COLOURS = ['--c1', '--c2', '--c3', '--c4', '--c8', '--c5']; // of LIMITS
const SPANS = ['tensor', 'buffer', 'input', 'output', 'variable'];
const SPAN_NAMES = ['tensor', 'weights on their way', 'input', 'output', 'variable'];
const SPAN_COLOURS = ['--c1', '--c3', '--c2', '--c5', '--c6'];

