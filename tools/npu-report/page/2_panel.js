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

/*
 * The address of the page names the chosen operator: #op=NAME, the name that the pictures
 * show, or its number if several operators have this name.
 */
function addressOf(i)
{
	if (i < 0)
		return '#';
	const n = D.nodes[i].l, same = D.nodes.filter(x => x.l === n).length;
	return `#op=${encodeURIComponent(same > 1 ? i : n)}`;
}

function chooseByAddress()
{
	let name = location.hash.startsWith('#op=') ? location.hash.slice(4) : '';
	try {
		name = decodeURIComponent(name);
	} catch (e) {
		return; /* no name of this page */
	}
	const i = name ? D.nodes.findIndex(x => x.l === name || x.n === name) : -1;
	if (i >= 0 || D.nodes[name])
		choose(i >= 0 ? i : Number(name));
}

function setAddress(i)
{
	try {
		history.replaceState(null, '', addressOf(i));
	} catch (e) {
		/* a frame without an origin has no address */
	}
}

function choose(i, from)
{
	chosen = i;
	markAll();
	showPanel();
	setAddress(i);
	['network', 'source'].forEach(id => scrollTo($(id), from));
}

/* Scrolls a box to its mark, unless the mark was made there. */
function scrollTo(box, from)
{
	const e = box && box.querySelector('.on');
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
	if (l.n > 1)
		fact(list, 'kernels', `${l.n}, one for each stripe or part`);
	fact(list, 'moved', bytes(l.b));
	if (l.o > 0)
		fact(list, 'weights', `${bytes(l.o)} encoded to ${bytes(l.w)}, ${percent(l.w / l.o)}`);
	if (l.c > l.w)
		fact(list, 'scales, tables', bytes(l.c - l.w));
}

/* ---- the operator in the model ---- */

const four = v => v === null ? '?' : +v.toPrecision(4);
const shapeOf = t => t.s.length ? t.s.join('x') : 'scalar';
/* "i8 1x48x48x8" of "i8[1,48,48,8]" */
const plainShape = s => s.replace(/\[(.*)\]/, (all, d) => ` ${d.replaceAll(',', 'x') || 'scalar'}`);

function quantization(q)
{
	const both = (a, b) => a === b ? `${a}` : `${a} to ${b}`;
	if (q[0] === 1)
		return `scale ${four(q[1])}, zero point ${q[3]}`;
	return `${q[0]} scales along axis ${q[5]}, ${both(four(q[1]), four(q[2]))}; zero points ${both(q[3], q[4])}`;
}

/* how often the values of a constant occur, from the least to the largest */
function histogram(parent, h, label)
{
	const HIGH = 30, WIDE = 9, most = Math.max(1, ...h);
	const svg = add(parent, 'svg', { width: h.length * WIDE, height: HIGH + 1, role: 'img',
		'aria-label': `how often the values of ${label} occur` });
	h.forEach((n, k) => {
		const high = n ? Math.max(1, n / most * HIGH) : 0;
		add(add(svg, 'rect', { class: 'heat', x: k * WIDE, y: HIGH - high, width: WIDE - 1,
			height: high }), 'title', {}, `${n}`);
	});
}

function tensorFacts(parent, i, role)
{
	const t = M.tensors[i], box = add(parent, 'div', { class: 'tensor' });
	add(box, 'div', { class: 'name' }, `${role} ${t.n}`);
	add(box, 'div', {}, `${t.t} ${shapeOf(t)}`);
	if (t.q)
		add(box, 'div', {}, quantization(t.q));
	if (!t.c)
		return;
	const [min, max, mean, deviation, zeros, distinct, n] = t.c;
	add(box, 'div', {}, `constant: ${four(min)} to ${four(max)}, mean ${four(mean)}, ` +
		`standard deviation ${four(deviation)}; ${percent(zeros / n)} zeros` +
		(distinct ? `; ${distinct} different values` : ''));
	if (n > 1)
		histogram(box, t.h, t.n);
}

function modelFacts(p, o)
{
	add(p, 'h4', {}, 'In the model');
	const list = add(p, 'dl', { class: 'attributes' });
	fact(list, 'version', String(o.v));
	o.a.forEach(([name, value]) => fact(list, name.replace(/_/g, ' '), value));
	o.i.forEach((t, k) => { if (t >= 0) tensorFacts(p, t, `input ${k}:`); });
	o.o.forEach((t, k) => { if (t >= 0) tensorFacts(p, t, `output ${k}:`); });
}

/* the time of an operator, on the NPU or the CPU */
const spent = i => layerOf(i) ? total(layerOf(i)) : D.nodes[i].ct || 0;

function showPanel()
{
	const p = $('panel');
	p.replaceChildren();
	p.classList.toggle('empty', chosen < 0);
	if (chosen < 0) {
		add(p, 'p', { class: 'soft' }, 'Choose an operator in any picture or table: it is marked in all of them, and its numbers stand here. The longest:');
		const list = add(p, 'dl', { class: 'long' }), TOP = 16;
		const onCpu = D.nodes.map((x, i) => i).filter(i => !layerOf(i) && D.nodes[i].ct > 0);
		[...nodeOfLayer.values(), ...onCpu].sort((a, b) => spent(b) - spent(a)).slice(0, TOP).forEach(i => {
			fact(list, time(spent(i)), [i]);
		});
		return;
	}
	const x = D.nodes[chosen], l = layerOf(chosen);
	const close = add(p, 'button', { class: 'close', type: 'button', 'aria-label': 'close' }, '×');
	close.addEventListener('click', () => choose(-1));
	add(p, 'h3', {}, x.t);
	add(p, 'div', { class: 'name' }, x.n);
	const list = add(p, 'dl', {});
	fact(list, 'operator', x.folded ? x.k : `${x.k} on the ${l ? 'NPU' : 'CPU'}`);
	if (x.folded) {
		fact(list, 'runs', 'as a part of other operators, or not at all');
	} else if (x.in !== undefined) {
		fact(list, 'runs', 'in the kernel of the operator');
		link(list.lastChild, x.in);
	} else if (l) {
		facts(list, l);
	} else {
		if (x.cpu)
			fact(list, 'roughly', `${x.cpu.toLocaleString('en')} cycles of a ${D.cpu}, ${time(x.ct)}`);
		fact(list, 'because', x.why || 'the compiled file does not say');
	}
	(x.w || []).forEach((s, k) => fact(list, k ? '' : 'rewritten', s));
	D.spans.filter(s => s[0] === chosen && SPANS[s[2]] !== 'buffer').forEach(s =>
		fact(list, 'result', `${plainShape(s[8])}, ${bytes(s[5])} at ${s[4]} of the ${s[3]}`));
	if (x.r.length)
		fact(list, 'reads', x.r);
	if (readers[chosen].length)
		fact(list, 'read by', readers[chosen]);
	if (l && x.in === undefined) {
		const b = add(p, 'button', { type: 'button' }, 'Zoom to it');
		b.addEventListener('click', () => {
			const all = D.ops.filter(o => o[0] === chosen);
			const from = Math.min(...all.map(o => o[1])), to = Math.max(...all.map(o => o[2]));
			const room = (to - from) / 2;
			setView((from - room) / D.cycles, (to + room) / D.cycles);
			$('timeline').scrollIntoView({ block: 'center' });
		});
	}
	if (opOf[chosen] !== undefined)
		modelFacts(p, M.ops[opOf[chosen]]);
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

