/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in memory, with those functions of node's "fs" that ../wasm/wasi.js calls.
 * There are no links, owners, times or modes.
 */
"use strict";

class MemoryNode {
	constructor(ino, isDirectory) {
		this.ino = BigInt(ino);
		this.children = isDirectory ? new Map() : null;
		this.data = new Uint8Array(0);
		this.size = 0;
	}
	resize(n) {
		if (n > this.data.length) {
			let more = new Uint8Array(Math.max(n, 2 * this.data.length, 4096));
			more.set(this.data.subarray(0, this.size));
			this.data = more;
		}
		if (n < this.size)
			this.data.fill(0, n, this.size);
		this.size = n;
	}
}

class MemoryFs {
	constructor() {
		this.constants = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64,
			O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024 };
		this.n = 0;
		this.root = new MemoryNode(++this.n, true);
		this.open = [null, null, null]; /* the first three numbers are standard */
	}

	fail(code) {
		throw Object.assign(new Error(code), { code });
	}
	/* the directory that contains a path, and the last name of the path */
	parent(path) {
		let names = path.split("/").filter((s) => s && s !== "."), at = this.root;
		let last = names.pop();
		for (let s of names) {
			at = at.children.get(s) || this.fail("ENOENT");
			if (!at.children)
				this.fail("ENOTDIR");
		}
		return [at, last];
	}
	find(path) {
		let [at, last] = this.parent(path);
		return last === undefined ? at : at.children.get(last) || this.fail("ENOENT");
	}

	openSync(path, flags) {
		let c = this.constants, [at, last] = this.parent(path);
		let node = at.children.get(last);
		if (node && flags & c.O_EXCL)
			this.fail("EEXIST");
		if (!node && !(flags & c.O_CREAT))
			this.fail("ENOENT");
		if (!node)
			at.children.set(last, node = new MemoryNode(++this.n, false));
		if (node.children)
			this.fail("EISDIR");
		if (flags & c.O_TRUNC)
			node.resize(0);
		let fd = 3;
		while (this.open[fd])
			fd++;
		this.open[fd] = node;
		return fd;
	}
	closeSync(fd) {
		this.open[fd] = null;
	}
	readSync(fd, p, offset, n, at) {
		let node = this.open[fd];
		let part = node.data.subarray(at, Math.max(at, Math.min(at + n, node.size)));
		p.set(part, offset);
		return part.length;
	}
	writeSync(fd, p, offset, n, at) {
		let node = this.open[fd], from = at === null ? node.size : at;
		if (from + n > node.size)
			node.resize(from + n);
		node.data.set(p.subarray(offset, offset + n), from);
		return n;
	}
	ftruncateSync(fd, n) {
		this.open[fd].resize(n);
	}
	stat(node) {
		let isDirectory = !!node.children;
		return {
			dev: 1n, ino: node.ino, nlink: 1n, size: BigInt(node.size),
			isFile: () => !isDirectory, isDirectory: () => isDirectory,
			isSymbolicLink: () => false, isCharacterDevice: () => false,
			isBlockDevice: () => false,
		};
	}
	fstatSync(fd) {
		return this.stat(this.open[fd]);
	}
	statSync(path) {
		return this.stat(this.find(path));
	}
	lstatSync(path) {
		return this.statSync(path);
	}
	readlinkSync(path) {
		this.find(path);
		this.fail("EINVAL");
	}
	readdirSync(path) {
		return [...this.find(path).children.keys()];
	}
	mkdirSync(path) {
		let [at, last] = this.parent(path);
		if (last === undefined || at.children.has(last))
			this.fail("EEXIST");
		at.children.set(last, new MemoryNode(++this.n, true));
	}
	unlinkSync(path) {
		let [at, last] = this.parent(path), node = this.find(path);
		if (node.children)
			this.fail("EISDIR");
		at.children.delete(last);
	}
	rmdirSync(path) {
		let [at, last] = this.parent(path), node = this.find(path);
		if (!node.children)
			this.fail("ENOTDIR");
		if (node.children.size)
			this.fail("ENOTEMPTY");
		at.children.delete(last);
	}
	renameSync(from, to) {
		let [at, last] = this.parent(from), node = this.find(from);
		let [place, name] = this.parent(to);
		at.children.delete(last);
		place.children.set(name, node);
	}

	/* ---- for the page ---- */

	put(path, bytes) {
		let fd = this.openSync(path, 64 | 512);
		this.writeSync(fd, bytes, 0, bytes.length, 0);
		this.closeSync(fd);
	}
	get(path) {
		let node = this.find(path);
		return node.data.slice(0, node.size);
	}
}

if (typeof module !== "undefined")
	module.exports = { MemoryFs };
