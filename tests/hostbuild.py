# SPDX-License-Identifier: MIT
"""Builds and runs the host unit tests: every tests/host/test_*.c is one cmocka
program. A comment in its first lines names what it is linked with:

    /* sources: sched/topo.c kernel/lib/*.c tests/host/panic_host.c */

Objects are shared between programs and rebuilt when a file they include is newer."""

import glob
import os
import re
import subprocess

REPO = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
COMPILERS = ("gcc", "clang")
CFLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
          "-Wno-comment",  # globs in the sources comment contain "/*"
          "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
          "-fno-omit-frame-pointer", "-DANECHOIC_DEBUG",
          "-I", "tests/host/env", "-I", "."]
# The compiler's own names for these functions are libc's and the sanitizers'.
NOT_ON_HOST = {"kernel/lib/string.c"}
SOURCES = re.compile(r"/\*\s*sources:(.*?)\*/(?!\S)", re.DOTALL)
RUN_TIMEOUT_S = 300


class BuildError(Exception):
    """The compiler's output."""


def programs():
    paths = glob.glob(os.path.join(REPO, "tests", "host", "test_*.c"))
    return sorted(os.path.relpath(p, REPO) for p in paths)


def sources_of(program):
    """The files a program is linked with, itself first."""
    with open(os.path.join(REPO, program), encoding="utf-8") as f:
        head = "".join(line for line, _ in zip(f, range(20)))
    found = SOURCES.search(head)
    if not found:
        raise BuildError(f"{program}: no /* sources: ... */ in its first 20 lines")
    files = [program]
    for pattern in found.group(1).replace("\n", " ").split():
        if pattern == "*":
            continue
        hits = sorted(glob.glob(os.path.join(REPO, pattern)))
        hits = [os.path.relpath(h, REPO) for h in hits]
        if not hits:
            raise BuildError(f"{program}: sources: {pattern} matches no file")
        files += [h for h in hits if h not in NOT_ON_HOST and h not in files]
    return files


def object_path(compiler, source):
    return os.path.join("build", "host-tests", compiler, source[:-2] + ".o")


def run_command(argv):
    done = subprocess.run(argv, cwd=REPO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode:
        raise BuildError(" ".join(argv) + "\n" + done.stdout)


def is_current(target, stamp_files):
    """True when the target exists and none of the files is newer or gone."""
    try:
        made = os.stat(target).st_mtime_ns
        return all(os.stat(f).st_mtime_ns <= made for f in stamp_files)
    except OSError:
        return False


def dependencies(obj):
    """What the compiler wrote beside the object about the files it read."""
    try:
        with open(obj[:-2] + ".d", encoding="utf-8") as f:
            text = f.read().replace("\\\n", " ")
    except OSError:
        return None
    files = text.split(":", 1)[1].split()
    return [os.path.join(REPO, name) for name in files]


def compile_object(compiler, source):
    obj = object_path(compiler, source)
    full = os.path.join(REPO, obj)
    deps = dependencies(full)
    if deps and is_current(full, deps + [os.path.realpath(__file__)]):
        return
    os.makedirs(os.path.dirname(full), exist_ok=True)
    run_command([compiler, *CFLAGS, "-MD", "-c", source, "-o", obj])


def link(compiler, program):
    objects = [object_path(compiler, s) for s in sources_of(program)]
    target = object_path(compiler, program)[:-2]
    if not is_current(os.path.join(REPO, target), [os.path.join(REPO, o) for o in objects]):
        run_command([compiler, "-fsanitize=address,undefined", *objects, "-o", target,
                     "-lcmocka", "-lm"])
    return os.path.join(REPO, target)


def run_program(path):
    """-> list of (test name, passed, output). A program that stops before its
    plan is done, or exits nonzero with all tests passed, fails as itself."""
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", UBSAN_OPTIONS="print_stacktrace=1")
    try:
        done = subprocess.run([path], cwd=REPO, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=RUN_TIMEOUT_S, check=False)
        output, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as e:
        output = (e.stdout or b"").decode(errors="replace")
        code = f"none, stopped after {RUN_TIMEOUT_S} s"
    return judge(output, code)


def judge(output, code):
    planned, results = 0, []
    for line in output.splitlines():
        if re.fullmatch(r"1\.\.\d+", line):
            planned += int(line[3:])
        found = re.match(r"(not )?ok \d+ - (.*)", line)
        if found:
            results.append([found.group(2), not found.group(1), ""])
        elif results and not results[-1][1] and line.startswith("#"):
            results[-1][2] += line + "\n"
    if len(results) != planned or not planned or (code != 0 and all(r[1] for r in results)):
        results.append(["whole program", False,
                        f"{len(results)} of {planned} planned tests ended, exit status {code}\n"
                        + output[-6000:]])
    return [tuple(r) for r in results]
