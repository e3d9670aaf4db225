# SPDX-License-Identifier: MIT
"""The native program with a thread per CPU, under ThreadSanitizer, with the debug
build's invariants: whatever it reports is a race of the kernel."""

import json
import os
import re
import subprocess

import pytest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDER = os.path.join(REPO, "build", "debug", "host-thread")
HANG_S = 120  # a hang detector, not a target
RACE_STATUS = 66
TINY_SLICES = "arms=tiny:MIN_GRANULARITY=100000+LATENCY=100000"


def run(shape, *args, program="anechoic-threads"):
    """-> exit status, output, frames by type (the last of each)"""
    env = dict(os.environ, TSAN_OPTIONS=f"exitcode={RACE_STATUS} halt_on_error=0 atexit_sleep_ms=0")
    done = subprocess.run([os.path.join(FOLDER, program), "--smp", shape, *args], cwd=REPO,
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=HANG_S, check=False)
    frames = {}
    for line in done.stdout.splitlines():
        if line.startswith("@{"):
            frame = json.loads(line[1:])
            frames[frame["type"]] = frame
    return done.returncode, done.stdout, frames


def without_races(shape, *args, status=0):
    code, text, frames = run(shape, *args)
    assert "ThreadSanitizer" not in text, text[:6000]
    assert code == status, f"status {code}\n{text[-3000:]}"
    return text, frames


@pytest.mark.parametrize("shape", ["1x1x1", "1x3x1", "1x5x1", "1x7x1", "2x2x2"])
def test_stress(shape):
    _, frames = without_races(shape, "exec=live", "bench=stress", "runtime_s=1", TINY_SLICES)
    assert frames["end"]["status"] == "ok"
    if shape != "1x1x1":
        assert frames["result"]["metrics"]["moves_per_s"] > 0


# Arms that take other paths of the idle search and of waking.
@pytest.mark.parametrize("arm", ["default", "v5.2", "x:NO_TTWU_QUEUE+NEXT_BUDDY+CHILD_RUNS_FIRST",
                                 "y:NO_IDLE_PULL+SIS_AVG_CPU+NO_WA_IDLE"])
def test_stress_of_arms(arm):
    without_races("1x3x2", "exec=live", "bench=stress", "runtime_s=0.5", f"arms={arm}")


def test_workloads():
    without_races("2x2x1", "exec=live", "bench=hackbench,messaging,pingpong,spinners,sysbench,"
                  "oracle_model,dbench,tbench,udp_rr,tcp_stream,make,make_schbench,reweight",
                  "groups=1", "loops=10", "n=3", "users=3", "nr_pct=100", "jobs=6",
                  "total_jobs=20", "job_ms=5", "calls=10000", "group_depth=2", "groups_of=2",
                  "workers=2", "warmup_s=0.1", "runtime_s=0.2", "runs=2")


def test_selftests():
    text, _ = without_races("2x2x1", "exec=live", "selftest")
    assert re.search("^selftest mutex: passed$", text, re.MULTILINE)


# Reports read what other CPUs go on changing.
@pytest.mark.parametrize("name", ["lockcycle", "lostwakeup", "churn"])
def test_reports_of_failed_runs(name):
    limit = "0.1" if name == "churn" else "2"
    text, frames = without_races("2x2x1", "exec=live", f"selftest={name}", f"vlimit_s={limit}",
                                 status=1)
    assert re.search("^run failed at ", text, re.MULTILINE)
    assert frames["end"]["status"] == "failed"


def test_smp_gives_the_digest_of_host():
    args = ("bench=stress", "runtime_s=0.02")
    _, smp = without_races("1x3x2", "exec=smp", *args)
    _, host = without_races("1x3x2", "exec=host", *args)
    assert smp["digest"] == host["digest"]


def test_a_planted_race_is_reported():
    """Locks that order nothing; on x86 the run itself mostly goes well."""
    code, text, _ = run("1x3x1", "exec=live", "bench=stress", "runtime_s=0.1",
                             program="anechoic-threads-planted")
    assert "WARNING: ThreadSanitizer: data race" in text
    assert code in (RACE_STATUS, 1)
