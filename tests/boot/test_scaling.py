# SPDX-License-Identifier: MIT
"""Sanity that any result must obey, whatever the model's constants."""

import json
import os
import re

import harness
import pytest

STANZAS = harness.load()


def frames_of(name, kind, **params):
    """The frames of a type with these parameters."""
    parsed = [json.loads(text) for text in harness.outcome(name, STANZAS)["frames"]]
    return [f for f in parsed if f["type"] == kind
            and all(f["params"].get(k) == v for k, v in params.items())]


def times(name, **params):
    """mean elapsed virtual time of the three seeds with these parameters"""
    found = [f["value"] for f in frames_of(name, "result", **params)]
    assert len(found) == 3, f"{name} {params}: {found}"
    return sum(found) / 3


def tasks(name, **params):
    """CPU time and work of each task, ns"""
    (frame,) = frames_of(name, "counters", **params)
    return frame["counters"]["task_cpu_ns"], frame["counters"]["task_work_ns"]


def test_sixteen_cpus_are_four_times_as_fast_as_one():
    assert times("scale-1", loops=200) >= 4 * times("scale-16", loops=200)


@pytest.mark.parametrize("machine", ["scale-1", "scale-16"])
def test_twice_the_loops_take_twice_the_time(machine):
    assert 1.8 < times(machine, loops=400) / times(machine, loops=200) < 2.2


def test_two_spinners_on_a_cpu_get_half_each():
    (a, b), _ = tasks("share-equal")
    assert abs(a / (a + b) - 0.5) < 0.005


def test_nice_0_and_nice_5_share_as_their_weights():
    (a, b), _ = tasks("share-nice")
    assert abs(a / b / (1024 / 335) - 1) < 0.01


def smt_speed():
    """Of the generic machine, with two busy siblings: the second figure of its speeds."""
    with open(os.path.join(harness.REPO, "kernel/engine/machines.def"), encoding="utf-8") as f:
        row = re.search(r'MACHINE\("generic",[^\n]*\n\s*100, (\d+),', f.read())
    return int(row[1]) / 100


def test_busy_smt_siblings_run_at_the_profiles_speed():
    (cpu,), (work,) = tasks("share-smt", n=1)
    assert abs(work / cpu - 1) < 0.01
    for cpu, work in zip(*tasks("share-smt", n=2)):
        assert abs(work / cpu / smt_speed() - 1) < 0.01


def test_busy_and_idle_time_make_up_all_time():
    (counters,) = frames_of("spinners-idle", "counters")
    (result,) = frames_of("spinners-idle", "result")
    c = counters["counters"]
    assert abs(c["window_ns"] / 0.5e9 - 1) < 0.001
    busy = result["metrics"]["busy_cpus"] * c["window_ns"]
    whole = 16 * c["window_ns"]
    kernel = sum(p["ns"] for p in c["paths"].values())
    assert abs(c["work_ns"] / busy - 1) < 0.001
    assert abs(c["idle_ns"] + c["work_ns"] + kernel - whole) < 0.001 * whole
    # CPU 0 keeps its tick: each wakes it from its deepest state.
    assert kernel < 0.01 * whole


def test_work_is_not_more_than_the_cpus_can_do():
    (result,) = frames_of("spinners-many-entries", "result")
    # 8 cores of two threads at 62 % each; the profile is generic.
    assert result["metrics"]["work_cpus"] <= 8 * 1.24 * 1.001
