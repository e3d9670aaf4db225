# SPDX-License-Identifier: MIT
"""What every run's frames must obey: their schema, their order, how they agree with
each other, and the digest, which is computed here a second time."""

import functools
import json
import math
import os

import jsonschema

SCHEMA_DIR = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "schema")
FNV_OFFSET, FNV_PRIME, MASK64 = 0xcbf29ce484222325, 0x100000001b3, (1 << 64) - 1


@functools.cache
def validators():
    found = {}
    for name in os.listdir(SCHEMA_DIR):
        with open(os.path.join(SCHEMA_DIR, name), encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft7Validator.check_schema(schema)
        found[name.removesuffix(".json")] = jsonschema.Draft7Validator(schema)
    return found


def without_host(line):
    """A frame's text without its host object, which is always the last member."""
    at = line.rfind(',"host":{')
    return line if at < 0 else line[:at] + "}"


def fnv1a(data, state=FNV_OFFSET):
    for byte in data:
        state = ((state ^ byte) * FNV_PRIME) & MASK64
    return state


def digest(lines):
    """lines: the frames' texts without '@'. FNV-1a 64 over results and counters."""
    state = FNV_OFFSET
    for line in lines:
        if json.loads(line).get("type") in ("result", "counters"):
            state = fnv1a((without_host(line) + "\n").encode(), state)
    return f"{state:016x}"


def run_key(frame):
    return (frame["bench"], json.dumps(frame["params"], sort_keys=True), frame["arm"],
            frame.get("seed"))


def no_key_twice(pairs):
    """For json.loads: parsers keep the last of equal keys without a word."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key twice: {sorted(k for k, _ in pairs)}")
    return found


def faults(lines, ended):
    """-> what is wrong with the frames of one run. ended: it was to reach its end."""
    found, parsed = [], []
    for nr, line in enumerate(lines):
        try:
            parsed.append(json.loads(line, object_pairs_hook=no_key_twice))
        except ValueError as e:
            found.append(f"frame {nr} is not JSON: {e}: {line[:200]}")
    for nr, frame in enumerate(parsed):
        validator = validators().get(frame.get("type"))
        if not validator:
            found.append(f"frame {nr} has an unknown type {frame.get('type')!r}")
            continue
        found += [f"frame {nr}, {frame['type']}: {'.'.join(map(str, e.absolute_path))}: "
                  f"{e.message[:300]}" for e in validator.iter_errors(frame)]
    if found:
        return found
    if ended:
        found += order_faults([f["type"] for f in parsed])
        if parsed[0].get("exec") == "live":
            found = [f for f in found if f != "0 digest frames"]
    for frame in parsed:
        if frame["type"] == "digest" and frame["value"] != digest(lines):
            found.append(f"digest {frame['value']}, computed here {digest(lines)}")
        if frame["type"] == "topology" and [c["cpu"] for c in frame["cpu"]] != \
                list(range(frame["cpus"])):
            found.append("topology: cpu is not a list of all CPUs in order")
    return found + result_faults(parsed, ended)


def order_faults(types):
    found = []
    for name in ("header", "topology", "digest", "end"):
        if types.count(name) != 1:
            found.append(f"{types.count(name)} {name} frames")
    if types[:1] != ["header"] or types[-1:] != ["end"]:
        found.append(f"the frames do not run from header to end: {types[:3]} ... {types[-3:]}")
    return found


def result_faults(parsed, ended):
    found = []
    results = [f for f in parsed if f["type"] == "result"]
    groups = {}
    for r in results:
        if r["metrics"].get(r["metric"]) != r["value"]:
            found.append(f"result {run_key(r)}: value is not metrics[{r['metric']}]")
        groups.setdefault(run_key(r)[:3], []).append(r["value"])
    if len({run_key(r) for r in results}) != len(results):
        found.append("two results of the same run")
    if ended and [run_key(r) for r in results] != \
            [run_key(c) for c in parsed if c["type"] == "counters"]:
        found.append("results and counters are not of the same runs, in the same order")
    summaries = [f for f in parsed if f["type"] == "summary"]
    if ended and {run_key(s)[:3] for s in summaries} != set(groups):
        found.append("not one summary for each workload, parameters and arm")
    for s in summaries:
        found += summary_faults(s, groups.get(run_key(s)[:3], []),
                                groups.get((*run_key(s)[:2], s["reference"]), []))
    return found


def summary_faults(s, values, reference):
    """Mean, deviation and change once more, in floating point."""
    if len(values) != s["runs"] or len(reference) != s["runs"]:
        return [f"summary {run_key(s)}: runs {s['runs']}, results {len(values)}, "
                f"of the reference {len(reference)}"]
    found = []
    mean = math.fsum(values) / len(values)
    want = {"mean": mean}
    if len(values) > 1 and mean:
        square = math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
        want["stdev_pct"] = 100 * math.sqrt(square) / abs(mean)
    ref_mean = math.fsum(reference) / len(reference)
    if s["arm"] != s["reference"] and ref_mean:
        change = 100 * (mean - ref_mean) / abs(ref_mean)
        want["change_pct"] = -change if s["better"] == "lower" else change
    for field, value in want.items():
        if s[field] is None or not math.isclose(s[field], value, rel_tol=1e-6, abs_tol=6e-5):
            found.append(f"summary {run_key(s)}: {field} {s[field]}, computed here {value}")
    if s["arm"] == s["reference"] and s["change_pct"] is not None:
        found.append(f"summary {run_key(s)}: the reference has a change")
    return found
