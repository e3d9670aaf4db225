#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Builds and runs the libFuzzer targets tests/fuzz/*.c (those that have
LLVMFuzzerTestOneInput), with clang under ASan and UBSan. Comments in their first
lines say what they are linked with, as in tests/hostbuild.py, and what libFuzzer is
told (fuzz:), and how many inputs `make test` tries (runs:). Inputs to start from
are tests/fuzz/corpus/TARGET/*.

    tests/fuzzing.py --seconds 60            all targets, side by side
    tests/fuzzing.py --seconds 60 cmdline    that one
    build/fuzz/cmdline FILE                  one input again

An input that crashes is kept in build/fuzz/crashes."""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(REPO, "tests"))

import hostbuild  # noqa: E402

JOBS = 2
RUNS = 20000         # inputs of a target that does not say how many
PLANTED = "boot_info"  # the target that can be built with a fault, -DFUZZ_PLANT
INPUT_TIMEOUT_S = 20
BUILD = os.path.join("build", "fuzz")
DEFAULT_FLAGS = ("-I", "tests/host/env")
LINK = ["-fsanitize=fuzzer,address,undefined"]


def targets():
    names = []
    for path in sorted(glob.glob(os.path.join(REPO, "tests", "fuzz", "*.c"))):
        with open(path, encoding="utf-8") as f:
            if "LLVMFuzzerTestOneInput" in f.read():
                names.append(os.path.basename(path)[:-2])
    return names


def build(name, extra=()):
    """-> path of the program"""
    path = os.path.join("tests", "fuzz", name + ".c")
    flags = tuple(hostbuild.declared(path, "flags") or DEFAULT_FLAGS) + \
        ("-fsanitize=fuzzer-no-link", *extra)
    files = hostbuild.sources_of(hostbuild.Program(name, path, flags))
    objects = []
    for source in files:
        hostbuild.compile_object("clang", source, flags)
        objects.append(hostbuild.object_path("clang", source, flags))
    target = os.path.join(BUILD, name + "-planted" * bool(extra))
    os.makedirs(os.path.join(REPO, BUILD), exist_ok=True)
    if not hostbuild.is_current(os.path.join(REPO, target),
                                [os.path.join(REPO, o) for o in objects]):
        hostbuild.run_command(["clang", *LINK, *objects, "-o", target, "-lm"])
    return target


def run(name, program, corpus, limits):
    """-> (exit status, inputs executed, output). New inputs go to corpus."""
    crashes = os.path.join(BUILD, "crashes")
    os.makedirs(os.path.join(REPO, crashes), exist_ok=True)
    seeds = os.path.join("tests", "fuzz", "corpus", name)
    argv = [program, corpus, seeds, "-print_final_stats=1", "-detect_leaks=0",
            *(hostbuild.declared(os.path.join("tests", "fuzz", name + ".c"), "fuzz") or ()),
            f"-timeout={INPUT_TIMEOUT_S}", "-rss_limit_mb=3000", "-reload=0",
            f"-artifact_prefix={crashes}/{name}-", *limits]
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0",
               UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1")
    done = subprocess.run(argv, cwd=REPO, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    found = re.search(r"number_of_executed_units: (\d+)", done.stdout)
    return done.returncode, int(found.group(1)) if found else 0, done.stdout


def what_failed(program, output):
    """The report of a crash, and how to see it again."""
    kept = re.search(r"Test unit written to (\S+)", output)
    lines = [line for line in output.splitlines()
             if not re.match(r"#\d+\s+(NEW|REDUCE|pulse|INITED|RELOAD)|INFO:", line)]
    return "\n".join(lines[:60]) + "\n" + \
        (f"replay: {program} {kept.group(1)}" if kept else "no input was kept")


def runs_of(name):
    return int((hostbuild.declared(os.path.join("tests", "fuzz", name + ".c"), "runs")
                or [RUNS])[0])


def run_fixed(name, extra=()):
    """The same inputs each time. -> (exit status, inputs, output, program)"""
    program = build(name, extra)
    with tempfile.TemporaryDirectory() as corpus:
        return *run(name, program, corpus, [f"-runs={runs_of(name)}", "-seed=1"]), program


def test_target(name):
    try:
        status, executed, output, program = run_fixed(name)
    except hostbuild.BuildError as e:
        return name, False, str(e)
    if status:
        return name, False, what_failed(program, output)
    return name, executed >= runs_of(name), f"only {executed} inputs ran\n{output[-2000:]}"


def test_planted():
    """The fuzzer finds a fault within its inputs, and keeps the input."""
    name = "finds a planted fault"
    try:
        status, _, output, program = run_fixed(PLANTED, ("-DFUZZ_PLANT",))
        kept = re.search(r"Test unit written to (\S+)", output)
        if not status or not kept:
            return name, False, output[-2000:]
        again = subprocess.run([program, kept.group(1)], cwd=REPO, stdin=subprocess.DEVNULL,
                               capture_output=True, check=False)
        healthy = subprocess.run([build(PLANTED), kept.group(1)], cwd=REPO,
                                 stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except hostbuild.BuildError as e:
        return name, False, str(e)
    os.unlink(os.path.join(REPO, kept.group(1)))
    return (name, again.returncode != 0 and healthy.returncode == 0,
            f"replayed: exit status {again.returncode}, without the fault {healthy.returncode}")


def test_group(only):
    """For tests/run: list of (name, passed, output)."""
    tests = {n: lambda n=n: test_target(n) for n in targets()}
    tests["finds a planted fault"] = test_planted
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        waiting = [pool.submit(t) for n, t in tests.items() if not only or only in n]
        results = [w.result() for w in waiting]
    return [(f"fuzz.{n}", ok, text) for n, ok, text in results]


def fuzz_for(name, seconds):
    program = build(name)
    corpus = os.path.join(BUILD, "corpus", name)
    os.makedirs(os.path.join(REPO, corpus), exist_ok=True)
    return program, *run(name, program, corpus, [f"-max_total_time={seconds}"])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--seconds", type=int, default=60, help="for all targets together")
    p.add_argument("target", nargs="*", help="one of: " + " ".join(targets()))
    opts = p.parse_args()
    names = opts.target or targets()
    for name in names:
        if name not in targets():
            p.error(f"no target {name}; there are: " + " ".join(targets()))
    if not shutil.which("clang"):
        print("clang is missing", file=sys.stderr)
        return 1
    try:
        for name in names:
            build(name)
    except hostbuild.BuildError as e:
        print(e)
        return 1
    each = max(1, opts.seconds * min(JOBS, len(names)) // len(names))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for name, result in zip(names, pool.map(lambda n: fuzz_for(n, each), names)):
            program, status, executed, output = result
            print(f"{name:<16}{executed:>10} inputs in {each} s{'  CRASH' if status else ''}",
                  flush=True)
            if status:
                failed += 1
                print(what_failed(program, output))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
