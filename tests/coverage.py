#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Builds the host tests with gcc --coverage, runs them, and prints for each file of
sched/ and kernel/engine/ how many of its lines some test reached, and the ranges
that none did. Exits 1 when a test fails."""

import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

REPO = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(REPO, "tests"))

import hostbuild  # noqa: E402

JOBS = 2
FOLDERS = ("sched/", "kernel/engine/")
# Unoptimised: a line is a line.
FLAGS = ("--coverage", "-O0", "-fprofile-update=atomic")


def instrumented(program):
    return program._replace(flags=program.flags + FLAGS)


def build_and_run(program):
    """-> what the tests that failed said"""
    files = hostbuild.sources_of(program)
    objects = [hostbuild.object_path("gcc", s, program.flags) for s in files]
    target = hostbuild.object_path("gcc", program.path, program.flags)[:-len(".c.o")]
    hostbuild.run_command(["gcc", "-fsanitize=address,undefined", "--coverage", *objects, "-o",
                           target, "-lcmocka", "-lm"])
    return [f"{program.name}.{name}\n{text}" for name, ok, text in
            hostbuild.run_program(os.path.join(REPO, target)) if not ok]


def data_files(programs):
    """What the runs left, one file an object; folders may be shared by programs."""
    folders = {hostbuild.object_path("gcc", "", p.flags)[:-len(".o")] for p in programs}
    return [f for d in sorted(folders)
            for f in glob.glob(os.path.join(REPO, d, "**", "*.gcda"), recursive=True)]


def read_counts(path, counts):
    """Adds the execution counts of an object to counts[file][line]."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", path], cwd=REPO,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    for text in done.stdout.splitlines():
        for f in json.loads(text)["files"]:
            name = os.path.normpath(f["file"])
            if name.startswith(FOLDERS):
                for line in f["lines"]:
                    counts[name][line["line_number"]] += line["count"]


def ranges(lines, all_lines):
    """[(first, last)] of lines; lines without code between two do not part them."""
    result, previous = [], None
    for line in all_lines:
        if line not in lines:
            previous = None
        elif previous is None:
            result.append([line, line])
            previous = line
        else:
            result[-1][1] = previous = line
    return result


def report(counts):
    total = reached = 0
    print(f"{'file':<32}{'lines':>7}{'reached':>9}")
    for name in sorted(counts):
        lines = counts[name]
        hit = sum(c > 0 for c in lines.values())
        total += len(lines)
        reached += hit
        print(f"{name:<32}{len(lines):>7}{100 * hit / len(lines):>8.1f}%")
    print(f"{'all':<32}{total:>7}{100 * reached / max(total, 1):>8.1f}%")
    print("\nnever reached:")
    for name in sorted(counts):
        missed = {line for line, c in counts[name].items() if not c}
        for first, last in ranges(missed, sorted(counts[name])):
            print(f"{name}:{first}" + (f"-{last}" if last > first else ""))


def main():
    programs = [instrumented(p) for p in hostbuild.programs()]
    failed = []
    for path in data_files(programs):
        os.unlink(path)
    jobs = sorted({(s, p.flags) for p in programs for s in hostbuild.sources_of(p)})
    try:
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(lambda job: hostbuild.compile_object("gcc", *job), jobs))
            for bad in pool.map(build_and_run, programs):
                failed += bad
    except hostbuild.BuildError as e:
        print(e)
        return 1
    counts = collections.defaultdict(collections.Counter)
    for path in data_files(programs):
        read_counts(path, counts)
    report(counts)
    for text in failed:
        print(f"FAILED: {text}")
    return 1 if failed or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
