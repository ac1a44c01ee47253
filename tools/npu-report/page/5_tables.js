/* ---- the curve ------------------------------------------------------------------------ */

function drawCurve()
{
	const box = $('curve');
	if (!box)
		return;
	const width = widthOf(box), HIGH = 230, y0 = HIGH + 14;
	const svg = picture(box, width, HIGH + 54, `time over ${D.memory}, of all plans`);
	/* The axes begin and end a little beside the data. */
	const range = v => {
		const a = Math.min(...v), b = Math.max(...v), more = (b - a || b || 1) * .06;
		return [Math.max(0, a - more), b + more];
	};
	const [left, right] = range([D.sram].concat(D.points.map(p => p[0])));
	const [low, top] = range([D.cycles].concat(D.points.map(p => p[1])));
	const x = v => LEFT + (v - left) / (right - left) * (width - LEFT - RIGHT);
	const y = v => y0 - (v - low) / (top - low) * HIGH;
	const ms = v => v / D.clock * 1e3 / D.batch;
	const sx = step(right - left, Math.max(5, width / 140), 1024), sy = step(ms(top - low), 5);
	const ux = byteUnit(right), uy = timeUnit(ms(top));
	for (let v = Math.ceil(left / sx) * sx; v <= right; v += sx) {
		add(svg, 'line', { class: 'grid', x1: x(v), x2: x(v), y1: y0, y2: y0 - HIGH });
		if (x(v) < width - 30)
			add(svg, 'text', { x: x(v), y: y0 + 15, 'text-anchor': 'middle', class: 'soft' }, mark(v, ux));
	}
	for (let v = Math.ceil(ms(low) / sy) * sy; v <= ms(top); v += sy) {
		const at = y(v / ms(1));
		add(svg, 'line', { class: 'grid', x1: LEFT, x2: width - RIGHT, y1: at, y2: at });
		add(svg, 'text', { x: LEFT - 6, y: at + 4, 'text-anchor': 'end', class: 'soft' }, mark(v, uy));
	}
	add(svg, 'text', { x: width - RIGHT, y: y0 + 32, 'text-anchor': 'end', class: 'soft' }, `${D.memory}; the axes begin at the data`);
	let d = '';
	D.points.filter(p => !p[3]).forEach((p, k) => { d += k ? `H${x(p[0])}V${y(p[1])}` : `M${x(p[0])} ${y(p[1])}`; });
	add(svg, 'path', { class: 'line', d });
	const option = p => `--arena-cache-size=${p[0]}`;
	const say = (p, name) => {
		$('point').textContent = `${name}${bytes(p[0])}, ${time(p[1])}` +
			(p[2] ? `: ${p[2]}` : '') + (name ? '' : `; ${option(p)}`);
	};
	const take = p => {
		say(p, '');
		$('point').textContent += copy(option(p)) ? ', copied' : '';
	};
	D.points.forEach(p => {
		const c = add(svg, 'circle', { class: p[3] ? 'point beaten' : 'point', cx: x(p[0]), cy: y(p[1]), r: 5, tabindex: 0,
			role: 'button', 'aria-label': `${bytes(p[0])}, ${time(p[1])}: copy ${option(p)}` });
		add(c, 'title', {}, `${bytes(p[0])}, ${time(p[1])}; click copies ${option(p)}`);
		c.addEventListener('click', () => take(p));
		c.addEventListener('focus', () => say(p, ''));
		c.addEventListener('keydown', ev => {
			if (ev.key === 'Enter' || ev.key === ' ') {
				ev.preventDefault();
				take(p);
			}
		});
	});
	const here = [D.sram, D.cycles, ''];
	const c = add(svg, 'circle', { class: 'here', cx: x(here[0]), cy: y(here[1]), r: 6 });
	add(c, 'title', {}, 'this plan');
	c.addEventListener('click', () => say(here, 'this plan: '));
	/* The curve descends to the right: right above a plan is free, and so is left below it. */
	const end = x(here[0]) > width - 220, below = end && y(here[1]) + 26 < y0; /* above the axis */
	const at = below ? { x: x(here[0]) - 10, y: y(here[1]) + 20 }
		: { x: end ? width - RIGHT : x(here[0]) + 10, y: y(here[1]) - (end ? 18 : 10) };
	add(svg, 'text', { class: 'halo', ...at, 'text-anchor': end ? 'end' : 'start' },
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
		const s = c.title || c.textContent; /* of a name, the whole one */
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

/* ---- sorting, and the names of columns in the cards of narrow windows ---- */

/* the number at the start of a cell, in one unit: "1.5 KiB" is 1536 */
function valueOf(s)
{
	const UNITS = { KiB: 1024, MiB: 1048576, GiB: 1073741824, 'µs': 1e-3, s: 1e3, k: 1e3, M: 1e6 };
	const [n, unit] = s.replace(/,/g, '').split(' ');
	const v = parseFloat(n);
	return isNaN(v) ? -Infinity : v * (UNITS[unit] || 1);
}

/* Sorts a table by a column: numbers first from the largest, names from A; then the other way. */
function sortTable(t, k)
{
	const head = t.tHead.rows[0].cells, body = t.tBodies[0];
	const isNumber = head[k].classList.contains('n');
	const now = head[k].getAttribute('aria-sort');
	const down = now ? now === 'ascending' : isNumber;
	const key = row => isNumber ? valueOf(row.cells[k].textContent) : row.cells[k].textContent;
	const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
	[...head].forEach(th => th.removeAttribute('aria-sort'));
	head[k].setAttribute('aria-sort', down ? 'descending' : 'ascending');
	body.append(...[...body.rows].map((row, i) => ({ row, i, v: key(row) }))
		.sort((a, b) => (down ? order(b.v, a.v) : order(a.v, b.v)) || a.i - b.i).map(x => x.row));
}

function prepareTables()
{
	document.querySelectorAll('table').forEach(t => {
		const head = [...t.tHead.rows[0].cells];
		head.forEach((th, k) => {
			th.tabIndex = 0;
			th.title = `sort by ${th.textContent}`;
			th.addEventListener('click', () => sortTable(t, k));
			th.addEventListener('keydown', ev => {
				if (ev.key === 'Enter' || ev.key === ' ') {
					ev.preventDefault();
					sortTable(t, k);
				}
			});
		});
		t.classList.add('cards');
		[...t.tBodies[0].rows].forEach(row => [...row.cells].forEach((c, k) => {
			c.dataset.label = head[k].textContent;
		}));
	});
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
	const text = x => `${x.n} ${x.k} ${x.t}`.toLowerCase();
	/* first the operators that have this name, then those with it as a word of theirs */
	const words = x => text(x).split(/[^a-z0-9_.-]+/);
	const rank = i => [D.nodes[i].t, D.nodes[i].l, D.nodes[i].n].some(n => (n || '').toLowerCase() === s) ? 0
		: words(D.nodes[i]).includes(s) ? 1 : 2;
	const hits = s ? D.nodes.map((x, i) => i).filter(i => text(D.nodes[i]).includes(s)).sort((a, b) => rank(a) - rank(b) || a - b) : [];
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
prepareTables();
showPanel();
drawAll();
chooseByAddress();
addEventListener('hashchange', chooseByAddress);
