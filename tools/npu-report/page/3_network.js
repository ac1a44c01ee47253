/* ---- the network -------------------------------------------------------------------- */

/*
 * Assigns each node to a row: the length of the longest path from an input.  An edge over
 * several rows gets a slot in each row between its ends.  reads: for each node the nodes
 * whose results it reads.
 */
function levels(reads)
{
	const after = reads.map(() => []);
	reads.forEach((from, i) => from.forEach(r => after[r].push(i)));
	/* Operators are in execution order.  Only a state is read before its writer (r > i). */
	const depth = [];
	reads.forEach((from, i) => {
		depth[i] = from.reduce((d, r) => r < i ? Math.max(d, depth[r] + 1) : d, 0);
	});
	/* A node without inputs, for example a state, goes to the row above its first reader. */
	reads.forEach((from, i) => {
		const later = after[i].filter(k => k > i);
		if (later.length && !from.some(r => r < i))
			depth[i] = Math.min(...later.map(k => depth[k])) - 1;
	});
	const rows = [];
	const put = (d, slot) => { (rows[d] = rows[d] || []).push(slot); return slot; };
	const slots = reads.map((from, i) => put(depth[i], { node: i, from: [] }));
	const ends = [];
	reads.forEach((from, i) => from.filter(r => r < i).forEach(r => {
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

/* The bytes of memory in which these tensors and buffers are: shared bytes count once. */
function occupied(spans)
{
	let sum = 0;
	for (const place of new Set(spans.map(s => s[3]))) {
		let end = 0;
		spans.filter(s => s[3] === place).sort((a, b) => a[4] - b[4]).forEach(s => {
			sum += Math.max(0, s[4] + s[5] - Math.max(end, s[4]));
			end = Math.max(end, s[4] + s[5]);
		});
	}
	return sum;
}

/* The most memory in use at a moment of a layer: at its start, or when a tensor's life begins. */
function inUse(l)
{
	const live = D.spans.filter(s => s[6] < l.s + total(l) && s[7] > l.s);
	const moments = new Set(live.map(s => Math.max(l.s, s[6])));
	return Math.max(0, ...[...moments].map(t => occupied(live.filter(s => s[6] <= t && s[7] > t))));
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
	rect.style.fill = mode === 'bound' ? `var(${COLOURS[most]})` : 'var(--c7)';
	rect.setAttribute('fill-opacity', mode === 'bound' ? .5
		: mode === 'memory' ? .05 + .45 * uses[y] / mostUse : .05 + .45 * total(l) / mostTime);
}

function describe(i, mode)
{
	const x = D.nodes[i], l = layerOf(i);
	if (!l)
		return x.cpu ? `CPU, about ${time(x.ct)}` : 'CPU';
	if (x.in !== undefined)
		return `in ${D.nodes[x.in].l}`;
	return mode === 'memory' ? bytes(uses[x.y])
		: mode === 'bound' ? D.limits[l.t.indexOf(Math.max(...l.t))] : time(total(l));
}

/*
 * Draws a graph: reads as for levels(); node(i) is the number, first line, second line,
 * title, colour and mark of a node; shape(i) is the shape of its result, which its edges carry.
 */
function drawGraph(box, label, reads, node, shape)
{
	const HIGH = 38, GAP = 32, LEAST = 150; /* LEAST: for the shape of a result; wider rows scroll */
	const graph = levels(reads), all = widthOf(box);
	const most = Math.max(...graph.rows.map(r => r.filter(s => s.node >= 0).length));
	let width = Math.max(LEAST, Math.min(190, (all - 24) / most - 10));
	let wide = place(graph.rows, width, 14, 8);
	for (let k = 0; k < 3 && wide > all - 16 && width > LEAST; k++) {
		width = Math.max(LEAST, width * (all - 16) / wide - 2);
		wide = place(graph.rows, width, 14, 8);
	}
	const left = Math.max(8, (all - wide) / 2);
	const high = graph.rows.length * (HIGH + GAP);
	const svg = picture(box, Math.max(all, wide + 2 * left), high, label);
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
	const firsts = reads.map((r, i) => node(i).first);
	const slots = graph.rows.flat().filter(s => s.node >= 0).sort((a, b) => a.node - b.node);
	slots.forEach((s, k) => {
		const x = node(s.node), carried = shape(s.node);
		const g = add(svg, 'g', { class: 'node', 'data-n': x.n, role: 'button',
			tabindex: k ? -1 : 0, 'aria-pressed': 'false', 'aria-label': x.title,
			transform: `translate(${s.x + left - width / 2} ${top(s)})` });
		x.paint(add(g, 'rect', { width, height: HIGH, rx: 5 }));
		if (x.mark)
			add(g, 'circle', { class: 'rewritten', cx: width - 9, cy: 10, r: 4 });
		add(g, 'text', { x: 7, y: 15 }, fit(x.first, width - (x.mark ? 26 : 12), firsts) ||
			fit(x.first, width - (x.mark ? 26 : 12)));
		add(g, 'text', { x: 7, y: 29, class: 'soft' }, fit(x.second, width - 12));
		add(g, 'title', {}, x.title);
		if (carried && graph.ends.some(way => way[0] === s))
			add(svg, 'text', { class: 'soft halo', x: s.x + left + 5, y: top(s) + HIGH + 13 },
				fit(carried, width / 2 + 2));
	});
	if (!box.scrollTop && wide > all)
		box.scrollLeft = Math.min(...graph.rows[0].map(s => s.x)) + left - all / 2;
}

const shapes = D.nodes.map(() => '');
D.spans.forEach(s => {
	if (s[0] >= 0 && SPANS[s[2]] !== 'buffer' && !shapes[s[0]])
		shapes[s[0]] = plainShape(s[8]).replace(/^\S+ /, '');
});

function drawNetwork()
{
	const mode = $('colour').value, run = D.nodes.slice(0, RUN);
	drawGraph($('network'), `the network as compiled: ${RUN} operators`, run.map(x => x.r), i => {
		const x = D.nodes[i], about = describe(i, mode);
		return { n: i, first: x.l, second: x.in === undefined ? `${about} · ${x.k}` : `${x.k} ${about}`,
			title: `${x.n}: ${x.k}, ${about}${(x.w || []).map(s => `; ${s}`).join('')}`,
			mark: x.w, paint: rect => paint(rect, i, mode) };
	}, i => shapes[i]);
	$('network-keys').replaceChildren();
	if (mode === 'bound')
		keys($('network-keys'), D.limits.map((s, k) => [COLOURS[k], s]));
	else
		keys($('network-keys'), [['--c7', mode === 'time' ? `full colour: ${time(mostTime)}`
			: `full colour: ${bytes(mostUse)}`]]);
	if (run.some(x => x.y < 0))
		keys($('network-keys'), [['--c6', 'on the CPU']]);
	if (run.some(x => x.w))
		keys($('network-keys'), [['--c4', 'dot: rewritten, with equal results']]);
	drawSource();
	markAll();
}

/* the model as it was before compiling; an operator that is part of others is dashed */
function drawSource()
{
	const box = $('source');
	if (!box)
		return;
	const writer = new Map();
	M.ops.forEach((o, i) => o.o.forEach(t => writer.set(t, i)));
	const reads = M.ops.map(o => [...new Set(o.i.filter(t => writer.has(t)).map(t => writer.get(t)))]);
	drawGraph(box, `the model: ${M.ops.length} operators`, reads, i => {
		const o = M.ops[i], t = M.tensors[o.o[0]], x = D.nodes[o.y];
		const weights = o.i.filter(k => k >= 0 && M.tensors[k].c).map(k => shapeOf(M.tensors[k]));
		return { n: o.y, first: o.k, second: weights.length ? `${weights[0]} · ${x.l}` : x.l,
			title: `${o.n || o.k}: ${o.k}${t ? `, ${t.t}` : ''}`,
			paint: rect => { if (x.folded) rect.setAttribute('stroke-dasharray', '4 3'); } };
	}, i => M.ops[i].o.length && M.ops[i].o[0] >= 0 ? M.tensors[M.ops[i].o[0]].s.join('x') : '');
}

/* Arrow keys move along the edges. */
function walk(box, ev)
{
	const e = ev.target.closest('.node');
	if (!e || !ev.key.startsWith('Arrow'))
		return;
	const nodes = [...box.querySelectorAll('.node')], i = Number(e.dataset.n);
	const down = ev.key === 'ArrowDown' || ev.key === 'ArrowRight';
	const to = down ? readers[i][0] : D.nodes[i].r[0];
	const next = nodes.find(x => Number(x.dataset.n) === to) ||
		(box.id === 'source' ? nodes[nodes.indexOf(e) + (down ? 1 : -1)] : null);
	ev.preventDefault();
	if (next) {
		e.setAttribute('tabindex', -1);
		next.setAttribute('tabindex', 0);
		next.focus();
	}
}

['network', 'source'].forEach(id => {
	if ($(id))
		$(id).addEventListener('keydown', ev => walk($(id), ev));
});

