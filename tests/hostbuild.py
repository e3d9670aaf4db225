# SPDX-License-Identifier: MIT
"""Builds and runs the host unit tests: every tests/host/test_*.c is one cmocka
program. Comments in its first lines say what it is linked with and how it and
these files are compiled (none: with tests/host/env as the scheduler's door):

    /* sources: sched/topo.c kernel/lib/*.c tests/host/panic_host.c */
    /* flags: -I kernel/env */
    /* again: -UANECHOIC_DEBUG */

The last makes a second program, with these flags too. Objects are shared between
programs of the same flags and rebuilt when a file they include is newer."""

import collections
import glob
import os
import re
import subprocess

REPO = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
COMPILERS = ("gcc", "clang")
CFLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
          "-Wno-comment",  # globs in the sources comment contain "/*"
          "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
          "-fno-omit-frame-pointer", "-DANECHOIC_DEBUG", "-I", "."]
DEFAULT_FLAGS = ("-I", "tests/host/env")
# libc has functions of these names, and the sanitizers call them.
CFLAGS += [f"-D{name}=kernel_{name}" for name in ("sched_yield", "sem_init")]
# The compiler's own names for these functions are libc's and the sanitizers'.
NOT_ON_HOST = {"kernel/lib/string.c"}
RUN_TIMEOUT_S = 120

Program = collections.namedtuple("Program", "name path flags")


class BuildError(Exception):
    """The compiler's output."""


def declared(path, word):
    """The words of a comment that begins with word, in the first 20 lines; or None."""
    with open(os.path.join(REPO, path), encoding="utf-8") as f:
        head = "".join(line for line, _ in zip(f, range(20)))
    found = re.search(r"/\*\s*" + word + r":(.*?)\*/(?!\S)", head, re.DOTALL)
    return found and [w for w in found.group(1).split() if w != "*"]


def programs():
    """Every test file once, or twice if it says so."""
    result = []
    for path in sorted(glob.glob(os.path.join(REPO, "tests", "host", "test_*.c"))):
        path = os.path.relpath(path, REPO)
        name = os.path.basename(path)[:-2]
        flags = tuple(declared(path, "flags") or DEFAULT_FLAGS)
        again = declared(path, "again")
        result.append(Program(name, path, flags))
        if again:
            result.append(Program(name + "".join(again), path, flags + tuple(again)))
    return result


def sources_of(program):
    """The files a program is linked with, itself first."""
    patterns = declared(program.path, "sources")
    if patterns is None:
        raise BuildError(f"{program.path}: no /* sources: ... */ in its first 20 lines")
    files = [program.path]
    for pattern in patterns:
        hits = sorted(glob.glob(os.path.join(REPO, pattern)))
        hits = [os.path.relpath(h, REPO) for h in hits]
        if not hits:
            raise BuildError(f"{program.path}: sources: {pattern} matches no file")
        files += [h for h in hits if h not in NOT_ON_HOST and h not in files]
    return files


def object_path(compiler, source, flags):
    folder = re.sub(r"[^\w]+", "-", " ".join(flags)).strip("-")
    return os.path.join("build", "host-tests", compiler, folder, source + ".o")


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


def compile_object(compiler, source, flags):
    obj = object_path(compiler, source, flags)
    full = os.path.join(REPO, obj)
    deps = dependencies(full)
    if deps and is_current(full, deps + [os.path.realpath(__file__)]):
        return
    os.makedirs(os.path.dirname(full), exist_ok=True)
    run_command([compiler, *CFLAGS, *flags, "-MD", "-c", source, "-o", obj])


def link(compiler, program):
    objects = [object_path(compiler, s, program.flags) for s in sources_of(program)]
    target = object_path(compiler, program.path, program.flags)[:-len(".c.o")]
    if not is_current(os.path.join(REPO, target), [os.path.join(REPO, o) for o in objects]):
        run_command([compiler, "-fsanitize=address,undefined", *objects, "-o", target,
                     "-lcmocka", "-lm"])
    return os.path.join(REPO, target)


def run_program(path):
    """-> list of (test name, passed, output). A program that stops before its
    plan is done, or exits nonzero with all tests passed, fails as itself."""
    # The leak check at exit stops all threads with ptrace; where that is denied or
    # its tracer dies, it waits for ever. Nothing here frees: memory is arenas.
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", UBSAN_OPTIONS="print_stacktrace=1",
               ASAN_OPTIONS="detect_leaks=0")
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
