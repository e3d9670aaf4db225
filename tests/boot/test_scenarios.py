# SPDX-License-Identifier: MIT
"""One test a stanza of scenarios.cfg."""

import shlex

import harness
import pytest

STANZAS = harness.load()


@pytest.mark.parametrize("name", STANZAS)
def test_scenario(name):
    found, result = harness.faults(name, STANZAS)
    if found:
        pytest.fail("\n".join([
            f"{shlex.join(result['argv'])}\n({result['seconds']:.1f} s, "
            f"status {result['status']})", *found,
            "--- console, its end:", result["stdout"][-3000:],
            "--- stderr:", result["stderr"][-1500:]]), pytrace=False)
