# SPDX-License-Identifier: MIT
"""The committed cost table is what this image's paths take."""

import os
import re
import subprocess

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def calibrate(*options):
    return subprocess.run([os.path.join(REPO, "tools", "calibrate"), *options],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)


def test_the_cost_table_is_calibrated_and_a_wrong_row_shows(tmp_path):
    # One run judges both: the committed rows, and one that was never measured.
    with open(os.path.join(REPO, "sched", "costs.def"), encoding="utf-8") as f:
        text = f.read()
    wrong = tmp_path / "costs.def"
    wrong.write_text(re.sub(r"PATH\(SELECT, \d+", "PATH(SELECT, 5", text))
    done = calibrate("--check", "--costs", str(wrong))
    off = [line.split()[0] for line in done.stdout.splitlines() if line.endswith("OFF")]
    assert off == ["SELECT"], done.stdout
    assert done.returncode == 1
