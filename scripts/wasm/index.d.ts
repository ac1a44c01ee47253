/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the package nputools.  The page API.md describes the functions. */

/** Names of the programs, such as "npucc". */
export function programs(): string[];

/**
 * Runs a program on the files and streams of this process, as npx does.  Returns its exit
 * status; 128 plus the signal if a signal ended it, and 2 if there is no such program.
 */
export function main(name: string, args: string[]): number;

/** As main(), but returns the status as waitpid(2) has it: the exit status times 256. */
export function run(name: string, args: string[]): number;

/** Files in memory, by their names: no directories. */
export interface Files {
	[name: string]: Uint8Array;
}

export interface Result {
	/** the exit status: 0 done or yes, 1 the answer is no, 2 an error */
	status: number;
	/** what the program printed to its standard output and error */
	stdout: string;
	stderr: string;
	/** all files after the run, those that were passed and those that the program wrote */
	files: Files;
}

/**
 * Runs a program on files in memory: it sees no other file, and nothing is written to the
 * disk.
 */
export function call(name: string, args: string[], files?: Files): Result;

/** The directory with share/nputools/npu.mk, share/cmake and the manual in share/doc. */
export const prefix: string;

/** For tests: the Windows name in a POSIX name. */
export function windowsPath(name: string): string;
