# SPDX-License-Identifier: MIT
"""What the workloads' patterns promise, from one run to another."""

import json

import harness
import pytest

STANZAS = harness.load()


def result(name, **params):
    """The frame of the one run with these parameters."""
    parsed = [json.loads(text) for text in harness.outcome(name, STANZAS)["frames"]]
    (found,) = [f for f in parsed if f["type"] == "result"
                and all(f["params"].get(k) == v for k, v in params.items())]
    return found


def metrics(name, **params):
    return result(name, **params)["metrics"]


def results(name):
    """bench, parameters and value of each run, by seed"""
    by_seed = {}
    for text in harness.outcome(name, STANZAS)["frames"]:
        f = json.loads(text)
        if f["type"] == "result":
            by_seed.setdefault(f["seed"], []).append((f["bench"], f["params"], f["metrics"]))
    return by_seed


# --- all four -------------------------------------------------------------------

@pytest.mark.parametrize("name", ["db-2x2x2", "db-1x3x3", "db-postgres"])
def test_seeds_differ(name):
    first, second = results(name).values()
    assert len(first) == len(second) >= 2
    for (bench, params, one), (_, _, other) in zip(first, second):
        assert one != other, f"{bench} {params}"


# --- sysbench ---------------------------------------------------------------------

@pytest.mark.parametrize("n", [11, 22])
def test_sysbench_sleeps_twice_a_statement(n):
    m = metrics("sysbench-batch", n=n)
    # Transactions in flight at either end of the window: two sleeps in 10,000.
    assert abs(m["socket_sleeps_per_tx"] / 40 - 1) < 0.01
    # The rest is one for each commit, leader or not, row locks, and the window's timer.
    rest = m["wakeups_per_tx"] - m["socket_sleeps_per_tx"] - m["lock_sleeps_per_tx"]
    assert abs(rest - 1) < 0.05


def test_sysbench_commit_batch_grows_with_n():
    batches = [metrics("sysbench-batch", n=n)["commit_batch"] for n in (11, 22, 44, 88)]
    assert batches == sorted(batches)
    assert batches[0] > 1.1 and batches[-1] > 2 * batches[0]


def test_sysbench_transaction_takes_its_statements_and_a_commit():
    """20 statements of 15 + 170 us, 200 us of I/O, and what waking costs: the
    specification's 3.8 ms, within what 40 wake-ups of some us add."""
    m = metrics("sysbench-batch", n=11)
    assert 3700 < m["mean_us"] < 5500
    assert m["p50_us"] < m["mean_us"] < m["p99_us"]
    assert abs(result("sysbench-batch", n=11)["samples"] / (0.3 * m["tx_per_s"]) - 1) < 0.02
    # Little's law.
    assert abs(m["tx_per_s"] * m["mean_us"] / 1e6 / 11 - 1) < 0.05
    # 15 + 0.88 * 170 of 185 us
    assert abs(m["user_pct"] - 88.97) < 0.5


def test_sysbench_postgres_is_faster_by_its_statement():
    mysql, postgres = metrics("sysbench-batch", n=11), metrics("sysbench-postgres")
    assert abs(mysql["mean_us"] - postgres["mean_us"] - 20 * 60) < 250
    assert abs(postgres["user_pct"] - (15 + 0.88 * 110) / 1.25) < 0.5


def test_sysbench_watching_a_lock_saves_sleeps():
    none, much = (metrics("sysbench-locks", spin_ns=ns)["lock_sleeps_per_tx"]
                  for ns in (0, 1000000))
    assert none > 1.5  # two updates of each transaction take the only lock
    assert much < 0.8 * none


# --- oracle_model -------------------------------------------------------------------

def test_oracle_model_scales_until_the_cpus_are_busy():
    rate = {n: metrics("oracle-scale", users=n)["tx_per_s"]
            for n in (1, 8, 32, 80)}
    assert 6 * rate[1] < rate[8]
    assert rate[32] < rate[80] < 2.5 * rate[32]


def test_oracle_model_gathers_commits():
    batch = [metrics("oracle-scale", users=n)["commit_batch"] for n in (1, 8, 32)]
    assert abs(batch[0] - 1) < 0.02 and batch == sorted(batch) and batch[2] > 2


def test_oracle_model_alone_waits_for_nobody():
    """Think 1 ms, 5 * 200 us of work, 0.4 reads of 100 us, 300 us of log."""
    m = metrics("oracle-scale", users=1)
    assert m["latch_sleeps_per_tx"] == 0
    assert 300 < m["tx_per_s"] < 1e6 / 2338 * 1.1
    # Timer, commit, the writer's wake-up and write, and 0.95 * 4 * 0.1 reads.
    assert abs(m["wakeups_per_tx"] - 4.38) < 0.2


# --- dbench, tbench -------------------------------------------------------------------

def test_dbench_contends():
    few = [metrics("dbench-locks", n=n, locks=1) for n in (1, 8, 32)]
    many = [metrics("dbench-locks", n=n, locks=1000) for n in (1, 8, 32)]
    assert few[0]["lock_sleeps_per_op"] == 0
    assert few[2]["lock_sleeps_per_op"] > 10 * many[2]["lock_sleeps_per_op"]
    assert many[2]["mb_per_s"] > 1.5 * few[2]["mb_per_s"]
    for m in few + many:
        assert abs(m["mb_per_s"] * 1e6 / m["ops_per_s"] / 4096 - 1) < 0.001
        # 30 us, and 0.3 times 10 us, in the kernel; 5 us as user
        assert abs(m["user_pct"] - 100 * 5 / 38) < 1


def test_dbench_clients_share_a_write_of_the_journal():
    assert abs(metrics("dbench-locks", n=1, locks=1000)["journal_waiters"] - 1) < 0.1
    assert metrics("dbench-locks", n=32, locks=1000)["journal_waiters"] > 3


def test_tbench_scales_and_sleeps_twice_a_trip():
    one, eight = metrics("tbench-scale", n=1), metrics("tbench-scale", n=8)
    assert 7 < eight["mb_per_s"] / one["mb_per_s"] < 9
    for m in one, eight:
        assert abs(m["wakeups_per_trip"] - 2) < 0.01
        # requests and replies of 2,050 bytes on average
        assert abs(m["mb_per_s"] * 1e6 / m["round_trips_per_s"] / 4100 - 1) < 0.02
        assert abs(m["user_pct"] - 50) < 0.1
