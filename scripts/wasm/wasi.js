/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WASI (preview 1) for the modules of `make wasm`, with the functions that they use,
 * in node and in a browser's worker.  A Wasi runs one program on a file system with
 * the synchronous functions of node's "fs" (in a browser: memory.js).  Two more
 * functions, nputools.run and nputools.buffer, let npucc start its stages
 * (tools/npucc/processes_wasi.c).
 */
"use strict";

var WASI_ERRNO = {
	E2BIG: 1, EACCES: 2, EAGAIN: 6, EBADF: 8, EBUSY: 10, EDQUOT: 19, EEXIST: 20,
	EFBIG: 22, EINTR: 27, EINVAL: 28, EIO: 29, EISDIR: 31, ELOOP: 32, EMFILE: 33,
	EMLINK: 34, ENAMETOOLONG: 37, ENFILE: 41, ENODEV: 43, ENOENT: 44, ENOMEM: 48,
	ENOSPC: 51, ENOSYS: 52, ENOTDIR: 54, ENOTEMPTY: 55, ENOTSUP: 58, ENXIO: 60,
	EPERM: 63, EPIPE: 64, EROFS: 69, ESPIPE: 70, ETXTBSY: 74, EXDEV: 75,
};
var WASI_TYPE = { unknown: 0, block: 1, character: 2, directory: 3, file: 4, link: 7 };
var WASI_SEEK = 1n << 2n | 1n << 5n; /* rights to seek and tell: the descriptor is no
				      * terminal */

class WasiExit extends Error {
	constructor(code) {
		super("exit " + code);
		this.code = code;
	}
}

function fail(code) {
	throw Object.assign(new Error(code), { code });
}

/* a page that is not isolated from others has no shared memory to wait on */
function sleep(ms) {
	if (typeof SharedArrayBuffer === "undefined")
		for (let end = performance.now() + ms; performance.now() < end;)
			;
	else
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/* in node, a read from a terminal or pipe that is not ready fails: wait and try again */
function patiently(call) {
	for (;;) {
		try {
			return call();
		} catch (e) {
			if (e.code === "EOF")
				return 0;
			if (e.code !== "EAGAIN" && e.code !== "EINTR")
				throw e;
			sleep(5);
		}
	}
}

/* ---- kinds of descriptors -------------------------------------------------------- */

/* a file of fs, by its descriptor; position null: the system's position */
class WasiFile {
	constructor(fs, fd, position, append) {
		Object.assign(this, { fs, fd, position, append, users: 1 });
		this.stat = fs.fstatSync(fd, { bigint: true });
	}
	read(p, at) {
		let own = at === undefined, n;
		at = own ? this.position : at;
		n = patiently(() => this.fs.readSync(this.fd, p, 0, p.length, at));
		if (own && this.position !== null)
			this.position += n;
		return n;
	}
	write(p) {
		let at = this.append ? null : this.position, n;
		n = patiently(() => this.fs.writeSync(this.fd, p, 0, p.length, at));
		if (this.position !== null)
			this.position += n;
		return n;
	}
	filestat() {
		return this.fs.fstatSync(this.fd, { bigint: true });
	}
	close() {
		if (this.fd > 2)
			this.fs.closeSync(this.fd);
	}
}

/* a pipe whose writer ends before its reader starts */
class WasiBuffer {
	constructor() {
		this.parts = [];
		this.at = 0;
		this.users = 1;
	}
	read(p) {
		let n = 0;
		while (n < p.length && this.parts.length) {
			let part = this.parts[0];
			let k = Math.min(p.length - n, part.length - this.at);
			p.set(part.subarray(this.at, this.at + k), n);
			n += k;
			this.at += k;
			if (this.at === part.length) {
				this.parts.shift();
				this.at = 0;
			}
		}
		return n;
	}
	write(p) {
		this.parts.push(p.slice());
		return p.length;
	}
	close() {}
}

class WasiNull {
	constructor() {
		this.users = 1;
	}
	read() {
		return 0;
	}
	write(p) {
		return p.length;
	}
	close() {}
}

class WasiDirectory {
	constructor(fs, path) {
		Object.assign(this, { fs, path, users: 1 });
	}
	filestat() {
		return this.fs.statSync(this.path, { bigint: true });
	}
	close() {}
}

function typeOf(s) {
	return s.isFile() ? WASI_TYPE.file : s.isDirectory() ? WASI_TYPE.directory
		: s.isSymbolicLink() ? WASI_TYPE.link
		: s.isCharacterDevice() ? WASI_TYPE.character
		: s.isBlockDevice() ? WASI_TYPE.block : WASI_TYPE.unknown;
}

/* ---- a program -------------------------------------------------------------------- */

/*
 * host: fs; env, an object; cwd, "/..."; module(name), its WebAssembly.Module or
 * null; path(absolute), a name for fs (missing: the same name); isatty(fd) of the
 * first three descriptors.
 */
class Wasi {
	constructor(host, args, standard) {
		Object.assign(this, { host, args, fs: host.fs });
		this.env = Object.entries({ ...host.env, PWD: host.cwd })
			.map(([k, v]) => k + "=" + v);
		this.fds = [...standard, new WasiDirectory(host.fs, this.native("/"))];
		this.fds[3].guest = "/";
		standard.forEach((f) => f.users++);
		this.text = new TextDecoder();
		this.bytes = new TextEncoder();
	}

	native(path) {
		return this.host.path ? this.host.path(path) : path;
	}

	/* the status in the form of waitpid() */
	run(module) {
		let imports = { wasi_snapshot_preview1: {}, nputools: {} };
		for (let { module: from, name } of WebAssembly.Module.imports(module))
			if (imports[from])
				imports[from][name] = this.call(name);
		this.instance = new WebAssembly.Instance(module, imports);
		this.memory = this.instance.exports.memory;
		try {
			this.instance.exports._start();
			return 0;
		} catch (e) {
			if (e instanceof WasiExit)
				return (e.code & 255) << 8;
			if (e instanceof WebAssembly.RuntimeError)
				return /unreachable/.test(e.message) ? 6 : 11;
			if (e instanceof RangeError) /* stack overflow */
				return 11;
			throw e;
		} finally {
			for (let i in this.fds)
				this.close(i);
		}
	}

	close(fd) {
		let f = this.at(fd);
		delete this.fds[fd];
		if (--f.users === 0)
			f.close();
	}

	/* converts failures of fs to WASI's numbers */
	call(name) {
		let f = this[name];
		if (!f)
			return () => WASI_ERRNO.ENOSYS;
		return (...args) => {
			try {
				let r = f.apply(this, args);
				return r === undefined ? 0 : r;
			} catch (e) {
				if (!e.code || e instanceof WasiExit ||
				    e instanceof WebAssembly.RuntimeError)
					throw e;
				if (this.host.failed)
					this.host.failed(e);
				return WASI_ERRNO[e.code] || WASI_ERRNO.EIO;
			}
		};
	}

	/* ---- memory ---- */

	get view() {
		return new DataView(this.memory.buffer);
	}
	array(p, n) {
		return new Uint8Array(this.memory.buffer, p, n);
	}
	string(p, n) {
		return this.text.decode(this.array(p, n));
	}
	u32(p, v) {
		this.view.setUint32(p, v, true);
	}
	u64(p, v) {
		this.view.setBigUint64(p, BigInt(v), true);
	}
	parts(p, n) {
		let v = this.view;
		return Array.from({ length: n }, (_, i) => this.array(
			v.getUint32(p + 8 * i, true), v.getUint32(p + 8 * i + 4, true)));
	}
	at(fd) {
		return this.fds[fd] || fail("EBADF");
	}

	/* ---- arguments, environment, time ---- */

	list_sizes(list, n, size) {
		this.u32(n, list.length);
		this.u32(size, list.reduce(
			(sum, s) => sum + this.bytes.encode(s).length + 1, 0));
	}
	list_get(list, p, text) {
		for (let s of list) {
			let b = this.bytes.encode(s + "\0");
			this.u32(p, text);
			this.array(text, b.length).set(b);
			p += 4;
			text += b.length;
		}
	}
	args_sizes_get(n, size) { this.list_sizes(this.args, n, size); }
	args_get(p, text) { this.list_get(this.args, p, text); }
	environ_sizes_get(n, size) { this.list_sizes(this.env, n, size); }
	environ_get(p, text) { this.list_get(this.env, p, text); }
	clock_res_get(id, p) { this.u64(p, 1000); }
	clock_time_get(id, precision, p) {
		let ms = id === 0 ? Date.now() : performance.now();
		this.u64(p, BigInt(Math.round(ms * 1e6)));
	}
	random_get(p, n) {
		crypto.getRandomValues(this.array(p, n));
	}
	proc_exit(code) {
		throw new WasiExit(code);
	}
	sched_yield() {}
	/* waits for one clock, as nanosleep() requests */
	poll_oneoff(subscriptions, events, n, n_events) {
		let ns = this.view.getBigUint64(subscriptions + 24, true);
		sleep(Number(ns) / 1e6);
		this.array(events, 32).fill(0);
		this.u64(events, this.view.getBigUint64(subscriptions, true));
		this.u32(n_events, 1);
	}

	/* ---- descriptors ---- */

	fd_close(fd) {
		this.close(fd);
	}
	fd_fdstat_get(fd, p) {
		let f = this.at(fd), type = WASI_TYPE.unknown, rights = -1n;
		if (f instanceof WasiDirectory)
			type = WASI_TYPE.directory;
		else if (f.stat)
			type = typeOf(f.stat);
		if (f.isTerminal)
			rights &= ~WASI_SEEK;
		this.array(p, 24).fill(0);
		this.view.setUint8(p, type);
		this.view.setUint16(p + 2, f.append ? 1 : 0, true);
		this.view.setBigInt64(p + 8, rights, true);
		this.view.setBigInt64(p + 16, -1n, true);
	}
	fd_fdstat_set_flags(fd) {
		this.at(fd);
	}
	put_filestat(p, s) {
		this.array(p, 64).fill(0);
		if (!s)
			return;
		this.u64(p, BigInt.asUintN(64, s.dev));
		this.u64(p + 8, BigInt.asUintN(64, s.ino));
		this.view.setUint8(p + 16, typeOf(s));
		this.u64(p + 24, s.nlink);
		this.u64(p + 32, s.size);
		this.u64(p + 48, s.mtimeNs || 0n);
	}
	fd_filestat_get(fd, p) {
		let f = this.at(fd);
		this.put_filestat(p, f.filestat && f.filestat());
	}
	fd_filestat_set_size(fd, n) {
		this.fs.ftruncateSync(this.at(fd).fd, Number(n));
	}
	fd_read(fd, iovs, n, read) {
		let f = this.at(fd), sum = 0;
		if (f instanceof WasiDirectory)
			fail("EISDIR");
		for (let p of this.parts(iovs, n)) {
			let k = p.length ? f.read(p) : 0;
			sum += k;
			if (k < p.length)
				break;
		}
		this.u32(read, sum);
	}
	fd_pread(fd, iovs, n, offset, read) {
		let f = this.at(fd), at = Number(offset), sum = 0;
		if (!f.stat || !f.stat.isFile())
			fail("ESPIPE");
		for (let p of this.parts(iovs, n)) {
			let k = f.read(p, at + sum);
			sum += k;
			if (k < p.length)
				break;
		}
		this.u32(read, sum);
	}
	fd_write(fd, iovs, n, written) {
		let f = this.at(fd), sum = 0;
		for (let p of this.parts(iovs, n))
			for (let at = 0; at < p.length;) {
				let k = f.write(p.subarray(at));
				at += k;
				sum += k;
			}
		this.u32(written, sum);
	}
	fd_sync(fd) {
		this.fs.fsyncSync(this.at(fd).fd);
	}
	fd_seek(fd, offset, whence, p) {
		let f = this.at(fd);
		if (!f.stat || f.position === null)
			fail("ESPIPE");
		let base = whence === 0 ? 0 : whence === 1 ? f.position
			: Number(f.filestat().size);
		if (base + Number(offset) < 0)
			fail("EINVAL");
		f.position = base + Number(offset);
		this.u64(p, f.position);
	}
	fd_tell(fd, p) {
		this.fd_seek(fd, 0n, 1, p);
	}
	fd_prestat_get(fd, p) {
		let f = this.at(fd);
		if (!f.guest)
			fail("EBADF");
		this.u32(p, 0);
		this.u32(p + 4, f.guest.length);
	}
	fd_prestat_dir_name(fd, p, n) {
		this.array(p, n).set(this.bytes.encode(this.at(fd).guest).subarray(0, n));
	}
	fd_readdir(fd, p, n, cookie, used) {
		let f = this.at(fd), end = p + n, start = p;
		if (cookie === 0n || !f.entries)
			f.entries = this.fs.readdirSync(f.path);
		for (let i = Number(cookie); i < f.entries.length && p < end; i++) {
			let name = this.bytes.encode(f.entries[i]);
			let entry = new Uint8Array(24 + name.length);
			let v = new DataView(entry.buffer);
			v.setBigUint64(0, BigInt(i + 1), true);
			v.setUint32(16, name.length, true);
			entry.set(name, 24);
			let k = Math.min(entry.length, end - p);
			this.array(p, k).set(entry.subarray(0, k));
			p += k;
		}
		this.u32(used, p - start);
	}

	/* ---- names ---- */

	/* a name in the directory fd: returns the absolute name, as fs expects it */
	name(fd, p, n) {
		let path = this.string(p, n), f = this.at(fd);
		if (f.guest)
			return this.native(f.guest + path);
		return f.path + "/" + path;
	}
	path_open(fd, lookup, p, n, flags, rights, inheriting, fdflags, out) {
		let path = this.name(fd, p, n), read = rights & 2n, write = rights & 64n;
		let is = null;
		try {
			is = lookup & 1 ? this.fs.statSync(path)
				: this.fs.lstatSync(path);
		} catch (e) {
			if (!(flags & 1) || e.code !== "ENOENT")
				throw e;
		}
		if (is && is.isSymbolicLink())
			fail("ELOOP");
		if (is && flags & 4)
			fail("EEXIST");
		if (flags & 2 && !is.isDirectory())
			fail("ENOTDIR");
		let f;
		if (is && is.isDirectory()) {
			if (write && !(flags & 2))
				fail("EISDIR");
			f = new WasiDirectory(this.fs, path);
		} else {
			f = this.open_file(path, flags, read, write, fdflags);
		}
		let i = 0;
		while (this.fds[i])
			i++;
		this.fds[i] = f;
		this.u32(out, i);
	}
	open_file(path, flags, read, write, fdflags) {
		let c = this.fs.constants, append = fdflags & 1;
		let how = (write ? read ? c.O_RDWR : c.O_WRONLY : c.O_RDONLY) |
			(flags & 1 ? c.O_CREAT : 0) | (flags & 4 ? c.O_EXCL : 0) |
			(flags & 8 ? c.O_TRUNC : 0) | (append ? c.O_APPEND : 0);
		let fd = this.fs.openSync(path, how, 0o666);
		let f = new WasiFile(this.fs, fd, 0, append);
		if (!f.stat.isFile())
			f.position = null;
		return f;
	}
	path_filestat_get(fd, lookup, p, n, out) {
		let path = this.name(fd, p, n), options = { bigint: true };
		this.put_filestat(out, lookup & 1 ? this.fs.statSync(path, options)
			: this.fs.lstatSync(path, options));
	}
	path_create_directory(fd, p, n) {
		this.fs.mkdirSync(this.name(fd, p, n));
	}
	path_unlink_file(fd, p, n) {
		this.fs.unlinkSync(this.name(fd, p, n));
	}
	path_remove_directory(fd, p, n) {
		this.fs.rmdirSync(this.name(fd, p, n));
	}
	path_rename(fd, p, n, to, q, m) {
		this.fs.renameSync(this.name(fd, p, n), this.name(to, q, m));
	}
	path_readlink(fd, p, n, buf, size, used) {
		let to = this.bytes.encode(this.fs.readlinkSync(this.name(fd, p, n)));
		let k = Math.min(to.length, size);
		this.array(buf, k).set(to.subarray(0, k));
		this.u32(used, k);
	}

	/* ---- npucc's stages ---- */

	run_program(args, standard) {
		let module = this.host.module(args[0]);
		return module ? new Wasi(this.host, args, standard).run(module) : -1;
	}
	buffer() {
		let i = 3;
		while (this.fds[i])
			i++;
		this.fds[i] = new WasiBuffer();
		return i;
	}
}

/* run is an import of this class only: it starts a program */
Wasi.prototype.call = (function (call) {
	return function (name) {
		if (name !== "run")
			return call.apply(this, arguments);
		return (argv, argc, ...fds) => {
			let v = this.view, args = [];
			for (let i = 0; i < argc; i++) {
				let p = v.getUint32(argv + 4 * i, true), end = p;
				while (v.getUint8(end))
					end++;
				args.push(this.string(p, end - p));
			}
			return this.run_program(args, fds.map(
				(fd) => fd < 0 ? new WasiNull() : this.at(fd)));
		};
	};
})(Wasi.prototype.call);

if (typeof module !== "undefined")
	module.exports = { Wasi, WasiBuffer, WasiFile, WasiNull };
