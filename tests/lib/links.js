// SPDX-License-Identifier: Apache-2.0
// Follows all links of the HTML files in a directory, without a network: a link leads to a
// file of the directory, and its fragment to an element of the page.  A page of the manual
// is never named without a link to it.  Prints each failure, then the numbers of pages and
// links.
// usage: node links.js DIR
'use strict';
const fs = require('fs');
const path = require('path');

const root = path.resolve(process.argv[2]);
const files = fs.readdirSync(root, { recursive: true }).map(f => path.join(root, f))
	.filter(f => f.endsWith('.html'));
const text = new Map(files.map(f => [f, fs.readFileSync(f, 'utf8')]));
const plain = s => s.replace(/&amp;/g, '&').replace(/&#x2011;/g, '-');
const ids = f => new Set([...(text.get(f) || '').matchAll(/\bid="([^"]*)"/g)].map(m => plain(m[1])));
const manual = new Set(files.map(f => path.basename(f)).filter(f => /\.[1-9]\.html$/.test(f)));
let failures = 0, links = 0;

function fail(f, what)
{
	console.log(`${path.relative(root, f)}: ${what}`);
	failures++;
}

function follow(f, link)
{
	const [, file, fragment] = plain(link).match(/^([^#]*)#?(.*)$/);
	const to = file ? path.resolve(path.dirname(f), decodeURI(file)) : f;
	links++;
	if (!(to + path.sep).startsWith(root + path.sep))
		fail(f, `${link} leaves the directory`);
	else if (!fs.existsSync(to) || !fs.statSync(to).isFile())
		fail(f, `${link} leads to no file`);
	else if (fragment && !ids(to).has(decodeURIComponent(fragment)))
		fail(f, `${link} leads to no element`);
}

for (const [f, s] of text) {
	// addresses in scripts and styles are data
	const markup = s.replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/g, m => m.match(/^<[^>]*>/)[0]);
	for (const m of markup.matchAll(/\b(?:href|src)="([^"]*)"/g))
		if (!/^data:/.test(m[1]))
			/^[a-z]+:|^\/\//.test(m[1]) ? fail(f, `${m[1]} is of another site`) : follow(f, m[1]);
	if (!/\.[1-9]\.html$/.test(f))
		continue;
	const unlinked = markup.replace(/<a\b[\s\S]*?<\/a>/g, '').replace(/<pre\b[\s\S]*?<\/pre>/g, '')
		.replace(/<table class="(head|foot)">[\s\S]*?<\/table>/g, '').replace(/<title>.*<\/title>/, '')
		.replace(/&#x201C;[^&]*&#x201D;/g, '').replace(/<[^>]*>/g, '');
	for (const m of unlinked.matchAll(/\b([a-z][a-z0-9-]*)\(([1-9])\)/g))
		if (manual.has(`${m[1]}.${m[2]}.html`))
			fail(f, `${m[0]} is no link`);
}
console.log(`${files.length} pages, ${links} links`);
process.exit(failures ? 1 : 0);
