# SPDX-License-Identifier: MIT
"""The harness reports what it is there for: frames that are wrong, digests that do
not fit, programs that stop half-way."""

import copy
import json
import os
import sys

import expect_topology
import frames
import harness
import pytest

sys.path.insert(0, os.path.join(harness.REPO, "tests"))
import hostbuild  # noqa: E402

CPU = {"cpu": 0, "apic": 0, "pkg": 0, "die": 0, "core": 0, "thread": 0, "llc": 0, "node": 0,
       "sibling_weight": 1, "domains": []}


def good_run():
    """Two arms, two seeds."""
    run = [{"type": "header", "build": "b", "compiler": "c", "exec": "mux", "cost": "table",
            "machine": "generic", "cpus": 1, "smp": 1, "hz": 1000, "seed": 1, "runs": 2,
            "slack_ns": 0, "arms": [{"name": n, "features": {"F": True}} for n in "ab"]},
           {"type": "topology", "source": "leaf0b", "packages": 1, "dies": 1, "llcs": 1,
            "cores": 1, "cpus": 1, "smt_max": 1, "smt_min": 1, "warnings": [], "cpu": [CPU]}]
    for arm, values in (("a", (2.0, 4.0)), ("b", (1.0, 2.0))):
        for seed, value in enumerate(values, 1):
            key = {"bench": "x", "params": {"n": 1}, "arm": arm, "seed": seed}
            run.append({"type": "result", **key, "metric": "t_s", "better": "lower",
                        "value": value, "metrics": {"t_s": value}, "vtime_ns": 5,
                        "host": {"seconds": 0.5, "more": {"n": 1}}})
            run.append({"type": "counters", **key, "counters": {"wakeups": 3}})
    for arm, mean, change in (("a", 3.0, None), ("b", 1.5, 50.0)):
        run.append({"type": "summary", "bench": "x", "params": {"n": 1}, "arm": arm,
                    "reference": "a", "metric": "t_s", "better": "lower", "runs": 2,
                    "mean": mean, "stdev_pct": 47.1405, "change_pct": change,
                    "ci95_low_pct": change, "ci95_high_pct": change,
                    "verdict": "better" if change else None})
    run.append({"type": "digest", "value": ""})
    run.append({"type": "end", "status": "ok", "checks_failed": 0})
    return run


def faults_of(run):
    texts = [json.dumps(f, separators=(",", ":")) for f in run]
    for nr, frame in enumerate(run):
        if frame["type"] == "digest" and not frame["value"]:
            texts[nr] = json.dumps({"type": "digest", "value": frames.digest(texts)})
    return frames.faults(texts, True)


def test_good_run_has_no_fault():
    assert not faults_of(good_run())


def change(nr, **members):
    return lambda run: run[nr].update(members)


@pytest.mark.parametrize("spoil,text", [
    (change(0, exec="turbo"), "exec: 'turbo' is not one of"),
    (lambda run: run[1].pop("llcs"), "'llcs' is a required property"),
    (change(1, cpus=2), "cpu is not a list of all CPUs"),
    (change(1, warnings=["ODD"]), "'ODD' is not one of"),
    (change(2, value=2.5), "value is not metrics[t_s]"),
    (change(2, seed=2), "two results of the same run"),
    (change(3, seed=2), "results and counters are not of the same runs"),
    (change(-4, mean=3.1), "mean 3.1, computed here 3.0"),
    (change(-3, change_pct=-50.0), "change_pct -50.0, computed here 50.0"),
    (change(-3, stdev_pct=None), "stdev_pct None"),
    (change(-4, change_pct=0.0), "the reference has a change"),
    (change(-2, value="0123456789abcdef"), "digest 0123456789abcdef, computed here"),
    (change(-1, type="fin"), "unknown type 'fin'"),
    (lambda run: run.pop(), "0 end frames"),
    (lambda run: run.pop(-3), "not one summary for each"),
    (lambda run: run.reverse(), "do not run from header to end"),
    (lambda run: run.append(copy.deepcopy(run[0])), "2 header frames"),
])
def test_fault_is_found(spoil, text):
    run = good_run()
    spoil(run)
    assert any(text in fault for fault in faults_of(run)), faults_of(run)


def test_broken_json_is_found():
    assert "frame 0 is not JSON" in frames.faults(['{"type":'], False)[0]


def test_digest_is_fnv1a_64():
    """Vectors of the FNV authors' test suite."""
    for text, value in ((b"", 0xcbf29ce484222325), (b"a", 0xaf63dc4c8601ec8c),
                        (b"foobar", 0x85944171f73967e8)):
        assert frames.fnv1a(text) == value


def test_digest_sees_results_but_not_the_host():
    def digest_with(member, value):
        run = good_run()
        run[2][member] = value
        return frames.digest([json.dumps(f, separators=(",", ":")) for f in run])
    base = digest_with("host", {"seconds": 0.5})
    assert digest_with("host", {"seconds": 9, "deep": {"x": [1]}}) == base
    assert digest_with("vtime_ns", 6) != base


def test_fields_compare_values_and_paths():
    run = good_run()
    assert not list(harness.field_faults(run, """
        end.status = "ok"
        result[2].value < result[1].value
        header.arms.1.name = "b"
        topology.warnings = []"""))
    for wrong in ('end.status = "failed"', "result[0].value > 3", "result[9].value = 1",
                  "header.none = 1", "result[0].value != result[0].value"):
        assert list(harness.field_faults(run, wrong)), wrong


def test_runs_in_common_are_compared():
    mine, theirs = {("k", "result"): {"t_s": 1}}, {("k", "result"): {"t_s": 2}}
    assert not list(harness.result_faults(mine, mine, "x"))
    assert list(harness.result_faults(mine, theirs, "x"))
    assert list(harness.result_faults(mine, {}, "x")) == ["no run in common with x"]


def test_topology_differences_are_found():
    stanza = {"ids": "0-2,4-6", "shifts": "2/3/3/3", "src": "leaf0b", "masks": "0-2;0-5;0-5",
              "domains": "SMT:3 MC:6"}
    machine = expect_topology.from_stanza(stanza)
    assert not expect_topology.check_table(machine, stanza)
    assert expect_topology.check_table(machine, {**stanza, "domains": "SMT:3 DIE:6"})
    assert expect_topology.check_table(machine, {**stanza, "masks": "0-3;0-5;0-5"})
    log = "\n".join(["topo: madt enabled=6 disabled=0 started=6 dropped=0 apic=xapic",
                     "topo: src=leaf0b vendor=GenuineIntel C=2 D=3 P=3 llc=leaf4 shift=3",
                     *machine.log_lines(), "topo: cpu0-2 sd SMT:3 MC:6 llc_id=0 llc_size=6",
                     "topo: cpu3-5 sd SMT:3 MC:6 llc_id=0 llc_size=6"])
    assert not expect_topology.check_log(machine, stanza, log)
    for old, new in (("started=6", "started=5"), ("sibw=3", "sibw=2"), ("SMT:3", "SMT:2"),
                     ("cpu3-5 sd", "cpu4-5 sd"), ("llc_size=6", "llc_size=3"),
                     ("topo: packages", "topo: WARN COUNT x\ntopo: packages")):
        assert expect_topology.check_log(machine, stanza, log.replace(old, new)), old
    frame = {**machine.frame_fields(), "source": "leaf0b", "warnings": [],
             "cpu": machine.frame_cpus()}
    assert not expect_topology.check_frame(machine, stanza, frame)
    frame["cpu"][4]["sibling_weight"] = 2
    assert expect_topology.check_frame(machine, stanza, frame)


def test_unknown_key_of_a_stanza_is_an_error(tmp_path):
    path = tmp_path / "x.cfg"
    for text in ("[a]\nsmpp = 1x1x1\n", "[a]\nsame_digest_as = b\n"):
        path.write_text(text)
        with pytest.raises(ValueError):
            harness.load(path)


@pytest.mark.parametrize("output,code,passed,failed", [
    ("1..2\nok 1 - a\nok 2 - b\n", 0, 2, 0),
    ("1..2\nok 1 - a\nnot ok 2 - b\n# 1 != 2\n", 1, 1, 1),
    ("1..2\nok 1 - a\n", -6, 1, 1),               # crashed in the second test
    ("1..1\nok 1 - a\n1..1\nok 1 - b\n", 0, 2, 0),  # two groups in one program
    ("1..1\nok 1 - a\n", 23, 1, 1),               # a sanitizer spoke up at exit
    ("", 0, 0, 1),                                # no test at all
])
def test_host_programs_are_judged(output, code, passed, failed):
    results = [ok for _, ok, _ in hostbuild.judge(output, code)]
    assert (results.count(True), results.count(False)) == (passed, failed)
