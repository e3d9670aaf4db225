# SPDX-License-Identifier: MIT
"""Negative controls: each fault of sched/plants.def, planted in the native debug
program, is found by the check named here; without it the same run passes."""

import functools
import os
import re
import subprocess

import pytest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
DEBUG = os.path.join(REPO, "build", "debug", "host", "anechoic-host")
RELEASE = os.path.join(REPO, "build", "host", "anechoic-host")
OK, FAILED, USAGE, PANIC = 0, 1, 2, 3

REMOTE = "bench=pingpong n=2 arms=x:NO_TTWU_QUEUE runtime_s=0.05 warmup_s=0"
HACKBENCH = "bench=hackbench groups=2 loops=20"
STRESS = "bench=stress runtime_s=0.05"
SPINNERS = "bench=spinners n=20 runtime_s=0.05 warmup_s=0"

# fault: run, exit status, what the check says
FOUND_BY = {
    "lost_wakeup": (HACKBENCH, FAILED, r"^run failed .*: no task can run and nothing is pending"),
    "double_enqueue": (HACKBENCH, PANIC, r"^PANIC: CPU \d+, queue of depth 0: "
                                         r"h_nr_running is not the tasks below; nr \d"),
    "min_vruntime_back": (SPINNERS, PANIC, r"^PANIC: CPU \d+, queue of depth 0: "
                                           r"min_vruntime went back; nr \d"),
    "sibling_weight": (HACKBENCH, PANIC, r"^PANIC: CPU 0: sibling weight 1 is not its core's"),
    "lost_tick": (SPINNERS, PANIC, r"^PANIC: CPU \d+: task \d+ ran \d{7,} ns without a tick"),
    "lost_resched": (REMOTE, PANIC, r"^PANIC: CPU \d+: task \d+ should be switched out, "
                                      r"and no IPI is on its way"),
    "lock_order": (HACKBENCH, PANIC, r"^PANIC: lock order: cpu \d+ takes rq \d+ "
                                     r"while it holds rq \d+"),
    "ignored_cpu": (HACKBENCH, PANIC, r"^PANIC: scan for task \d+ from CPU \d+ passed CPU 7, "
                                      r"which idles, found"),
    "no_renormalise": (HACKBENCH, PANIC, r"^PANIC: CPU \d+: a vruntime of -?\d+ is "
                                         r"renormalised \(in\) twice"),
    "lost_publish": (STRESS, PANIC, r"^PANIC: group of depth \d: load -?\d+, "
                                    r"contributions -?\d+"),
}


def planted():
    with open(os.path.join(REPO, "sched", "plants.def"), encoding="utf-8") as f:
        return re.findall(r"^PLANT\((\w+),", f.read(), re.M)


@functools.lru_cache(maxsize=None)
def run(program, args):
    return subprocess.run([program, "--smp", "2x4x2", *args.split()], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False)


def told(done):
    """What was printed, without frames."""
    return "\n".join(x for x in done.stdout.splitlines() if not x.startswith("@"))


def test_every_fault_has_a_check():
    assert sorted(planted()) == sorted(FOUND_BY)


@pytest.mark.parametrize("fault", FOUND_BY)
def test_a_planted_fault_is_found(fault):
    args, status, says = FOUND_BY[fault]
    clean = run(DEBUG, args)
    assert clean.returncode == OK, told(clean)
    done = run(DEBUG, f"{args} plant={fault}")
    assert done.returncode == status, told(done)
    assert re.search(says, done.stdout, re.M), told(done)


def test_a_violation_prints_the_state():
    done = run(DEBUG, f"{HACKBENCH} plant=double_enqueue")
    after = done.stdout[done.stdout.index("PANIC: "):]
    assert re.search(r"; (curr|entity): ", after)
    assert re.search(r"^runqueues:\ncpu \d+: curr \d+, \d+ running", after, re.M), after
    assert re.search(r"^last events:\n", after, re.M)


def test_the_fault_is_told_at_the_start_and_none_is_a_name():
    assert "plant: lost_wakeup\n" in run(DEBUG, f"{HACKBENCH} plant=lost_wakeup").stdout
    none = run(DEBUG, f"{HACKBENCH} plant=none")
    assert none.returncode == OK and "plant:" not in none.stdout


def test_debug_help_lists_the_faults():
    text = run(DEBUG, "help").stdout
    assert all(re.search(rf"^  {name}$", text, re.M) for name in planted()), text
    wrong = run(DEBUG, "plant=lost_wakup")
    assert wrong.returncode == USAGE
    assert "did you mean \"lost_wakeup\"?" in wrong.stdout


@pytest.mark.parametrize("fault", [*FOUND_BY, "none", "anything"])
def test_a_release_build_refuses(fault):
    done = run(RELEASE, f"{HACKBENCH} plant={fault}")
    assert done.returncode == USAGE
    assert done.stdout == "error: plant=: only a debug build (make DEBUG=1) plants faults\n"


def test_release_help_does_not_mention_them():
    assert "plant" not in run(RELEASE, "help").stdout
