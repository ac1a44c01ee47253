#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An architecture search: the fastest of many networks in so many bytes of SRAM.

usage: search.py SRAM_BYTES STEPS MODEL.tflite...     the candidates, in some order of size

A random walk asks npu-sweep for one candidate after the other.  What was asked before is in
the store, so that a search that goes on, or another one, does not compile it again.  With
Optuna, score() is the objective: study.optimize(lambda t: score(models[t.suggest_int("model",
0, len(models) - 1)], sram), n_trials=steps).
"""
import json, random, subprocess, sys

SWEEP = ["npu-sweep", "--results=search.results", "--json", "--limits=8", "--timeout=60",
         "--accelerator-config=ethos-u55-128", "--memory-mode=Shared_Sram",
         "--system-config=Ethos_U55_High_End_Embedded"]


def score(model, sram):
    """milliseconds of the fastest plan in so much SRAM; infinite: there is none"""
    rows = json.loads(subprocess.run(SWEEP + ["--", model], capture_output=True).stdout or "[]")
    fits = [r["ms"] for r in rows if r["status"] == "ok" and r["sram"] <= sram]
    return min(fits, default=float("inf"))


def main():
    sram, steps, models = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    random.seed(1)
    at = random.randrange(len(models))
    best = score(models[at], sram)
    for _ in range(steps):
        near = min(max(at + random.choice((-2, -1, 1, 2)), 0), len(models) - 1)
        ms = score(models[near], sram)
        if ms <= best:
            at, best = near, ms
    print(f"{models[at]}\t{best}")


main()
