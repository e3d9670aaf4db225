# SPDX-License-Identifier: MIT
"""Runs the stanzas of scenarios.cfg, each once a test session, and judges them."""

import configparser
import contextlib
import fcntl
import json
import operator
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import expect_topology
import frames

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
CONFIG = os.path.join(HERE, "scenarios.cfg")
sys.path.insert(0, os.path.join(REPO, "tools", "lib"))
import machine  # noqa: E402

KEYS = {"image", "smp", "cpu", "numa", "qemu", "exec", "iso", "via", "args", "timeout", "status",
        "under_load", "lines", "no_lines", "stderr", "fields", "same_digest_as",
        "same_results_as", "same_probes_as", "no_frames", "only_end", "quiet",
        "ids", "shifts", "src", "vendor", "llc_src", "disabled", "warnings", "masks",
        "domains", "last_domains", "nodes"}
TIMED_OUT = 124
COMPARE = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
           "<=": operator.le, ">=": operator.ge}


def load(path=CONFIG):
    config = configparser.ConfigParser(interpolation=None, strict=True,
                                       default_section="every scenario")
    with open(path, encoding="utf-8") as f:
        config.read_file(f)
    stanzas = {name: dict(config[name]) for name in config.sections()}
    for name, stanza in stanzas.items():
        unknown = set(stanza) - KEYS
        if unknown:
            raise ValueError(f"{path}: [{name}] has unknown keys {sorted(unknown)}")
        for key in ("same_digest_as", "same_results_as", "same_probes_as"):
            for other in stanza.get(key, "").split():
                if other not in stanzas:
                    raise ValueError(f"{path}: [{name}] {key}: no stanza {other}")
    return stanzas


def argv_of(stanza, json_path):
    """The command of a stanza."""
    timeout = stanza.get("timeout", "60")
    args = shlex.split(stanza.get("args", ""))
    if stanza.get("via") == "plain":
        return [os.environ.get("QEMU", "qemu-system-x86_64"),
                "-kernel", os.path.join(REPO, "build", "anechoic.elf"),
                "-smp", machine.smp_text(stanza.get("smp", "2x2x2")), "-nographic",
                *shlex.split(stanza.get("qemu", "")), "-append", " ".join(args)]
    argv = [os.path.join(REPO, "tools", "run"), "--json", json_path, "--timeout", timeout]
    if "image" in stanza:
        argv += ["--image", os.path.join(REPO, stanza["image"])]
    for key in ("smp", "cpu", "numa", "qemu", "exec"):
        if key in stanza:
            argv += [f"--{key}", stanza[key]]
    if stanza.get("iso") == "yes":
        argv.append("--iso")
    return [*argv, "--", *args]


@contextlib.contextmanager
def load_on_host(wanted):
    """Two processes that compete for the host's cores."""
    spin = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(spin) for _ in range(2 if wanted else 0)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def execute(stanza):
    """-> {status, stdout, stderr, frames: [text], seconds, argv}"""
    with tempfile.TemporaryDirectory() as folder, load_on_host("under_load" in stanza):
        json_path = os.path.join(folder, "frames")
        argv = argv_of(stanza, json_path)
        start = time.monotonic()
        proc = subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)
        try:
            # tools/run keeps the time itself; what it needs to stop comes on top.
            out, err = proc.communicate(timeout=float(stanza.get("timeout", "60")) + 30)
            status = proc.returncode
        except subprocess.TimeoutExpired:
            os.killpg(proc.pid, signal.SIGKILL)
            out, err = proc.communicate()
            status = TIMED_OUT
        seconds = time.monotonic() - start
        out, err = (b.decode("utf-8", "replace").replace("\r\n", "\n") for b in (out, err))
        texts = []
        if stanza.get("via") == "plain":
            texts = [line[1:] for line in out.splitlines() if line.startswith("@{")]
        elif os.path.exists(json_path):
            with open(json_path, encoding="utf-8", errors="replace") as f:
                texts = f.read().splitlines()
    return {"status": status, "stdout": out, "stderr": err, "frames": texts,
            "seconds": seconds, "argv": argv}


def outcome(name, stanzas):
    """Runs a stanza, or takes what another test of this session got from it."""
    path = os.path.join(os.environ["ANECHOIC_TEST_SESSION"], name)
    with open(path + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            result = execute(stanzas[name])
            with open(path + ".new", "w", encoding="utf-8") as f:
                json.dump(result, f)
            os.rename(path + ".new", path)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def digest_of(result):
    for text in result["frames"]:
        frame = json.loads(text)
        if frame["type"] == "digest":
            return frame["value"]
    return None


def lookup(parsed, path):
    """'result[1].metrics.elapsed_s' -> its value. An index in [] counts frames of
    that type; a number between dots is an index into an array."""
    head, *rest = path.split(".")
    kind, number = re.fullmatch(r"(\w+)(?:\[(-?\d+)\])?", head).groups()
    value = [f for f in parsed if f["type"] == kind][int(number or 0)]
    for step in rest:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def field_faults(parsed, text):
    """One 'path OP value' a line; the value is JSON or another path."""
    for line in filter(None, (part.strip() for part in text.splitlines())):
        path, op, want = re.fullmatch(r"(\S+)\s*(!=|<=|>=|=|<|>)\s*(.+)", line).groups()
        try:
            got = lookup(parsed, path)
            try:
                value = json.loads(want)
            except ValueError:
                value = lookup(parsed, want)
            if not COMPARE[op](got, value):
                yield f"field {line}: it is {got!r}"
        except (LookupError, TypeError) as e:
            yield f"field {line}: {type(e).__name__} {e}"


def line_faults(text, wanted, what):
    for regex in filter(None, (part.strip() for part in wanted.splitlines())):
        if not re.search(regex, text, re.MULTILINE):
            yield f"no {what} line matches {regex}"


def faults(name, stanzas):
    """-> (what is wrong with a stanza's run, the run)"""
    stanza, result = stanzas[name], outcome(name, stanzas)
    found = []
    status = int(stanza.get("status", "0"))
    if result["status"] != status:
        found.append(f"exit status {result['status']}, not {status}")
    found += line_faults(result["stdout"], stanza.get("lines", ""), "console")
    found += line_faults(result["stderr"], stanza.get("stderr", ""), "stderr")
    found += [f"line matches {regex}" for regex in stanza.get("no_lines", "").splitlines()
              if regex and re.search(regex, result["stdout"], re.MULTILINE)]
    if "no_frames" in stanza and result["frames"]:
        found.append(f"there are frames: {result['frames'][0][:200]}")
    if "quiet" in stanza and (result["stdout"].strip() or result["frames"]):
        found.append("there is console output")
    bad_frames = frames.faults(result["frames"],
                               result["status"] == 0 and "only_end" not in stanza)
    if bad_frames:
        return found + bad_frames, result
    parsed = [json.loads(text) for text in result["frames"]]
    if "only_end" in stanza and [f["type"] for f in parsed] != ["end"]:
        found.append(f"frames {[f['type'] for f in parsed]}, not end alone")
    found += field_faults(parsed, stanza.get("fields", ""))
    found += digest_faults(stanza, result, stanzas)
    if "ids" in stanza:
        found += topology_faults(stanza, result, parsed)
    return found, result


def digest_faults(stanza, result, stanzas):
    mine = digest_of(result)
    for other in stanza.get("same_digest_as", "").split():
        theirs = digest_of(outcome(other, stanzas))
        if mine is None or mine != theirs:
            yield f"digest {mine}, but {other} has {theirs}"
    for other in stanza.get("same_results_as", "").split():
        yield from result_faults(figures(result), figures(outcome(other, stanzas)), other)
    for other in stanza.get("same_probes_as", "").split():
        if not probes(result) or probes(result) != probes(outcome(other, stanzas)):
            yield f"probe frames differ from those of {other}"


def probes(result):
    return [text for text in result["frames"] if json.loads(text)["type"] == "probe"]


def figures(result):
    """(run, type) -> its figures, for results and counters."""
    parsed = [json.loads(frames.without_host(text)) for text in result["frames"]]
    return {(*frames.run_key(f), f["type"]): f.get("metrics") or f.get("counters")
            for f in parsed if f["type"] in ("result", "counters")}


def result_faults(mine, theirs, other):
    """Runs that both have must agree, whatever stands beside them."""
    common = mine.keys() & theirs.keys()
    if not common:
        yield f"no run in common with {other}"
    for key in sorted(common):
        if mine[key] != theirs[key]:
            yield f"{key}: {mine[key]}, but {other} has {theirs[key]}"


def topology_faults(stanza, result, parsed):
    expected = expect_topology.from_stanza(stanza)
    found = expect_topology.check_table(expected, stanza)
    found += expect_topology.check_log(expected, stanza, result["stdout"])
    topology = [f for f in parsed if f["type"] == "topology"]
    if topology:
        found += expect_topology.check_frame(expected, stanza, topology[0])
    else:
        found.append("no topology frame")
    return found
