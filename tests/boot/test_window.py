# SPDX-License-Identifier: MIT
"""Counters are of the measured window: whatever the warm-up was."""

import json
import os
import subprocess

import harness
import pytest

HOST = os.path.join(harness.REPO, "build/host/anechoic-host")


def frames(kind, *words):
    done = subprocess.run([HOST, *words], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60)
    parsed = [json.loads(line[1:]) for line in done.stdout.splitlines() if line.startswith("@{")]
    return [f for f in parsed if f["type"] == kind]


@pytest.mark.parametrize("warmup", ["0", "1", "3"])
def test_wakeups_are_those_of_the_samples(warmup):
    words = ("topo=1x4x2", "bench=schbench", "messengers=1", "workers=2", "runtime_s=3",
             f"warmup_s={warmup}")
    (result,) = frames("result", *words)
    (counters,) = frames("counters", *words)
    c = counters["counters"]
    # A worker's wake-up, and its messenger's: once posted, once by the timer.
    assert 1.9 < c["wakeups"] / result["samples"] < 2.6
    assert sum(c["distance_prev"]) <= c["wakeups"]
    assert c["wake_latency_samples"] <= c["wakeups"] + c["wakeups_new"] + 2
    assert abs(c["window_ns"] / 3e9 - 1) < 0.001


def test_lines_paths_and_idleness_scale_with_the_window():
    half, whole = (frames("counters", "topo=1x2x2", "bench=pingpong", "n=3", "warmup_s=0.2",
                          f"runtime_s={t}")[0]["counters"] for t in ("0.2", "0.4"))
    for pick in (lambda c: c["lines"]["RQ_LOCK"]["writes"], lambda c: c["paths"]["WAKEUP"]["ns"],
                 lambda c: c["work_ns"], lambda c: c["irqs"], lambda c: c["switches"]):
        assert 1.8 < pick(whole) / pick(half) < 2.2
