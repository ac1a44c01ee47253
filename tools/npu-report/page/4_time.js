const labels = D.nodes.map(x => x.l), spanNames = [...new Set(D.spans.map(s => s[1]))];

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
	const s = step(b - a, Math.max(4, svg.clientWidth / 160)), unit = timeUnit(ms);
	for (let v = Math.ceil(a / s) * s; v <= b; v += s) {
		const at = x(v / ms * D.cycles);
		add(svg, 'line', { class: 'grid', x1: at, x2: at, y1: y - high, y2: y });
		if (at < svg.clientWidth - 24)
			add(svg, 'text', { x: at, y: y + 14, 'text-anchor': 'middle', class: 'soft' },
				mark(v, unit));
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
			add(svg, 'text', { x: a + 4, y: y[lane] + HIGH / 2 + 4, 'pointer-events': 'none' }, fit(name, b - a - 8, labels));
	};
	D.ops.forEach(o => bar(o, o[3] === D.limits.length ? 1 : 0, LIMITS[o[3]],
		o[0] >= 0 ? D.nodes[o[0]].l : o[3] === D.limits.length ? 'transfer' : 'a memory is still busy',
		o[3] === D.limits.length ? 'transfer of weights' : D.limits[o[3]]));
	D.cpus.forEach(o => bar(o, 2, 'cpu', o[0] >= 0 ? D.nodes[o[0]].l : o[3], `on the CPU, roughly`));
}

/*
 * Writes the names of rectangles into them: where a name has the height of a line, does not
 * meet another name, and is not covered by a rectangle that is drawn later.
 */
function putNames(svg, boxes)
{
	const LINE = 13, done = [];
	boxes.forEach((b, i) => {
		if (b.high < LINE)
			return;
		for (const part of [.5, .8, .2]) {
			const y = b.top + (b.high - LINE) * part;
			const meets = o => o.x < b.end && o.end > b.x && o.top < y + LINE && o.top + o.high > y;
			const end = boxes.slice(i + 1).concat(done).filter(meets)
				.reduce((e, o) => Math.min(e, Math.max(b.x, o.x)), b.end);
			const s = end - b.x > 40 ? fit(b.name, end - b.x - 8, spanNames) : '';
			if (!s)
				continue;
			add(svg, 'text', { x: b.x + 4, y: y + 10, 'pointer-events': 'none' }, s);
			done.push({ x: b.x, end, top: y, high: LINE });
			return;
		}
	});
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
		const top = p.top;
		const y0 = k * (HIGH + 60) + HIGH + 30, y = v => y0 - v / top * HIGH, s = step(top, 5, 1024);
		const unit = byteUnit(top), names = [];
		timeAxis(svg, x, y0, HIGH);
		for (let v = 0; v <= top; v += s) {
			add(svg, 'line', { class: 'grid', x1: LEFT, x2: right, y1: y(v), y2: y(v) });
			add(svg, 'text', { x: LEFT - 6, y: y(v) + (v ? 4 : 0), 'text-anchor': 'end', class: 'soft' }, v ? mark(v, unit) : '0');
		}
		D.spans.forEach(m => {
			if (m[3] !== p.place || !seen(m[6], m[7]))
				return;
			const a = Math.max(LEFT, x(m[6])), b = Math.min(right, x(m[7]));
			const high = m[5] / top * HIGH, w = Math.max(.7, b - a);
			const r = add(svg, 'rect', { class: SPANS[m[2]] + ' span', 'data-n': m[0],
				x: a, y: y(m[4] + m[5]), width: w, height: Math.max(.7, high) });
			add(r, 'title', {}, `${m[1]} ${m[8]}: ${bytes(m[5])} at ${m[4]}, ${time(m[6])} to ${time(m[7])}`);
			names.push({ name: m[1], x: a, end: b, top: y(m[4] + m[5]), high });
		});
		const a = Math.max(LEFT, x(p.start)), b = Math.min(right, x(p.end));
		if (b > LEFT && a < right) {
			const peak = add(svg, 'rect', { class: 'band peak', x: a, y: y(p.bytes < top ? top : p.bytes), width: Math.max(2, b - a),
				height: y0 - y(top) });
			add(peak, 'title', {}, `the peak: ${bytes(p.bytes)} in use from ${time(p.start)} to ${time(p.end)}`);
			add(svg, 'path', { class: 'peak-mark', d: `M${(a + b) / 2 - 5} ${y(top) - 7}h10l-5 7z` });
		}
		putNames(svg, names);
		add(svg, 'text', { x: LEFT, y: y0 - HIGH - 12 }, `${p.place}: peak of ${bytes(p.bytes)} in use, of ${bytes(top)}` +
			(width > 600 ? `, from ${time(p.start)} to ${time(p.end)}` : ''));
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

