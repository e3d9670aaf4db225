# SPDX-License-Identifier: MIT
"""The worked examples of the specifications, asked through probe= as a user would."""

import json
import os
import subprocess

import harness
import pytest

HOST = os.path.join(harness.REPO, "build/host/anechoic-host")
DEBUG_HOST = os.path.join(harness.REPO, "build/debug/host/anechoic-host")


def ask(*words, program=HOST):
    """The probe frames of one command."""
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60)
    frames = [json.loads(line[1:]) for line in done.stdout.splitlines()
              if line.startswith("@{")]
    return [f for f in frames if f["type"] == "probe"]


# --- probe=place: idle-search.md section 10 ------------------------------------------

SERIES = "base+SIS_LIMIT+SIS_ROTATE"
ARMS = {
    "B15": ("b15:base", 1000000), "B4": ("b4:base", 100000), "R": (f"r:{SERIES}", 1000000),
    "RN": (f"rn:{SERIES}+NO_SIS_CORE", 1000000), "CF": (f"cf:{SERIES}+CORE_FIRST=2", 1000000),
    "SF": (f"sf:{SERIES}+SMT_FIRST", 1000000),
}
INITIAL = {"core": "c", "cpu": "u", "smt": "s", "core_first": "f", "none": "-", "prev": "p",
           "recent": "r", "target": "t"}

# id: the setup, then B15, B4, R, RN, CF, SF
PLACES = {
    "E1": ("busy=01 flag=1", "2c", "2c", "2c", "1u n1", "2c", "2c"),
    "E2": ("busy=55 flag=1", "1u", "1u", "1u n1", "1u n1", "1f", "1s"),
    "E3": ("busy=0F flag=1", "4c", "4c", "4c", "0- n3", "4c", "4c"),
    "E4-E5": ("busy=0F wakes=2", "4u, 4u", "0-, 0-", "0- n3, 4u n4", "0- n3, 4u n4",
              "4u n4, 4u n4", "0- n3, 4u n4"),
    "E6": ("busy=7F wakes=3", "7u, 7u, 7u", "0-, 0-, 0-", "0- n3, 0- n6, 7u n7",
           "0- n3, 0- n6, 7u n7", "0- n5, 7u n7, 7u n7", "0- n3, 0- n6, 7u n7"),
    "E7": ("busy=15 next_cpu=4", "1u", "1u", "5u n5", "5u n5", "1f", "1s"),
    "E9": ("busy=01 allowed=C1", "6u", "0-", "0- n3", "0- n3", "6u n6", "0- n3"),
    "E10": ("busy=FF flag=1", "0-", "0-", "0- n3", "0- n3", "0- n5", "0- n3"),
    "E13": ("busy=04 target=2 prev=0", *["0p"] * 6),
    "E14": ("busy=01 recent=5", *["5r"] * 6),
}
FLAG_AFTER = {"E1": "111111", "E2": "000100", "E3": "111111", "E10": "000100"}


def cell(frame, rotates):
    """As the specification writes it: CPU, stage, and next_cpu if the search wrote it."""
    wrote = rotates and frame["visits"] is not None and \
        (frame["visits"] or frame["budget_out"])
    return f"{frame['cpu']}{INITIAL[frame['stage']]}" + \
        (f" n{frame['next_cpu']}" if wrote else "")


@pytest.mark.parametrize("example", PLACES)
@pytest.mark.parametrize("variant", ARMS)
def test_place(example, variant):
    setup, *want = PLACES[example]
    arm, avg_idle = ARMS[variant]
    frames = ask("probe=place", "topo=1x4x2", "avg_scan_cost=976", f"avg_idle={avg_idle}",
                 f"arms={arm}", *setup.split())
    column = list(ARMS).index(variant)
    assert ", ".join(cell(f, "SIS_ROTATE" in arm) for f in frames) == want[column]
    flag = FLAG_AFTER.get(example, "000000")[column] == "1"
    assert all(f["has_idle_cores"] == flag for f in frames)
    if example == "E10" and variant in ("B15", "B4"):
        (f,) = frames
        assert (f["visits"], f["avg_updated"]) == ((8, True) if variant == "B15" else (3, False))
    if example == "E14":
        assert frames[0]["recent"] == 0


def test_e9_as_posted_ignores_affinity_and_is_mended():
    (f,) = ask("probe=place", "topo=1x4x2", "avg_scan_cost=976", "busy=01", "allowed=C1",
               f"arms=x:{SERIES}+CORE_FIRST=1")
    assert (f["chosen"], f["stage"], f["cpu"]) == (1, "core_first", 0)


@pytest.mark.parametrize("weight, cpu, nr, want", [
    ("count", 0, 8, (5, "cpu")), ("percpu", 0, 8, (5, "cpu")), ("percpu_v3", 0, 4, (0, "none")),
    ("percpu_v3", 3, 8, (5, "cpu"))])
def test_e12_v3s_sibling_weights(weight, cpu, nr, want):
    (f,) = ask("probe=place", "topo=1x2x4", "avg_scan_cost=976", "busy=1F", f"target={cpu}",
               f"arms=x:base+SIS_LIMIT+SIB_WEIGHT={weight}")
    assert (f["nr"], (f["cpu"], f["stage"])) == (nr, want)


@pytest.mark.parametrize("topo, avg_idle, cost, base, limit", [
    ("1x4x2", 1000000, 976, 15, 4), ("1x4x2", 250000, 976, 4, 3), ("1x4x2", 100000, 976, 4, 2),
    ("1x22x2", 1000000, 2000, 42, 4), ("1x22x2", 100000, 2000, 4, 4),
    ("1x22x2", 50000, 2000, 4, 2), ("1x22x4", 1000000, 5000, 34, 8)])
def test_budgets(topo, avg_idle, cost, base, limit):
    frames = ask("probe=place", f"topo={topo}", f"avg_idle={avg_idle}", f"avg_scan_cost={cost}",
                 "busy=" + "F" * (22 if topo == "1x22x4" else 11 if topo == "1x22x2" else 2),
                 "arms=base,x:base+SIS_LIMIT")
    assert [f["nr"] for f in frames] == [base, limit]


@pytest.mark.parametrize("mode, avg_idle, want", [
    ("depth", 1000000, (45, 43, 42, 23, 5)), ("depth", 50000, (45, 24, 4, 4, 4)),
    ("pct", 1000000, (45, 34, 23, 12, 3))])
def test_latency_nice_budgets(mode, avg_idle, want):
    frames = ask("probe=place", "topo=1x22x2", f"avg_idle={avg_idle}", "avg_scan_cost=2000",
                 "busy=" + "F" * 11, "latency_nice=-20,-10,0,10,19",
                 f"arms=x:base+LN_SCAN={mode}")
    assert tuple(f["nr"] for f in frames) == want


def test_a_warm_scan_costs_less_than_a_cold_one():
    frames = ask("machine=bdw-2x22x2", "probe=place", "busy=" + "F" * 22, "wakes=2",
                 "arms=base")
    cold, warm = (f["scan_ns"] for f in frames)
    # 44 lines of other CPUs: a hand-over each, 45 ns but for the sibling's, then hits.
    assert 44 * 30 < cold - warm < 44 * 45


# --- probe=pelt: cfs-core.md section 13 -------------------------------------------------

PERIOD = 1048576


@pytest.mark.parametrize("n, once, stepwise", [
    (1, (1002, 1026048, 21, 21), (1002, 1026048, 21, 21)),
    (2, (1981, 2028544, 43, 43), (1982, 2030109, 43, 43)),
    (8, (7433, 7611392, 162, 162), (7436, 7618458, 162, 163)),
    (32, (23359, 23919616, 512, 512), (23369, 23941816, 512, 512)),
    (64, (35039, 35879936, 768, 768), (35053, 35912725, 768, 768)),
    (128, (43799, 44850176, 960, 960), (43817, 44890905, 960, 960)),
    (345, (46692, 47812608, 1023, 1023), (46714, 47856424, 1023, 1024))])
def test_always_running(n, once, stepwise):
    for updates, want in ((1, once), (n, stepwise)):
        (f,) = ask("probe=pelt", f"ns={n * PERIOD}", f"updates={updates}")
        assert (f["load_sum"], f["util_sum"], f["load_avg"], f["util_avg"]) == want


@pytest.mark.parametrize("words, want", [
    ("ns=10000000", {"period_contrib": 549, "load_sum": 8824, "load_avg": 191}),
    ("ns=100000000", {"period_contrib": 376, "load_sum": 41126, "load_avg": 894}),
    ("ns=33554432 weight=335", {"load_avg": 167}),
    ("ns=33554432 weight=88761", {"load_avg": 44380}),
    ("ns=33554432 of=queue weight=3072 runnable=3",
     {"load_avg": 1536, "runnable_avg": 1536, "util_avg": 512}),
    ("ns=1048576 state=blocked load_sum=46718", {"load_sum": 45716, "load_avg": 1002}),
    ("ns=134217728 state=blocked load_sum=46718", {"load_sum": 2918, "load_avg": 63}),
    ("ns=614400 state=running", {"load_sum": 600, "load_avg": 0}),
    ("ns=1228800 updates=2", {"load_sum": 1177, "period_contrib": 176, "load_avg": 25})])
def test_pelt(words, want):
    (f,) = ask("probe=pelt", *words.split())
    assert {k: f[k] for k in want} == want


def test_eight_periods_on_eight_off():
    on, off = ask("probe=pelt", f"ns={8 * PERIOD}:{8 * PERIOD}", "updates=8", "repeat=400")
    assert (on["load_avg"], off["load_avg"]) == (556, 467)


def test_v5_2_has_a_runnable_signal():
    old, new = (ask("probe=pelt", "ns=33554432", f"profile={p}")[0] for p in ("v5.2", "v6.4"))
    assert (old["runnable_load_avg"], new["runnable_load_avg"]) == (512, 0)


# --- probe=slice: cfs-core.md section 13 --------------------------------------------------

@pytest.mark.parametrize("words, want", [
    ("topo=1x1x1 nice=0 newcomer=0", [5999998, None]),
    ("topo=1x1x1 nice=0:0", [2999998, 2999998]),
    ("topo=1x1x1 nice=0:5", [4520971, 1479028]),
    ("topo=1x1x1 nice=" + ":".join(["0"] * 12), [750000] * 12),
    ("topo=1x1x1 nice=0 group_nice=0:5", [2999998, 2260484, 750000]),
    ("topo=1x8x1 profile=v5.2 nice=0 group_nice=0:5", [11999994, 9041938, 2958055])])
def test_slices(words, want):
    got = [f["slice_ns"] for f in ask("probe=slice", *words.split())]
    assert [a for a, b in zip(got, want) if b] == [b for b in want if b]


@pytest.mark.parametrize("nice, vslice", [(0, 2999998), (5, 4520969)])
def test_vslice_of_a_newcomer(nice, vslice):
    assert ask("probe=slice", "topo=1x1x1", "nice=0", f"newcomer={nice}")[-1]["vslice_ns"] == \
        vslice


# --- probe=shares: group-load.md section 10 --------------------------------------------------

ALL_TG = "tg-base,tg-node,tg-delay,tg-skip,tg-rate"
NODES = ["topo=2x1x1", "nodes=2"]
REST = "weight=3072:1024"
MOVED = "weight=2048:2048 load_avg=2048:2048"


def shares(words, arms="tg-base"):
    """-> per arm the entities' weights"""
    found = {}
    for f in ask("probe=shares", *NODES, f"arms={arms}", *words.split()):
        found.setdefault(f["arm"], []).append(f["weight"])
    return found


def test_at_rest_every_variant_agrees():
    found = shares(REST, ALL_TG)
    assert len(found) == 5 and all(w == [786432, 262144] for w in found.values())


def test_both_just_woken():
    assert shares("weight=1024:1024 load_avg=0:0")["tg-base"] == [1048576, 1048576]


@pytest.mark.parametrize("contrib, load_avg, after", [
    (1024, 1040, 1024), (1024, 1041, 1041), (63, 64, 64)])
def test_threshold(contrib, load_avg, after):
    (f,) = ask("probe=shares", "weight=1024", f"load_avg={load_avg}", f"contrib={contrib}",
               "publish=0", "arms=tg-base")
    assert (f["contrib"], f["tg_load"][0]) == (after, after)


def test_wake_migration_before_the_source_updates():
    assert shares(f"{MOVED} contrib=3072:2048")["tg-base"][1] == 419430


@pytest.mark.parametrize("arm", ["tg-base", "tg-node"])
def test_wake_migration_published(arm):
    assert shares(f"{MOVED} contrib=3072:2048 publish=0", arm)[arm] == [524288, 524288]


@pytest.mark.parametrize("by, counters", [(0, [2048, 2048]), (1, [3072, 1024])])
def test_wake_migration_counts_on_the_node_that_executes(by, counters):
    for f in ask("probe=shares", *NODES, "arms=tg-node", *MOVED.split(), "contrib=3072:2048",
                 "publish=0", f"by={by}"):
        assert f["tg_load"] == counters


def test_wake_migration_delayed():
    assert shares(f"{MOVED} contrib=3072:2048", "tg-delay")["tg-delay"] == [524288, 419430]


def test_wake_migration_rate_limited():
    words = f"{MOVED} contrib=3072:1024 publish=0:1"
    assert shares(f"{words} published_us=999", "tg-rate")["tg-rate"] == [699050, 419430]
    assert shares(f"{words} published_us=1001", "tg-rate")["tg-rate"] == [524288, 524288]
    assert shares(words, "tg-rate")["tg-rate"] == [524288, 524288]


def test_skip_wakeup():
    words = "weight=7168:1024 load_avg=7168:512 old_weight=786432:262144 site=enqueue"
    found = shares(words, "tg-base,tg-skip")
    assert (found["tg-base"][1], found["tg-skip"][1]) == (131072, 262144)
    assert shares(f"{words} others=1", "tg-skip")["tg-skip"][1] == 131072
    charge = [f["charge_ns"] for f in ask("probe=shares", *NODES, "arms=tg-base,tg-skip",
                                          *words.split()) if f["cpu"] == 1]
    assert [round(c / 1e6) for c in charge] == [8, 4]


def test_skip_sleep():
    found = shares("weight=3072:0 load_avg=3072:102 old_weight=786432:262144 site=dequeue",
                   "tg-base,tg-skip")
    assert (found["tg-base"][1], found["tg-skip"][1]) == (33697, 262144)


@pytest.mark.parametrize("words, weight", [
    ("shares=2 weight=0 load_avg=0 tg_load=8192", 2),
    ("shares=15 weight=1024 load_avg=1024 tg_load=8192", 1920)])
def test_clamp(words, weight):
    assert shares(words)["tg-base"] == [weight]


@pytest.mark.parametrize("words", [
    "probe=shares topo=2x2x1 nodes=2 weight=2048:2048 contrib=3072:2048 publish=0:1 by=1:0 "
    "arms=tg-base,tg-node,tg-delay,tg-skip,tg-rate site=tick,enqueue,dequeue",
    "probe=slice nice=0:5 group_nice=0:5 profile=v5.2", "probe=slice group_nice=0:5",
    "probe=pelt ns=1000:2000 repeat=9", "probe=place topo=1x4x2 busy=0F,7F wakes=3 arms=base,v3"])
def test_debug_builds_agree(words):
    assert ask(*words.split(), program=DEBUG_HOST) == ask(*words.split())
