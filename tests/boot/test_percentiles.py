# SPDX-License-Identifier: MIT
"""Percentiles in result frames are those of the histogram in the counters frame."""

import json
import re

import harness
import pytest

STANZAS = harness.load()
SUB_BITS = 8


def middle(lower):
    """Of the histogram's bucket (spec/workloads.md section 3): exact below 512, above
    2^(floor(log2 v) - 8) wide."""
    shift = max(lower.bit_length() - 1 - SUB_BITS, 0)
    return lower + (1 << shift >> 1)


def percentile(buckets, wanted):
    samples, seen = sum(count for _, count in buckets), 0
    for lower, count in buckets:
        seen += count
        if seen * 100 >= wanted * samples:
            return middle(lower)
    return None


@pytest.mark.parametrize("name", ["schbench-percentiles", "schbench-too-few", "latency-1x3x3"])
def test_percentiles_are_the_histograms(name):
    frames = [json.loads(text) for text in harness.outcome(name, STANZAS)["frames"]]
    results = [f for f in frames if f["type"] == "result" and f["bench"] == "schbench"]
    counters = [f["counters"] for f in frames
                if f["type"] == "counters" and f["bench"] == "schbench"]
    assert len(results) == len(counters) > 1
    for result, counted in zip(results, counters):
        buckets = counted["latency_us"]
        assert result["samples"] == sum(count for _, count in buckets)
        assert all(lower > 0 for lower, _ in buckets)
        found = {m: v for m, v in result["metrics"].items() if re.fullmatch(r"p[0-9_]+_us", m)}
        assert len(found) == 7
        for metric, value in found.items():
            wanted = float(metric[1:-3].replace("_", "."))
            assert value == percentile(buckets, wanted), metric


def test_summaries_have_the_fewest_samples():
    frames = [json.loads(text)
              for text in harness.outcome("schbench-too-few", STANZAS)["frames"]]
    for summary in (f for f in frames if f["type"] == "summary"):
        assert summary["samples"] == min(
            f["samples"] for f in frames if f["type"] == "result" and f["arm"] == summary["arm"])
