# SPDX-License-Identifier: MIT
"""Sanity that any result must obey, whatever the model's constants."""

import json

import harness
import pytest

STANZAS = harness.load()


def times(name, **params):
    """elapsed virtual time of the results with these parameters"""
    found = [json.loads(text) for text in harness.outcome(name, STANZAS)["frames"]]
    found = [f["value"] for f in found if f["type"] == "result"
             and all(f["params"].get(k) == v for k, v in params.items())]
    assert len(found) == 1, f"{name} {params}: {found}"
    return found[0]


def test_sixteen_cpus_are_four_times_as_fast_as_one():
    assert times("scale-1", loops=100) >= 4 * times("scale-16", loops=100)


@pytest.mark.parametrize("machine", ["scale-1", "scale-16"])
def test_twice_the_loops_take_twice_the_time(machine):
    assert 1.8 < times(machine, loops=200) / times(machine, loops=100) < 2.2
