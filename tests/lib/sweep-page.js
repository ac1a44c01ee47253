// SPDX-License-Identifier: Apache-2.0
// Opens a page of npu-sweep --html at several widths, in both themes at the first, and clicks every
// link and heading; each failure is printed as a line.
// usage: node sweep-page.js BROWSER PAGE.html WIDTH...
'use strict';
const { withBrowser } = require('./browser.js');

let failures = 0;
function check(ok, ...what)
{
	if (!ok) {
		console.log('failed:', ...what);
		failures++;
	}
}

// in the page: the page is no wider than its window, and no mark of an axis meets another
function layout()
{
	const out = [], wide = document.documentElement.scrollWidth;
	if (wide > innerWidth)
		out.push(`the page is ${wide} wide`);
	for (const svg of document.querySelectorAll('svg')) {
		const marks = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
		marks.forEach(([s, a], i) => marks.slice(i + 1).forEach(([t, b]) => {
			if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
				out.push(`${s} overlaps ${t}`);
		}));
		for (const end of ['across', 'up']) {
			const units = new Set([...svg.querySelectorAll(`text.${end}`)].map(e => e.textContent.split(' ')[1]));
			if (units.size !== 1)
				out.push(`units ${[...units]}`);
		}
	}
	return out;
}

// clicks each link, then each heading; returns what did not unfold, or did not fold again
async function clickAll()
{
	const out = [], folded = () => [...document.querySelectorAll('details')].filter(d => !d.open).length;
	const all = document.querySelectorAll('details').length;
	for (const a of document.querySelectorAll('a[href^="#t"]')) {
		a.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
		await new Promise(done => setTimeout(done, 20));
		const d = document.querySelector(`${a.getAttribute('href')}`).closest('details');
		if (!d.open || folded() !== all - 1)
			out.push(`${a.outerHTML.slice(0, 60)} unfolds ${all - folded()}`);
		d.open = false;
	}
	for (const a of document.querySelectorAll('a[href^="#m"]'))
		if (!document.querySelector(a.getAttribute('href')))
			out.push(`${a.textContent} leads nowhere`);
	for (const s of document.querySelectorAll('summary')) {
		s.click();
		const open = s.parentElement.open;
		s.click();
		if (!open || s.parentElement.open)
			out.push(`${s.textContent} does not unfold and fold`);
	}
	// nothing else can be clicked
	const others = [...document.querySelectorAll('button, input, select, [onclick], [tabindex]')];
	return out.concat(others.map(e => `untested ${e.outerHTML.slice(0, 60)}`)).slice(0, 5);
}

const [browser, file, ...widths] = process.argv.slice(2);
withBrowser(browser, async open => {
	// themes differ only in colours: the first of several widths has both
	for (const [i, width] of widths.map(Number).entries())
		for (const theme of i || widths.length === 1 ? ['light'] : ['light', 'dark']) {
			const page = await open();
			await page.open(file, width, theme);
			(await page.run(layout)).forEach(s => check(false, width, theme, s));
			(await page.run(clickAll)).forEach(s => check(false, width, theme, s));
			const dark = await page.run(() => getComputedStyle(document.body).backgroundColor);
			check((theme === 'dark') === !/255/.test(dark), theme, dark);
			check(page.errors.length === 0, page.errors.join('; '));
			check(page.requests.length === 1, 'requests', page.requests.join(' '));
		}
}).catch(e => {
	console.log('failed:', e.stack);
	failures++;
}).finally(() => process.exit(failures ? 1 : 0));
