# SPDX-License-Identifier: MIT
"""What the workloads of the task-group series promise, from one run to another."""

import json

import harness
import pytest

STANZAS = harness.load()


def frames(name, kind, **params):
    parsed = [json.loads(text) for text in harness.outcome(name, STANZAS)["frames"]]
    return [f for f in parsed if f["type"] == kind
            and all(f["params"].get(k) == v for k, v in params.items())]


def metrics(name, **params):
    """The metrics of the first run with these parameters."""
    return frames(name, "result", **params)[0]["metrics"]


# --- udp_rr -------------------------------------------------------------------------

@pytest.mark.parametrize("nr_pct", [50, 100])
def test_migrations_are_what_is_imposed(nr_pct):
    for pct in range(0, 101, 10):
        m = metrics("udp-rr-sweep", nr_pct=nr_pct, migrate_pct=pct)
        # Of a wake-up that finds the task still queued nothing can be dictated.
        assert abs(m["migrations_per_wakeup"] - pct / 100) < 0.02, pct
        # One of them may be under way at an edge of the window.
        assert abs(m["imposed_per_wakeup"] - m["migrations_per_wakeup"]) < 0.0003


def test_wakeups_do_not_depend_on_where_they_go():
    """The rate of migrations moves, that of wake-ups per trip does not."""
    trips = [metrics("udp-rr-sweep", nr_pct=50, migrate_pct=pct)["wakeups_per_trip"]
             for pct in (0, 50, 100)]
    assert max(trips) - min(trips) < 0.05


def test_figures_of_udp_rr_agree():
    m = metrics("udp-rr-sweep", nr_pct=100, migrate_pct=50)
    assert abs(m["messages_per_s"] / (2 * 32 * m["tx_per_s"]) - 1) < 0.001
    assert abs(m["message_us"] * m["tx_per_s"] * 2 / 1e6 - 1) < 0.001
    assert abs(m["wakeups_per_s"] / (m["tx_per_s"] * 32 * m["wakeups_per_trip"]) - 1) < 0.001


def test_a_message_takes_its_burst_and_what_waking_costs():
    one, two = (metrics("udp-rr-alone", burst_ns=ns)["message_us"] for ns in (2000, 4000))
    assert abs(two - one - 2) < 0.1
    assert 2.5 < one < 20


# --- tcp_stream ----------------------------------------------------------------------

def test_a_lone_stream_runs_at_the_speed_of_a_side():
    one, two = (metrics("tcp-stream-alone", block_us=us) for us in (8, 16))
    # 16 KB in a little more than the work of a block
    assert 0.75 < one["mb_per_s"] / (16384 * 8 / 8) < 1
    assert 0.75 < two["mb_per_s"] / (16384 * 8 / 16) < 1
    for m in one, two:
        assert m["kb_per_wakeup"] > 8
        assert m["mb_per_s"] == m["all_mb_per_s"]


# --- make ------------------------------------------------------------------------------

def test_a_job_costs_the_same_however_many_run():
    """Self-check 7. The maker draws them, so they are the same jobs, too."""
    for seed in (0, 1):
        cpu = [frames("make-jobs", "result", jobs=n)[seed]["metrics"]["cpu_ms_per_job"]
               for n in (1, 8, 32)]
        assert max(cpu) / min(cpu) < 1.05
        assert 15 < cpu[0] < 60


def test_busy_siblings_make_a_job_dearer():
    """And then the comparison above would fail."""
    cpu = [metrics("make-jobs-smt", jobs=n)["cpu_ms_per_job"] for n in (1, 32)]
    assert cpu[1] / cpu[0] > 1.3


def test_jobs_alive_reach_their_limit():
    for n in (1, 8, 32):
        assert metrics("make-jobs", jobs=n)["most_alive"] == n


def test_make_runs_in_parallel_but_for_the_link():
    one, eight = (metrics("make-jobs", jobs=n) for n in (1, 8))
    assert 3 < one["real_s"] / eight["real_s"] < 8
    # 10 % of the work, and what scheduling takes
    for m in one, eight:
        assert 0.095 < m["sys_s"] / (m["user_s"] + m["sys_s"]) < 0.15


def test_the_build_costs_schbench_its_latency():
    few, many = (metrics("make-schbench", workers=6, jobs=n) for n in (1, 32))
    assert few["samples"] > 10000 and many["samples"] > 10000
    assert few["p50_us"] <= few["p90_us"] <= few["p99_us"] <= few["p99_9_us"]
    assert many["p99_us"] > few["p99_us"]
    assert many["jobs_per_s"] > 2 * few["jobs_per_s"]


# --- reweight ----------------------------------------------------------------------------

def test_the_difference_takes_fewer_instructions():
    full, delta = (f["metrics"] for f in frames("reweight-forms", "result"))
    assert delta["insns_per_call"] < full["insns_per_call"] - 20
    assert delta["ns_per_call"] < full["ns_per_call"]


# --- groups ------------------------------------------------------------------------------

@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("groups", [2, 4])
def test_groups_share_by_their_shares(depth, groups):
    """Each CPU holds one task of every group, or two."""
    (found,) = frames("group-shares", "counters", group_depth=depth, groups_of=groups)
    cpu_ns = found["counters"]["task_cpu_ns"]
    share = [sum(cpu_ns[i] for i in range(len(cpu_ns)) if i // 8 % groups == g) / sum(cpu_ns)
             for g in range(groups)]
    weights = [1024, 2048] * (groups // 2)
    for got, weight in zip(share, weights):
        assert abs(got / (weight / sum(weights)) - 1) < 0.01
