#!/usr/bin/env node
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program of `make wasm` under node, on the system's files:
 *	node nputools.js NAME [ARGUMENT ...]
 * The modules are in the directory NPUTOOLS_WASM, or beside this file.
 */
"use strict";

const fs = require("fs");
const os = require("os");
const path = require("path");
const { Wasi, WasiBuffer, WasiFile, WasiNull } = require("./wasi.js");

/* most runs end before optimized code is useful: V8 must start to optimize later than
 * usual */
require("v8").setFlagsFromString("--wasm-tiering-budget=50000000");

const directory = process.env.NPUTOOLS_WASM || path.join(__dirname, "modules");
if (!globalThis.crypto)
	globalThis.crypto = require("crypto").webcrypto;

function programs() {
	return fs.readdirSync(directory).filter((f) => f.endsWith(".wasm"))
		.map((f) => f.slice(0, -5)).sort();
}

const loaded = {};
function load(name) {
	const file = path.join(directory, name + ".wasm");
	if (!/^[a-z0-9-]+$/.test(name) || (!loaded[name] && !fs.existsSync(file)))
		return null;
	loaded[name] = loaded[name] || new WebAssembly.Module(fs.readFileSync(file));
	return loaded[name];
}

/* a Windows name inside a POSIX name, "/C:/here/D:/there": the last drive counts */
function windowsPath(name) {
	const all = [...name.matchAll(/[A-Za-z]:(?=\/|$)/g)];
	const last = all[all.length - 1];
	return last ? name.slice(last.index) + (last.index + 2 === name.length ? "/" : "")
		: name;
}

/* position null: the system's position, as others may write to the same file */
function standard(fd) {
	const f = new WasiFile(fs, fd, null, false);
	if (fd === 0 && f.stat.isFile())
		f.position = 0;
	f.isTerminal = require("tty").isatty(fd);
	return f;
}

function run(name, args) {
	const windows = process.platform === "win32";
	const slashes = (p) => windows ? p.replace(/\\/g, "/") : p;
	const cwd = slashes(process.cwd());
	const module = load(name);
	if (!module) {
		process.stderr.write(`nputools: no program '${name}'; there are ` +
			programs().join(", ") + "\n");
		return 2 << 8;
	}
	const host = {
		fs, module: load,
		env: { TMPDIR: slashes(os.tmpdir()),
			NPUTOOLS_MODULES: slashes(path.resolve(directory)) },
		cwd: windows ? "/" + cwd : cwd,
		path: windows ? windowsPath : undefined,
		/* as a program whose output pipe was closed */
		failed: (e) => e.code === "EPIPE" && process.exit(128 + 13),
	};
	return new Wasi(host, [name, ...args.map(slashes)], [0, 1, 2].map(standard)).run(module);
}

/* the bytes that a program wrote */
function written(buffer) {
	return Buffer.concat(buffer.parts);
}

/* runs a program on files in memory: names and their bytes */
function call(name, args, files = {}) {
	/* beside this file in the package, and in the directory of the page in the tree */
	const memory = path.join(__dirname, "memory.js");
	const { MemoryFs } = require(fs.existsSync(memory) ? memory : "../web/memory.js");
	const disk = new MemoryFs(), out = new WasiBuffer(), err = new WasiBuffer();
	const module = load(name);
	if (!module)
		throw new Error(`nputools: no program '${name}'; there are ` + programs().join(", "));
	disk.mkdirSync("/tmp");
	for (const [file, bytes] of Object.entries(files)) {
		if (!file || /^\.{1,2}$|[/\0]/.test(file))
			throw new Error(`nputools: '${file}' is no name of a file`);
		disk.put("/" + file, bytes);
	}
	const host = { fs: disk, module: load, env: {}, cwd: "/" };
	const how = new Wasi(host, [name, ...args], [new WasiNull(), out, err]).run(module);
	const after = {};
	for (const file of disk.readdirSync("/"))
		if (!disk.statSync("/" + file).isDirectory())
			after[file] = disk.get("/" + file);
	return { status: exitStatus(how), stdout: written(out).toString(),
		stderr: written(err).toString(), files: after };
}

const exitStatus = (how) => how & 127 ? 128 + (how & 127) : how >> 8;

function main(name, args) {
	if (name === "--prefix") {
		process.stdout.write(__dirname + "\n");
		return 0;
	}
	if (name === undefined || name === "--help" || name === "--version") {
		const { version } = JSON.parse(fs.readFileSync(
			path.join(__dirname, "package.json")));
		process.stdout.write(name === "--version" ? `nputools ${version}\n`
			: "usage: nputools PROGRAM [ARGUMENT ...]\n" +
			"       nputools --prefix\n" +
			`programs: ${programs().join(", ")}\n`);
		return name === undefined ? 2 : 0;
	}
	return exitStatus(run(name, args));
}

if (require.main === module)
	process.exitCode = main(process.argv[2], process.argv.slice(3));
else
	module.exports = { call, main, prefix: __dirname, programs, run, windowsPath };
