# SPDX-License-Identifier: MIT
"""The tree obeys the lint rules, the image holds only what a kernel may, and each
rule reports what it is there for."""

import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import lint  # noqa: E402

IMAGE = os.path.join(lint.REPO, "build", "anechoic.elf")
SPDX = "/* SPDX-License-Identifier: MIT */\n"

# rule, file, content, the finding's text: one violation each.
VIOLATIONS = [
    ("includes", "sched/bad.c", SPDX + '\n#include "../arch-x86/cpuid.h"\n',
     "sched/bad.c:3: sched may not include arch-x86/cpuid.h"),
    ("includes", "arch-x86/bad.c", SPDX + '#include "../sched/topo.h"\n',
     "arch-x86/bad.c:2: arch-x86 may not include sched/topo.h"),
    ("includes", "kernel/lib/bad.c", SPDX + '#include "../panic.h"\n',
     "kernel/lib/bad.c:2: kernel/lib may not include kernel/panic.h"),
    ("includes", "sched/bad.c", SPDX + "#include <stdio.h>\n",
     "sched/bad.c:2: <stdio.h> is not freestanding"),
    ("includes", "kernel/workloads/bad.c", SPDX + '#include "../../sched/sched_int.h"\n',
     "kernel/workloads/bad.c:2: kernel/workloads may not include sched/sched_int.h"),
    ("includes", "new/bad.c", SPDX + "#include <stddef.h>\n",
     "new/bad.c:2: its folder is not in layers.txt"),
    ("spdx", "sched/bad.c", "int x;\n", "sched/bad.c:1: no SPDX line"),
    ("words", "sched/bad.c", SPDX + "/* TO" "DO: later */\n", "sched/bad.c:2: TO" "DO"),
    ("words", "tools/bad.py", "# SPDX-License-Identifier: MIT\np = '/ho" "me/me'\n",
     "tools/bad.py:2: /ho" "me/m"),
    ("floats", "sched/bad.c", SPDX + "static double x;\n", "sched/bad.c:2: floating point: double"),
    ("floats", "kernel/bad.c", SPDX + "int x = 1.5 * 2;\n", "kernel/bad.c:2: floating point: 1.5"),
    ("sizes", "sched/bad.c", SPDX + "int x;\n" * 600, "sched/bad.c:600: 601 lines, at most 600"),
    ("sizes", "sched/bad.c", SPDX + "\t" * 12 + "int x;\n", "sched/bad.c:2: 102 columns"),
    ("whitespace", "sched/bad.c", SPDX + "int x; \n", "sched/bad.c:2: blanks at the end"),
    ("whitespace", "sched/bad.c", SPDX + "int x;", "sched/bad.c:2: wants one newline at the end"),
]

CLEAN = {
    "arch-x86/cpuid.h": SPDX + '#include "../kernel/lib/types.h"\n',
    "kernel/lib/types.h": SPDX + "#include <stdint.h>\n",
    "kernel/panic.h": SPDX + '#include "lib/types.h"\n',
    "sched/topo.h": SPDX + '/* a double fault takes 1.5 times as long */\n'
                           '#include "../kernel/lib/types.h"\n',
    "sched/env.h": SPDX + '#include "env_impl.h"\nconst char *s = "a float of 1.5";\n',
    "sched/sched_int.h": SPDX + '#include "../kernel/panic.h"\n',
    "tests/host/test_x.c": SPDX + '#include <stdio.h>\n#include "sched/sched_int.h"\n',
}


@pytest.fixture
def tree(tmp_path):
    for name, text in CLEAN.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "tests/lint").mkdir(parents=True)
    shutil.copy(os.path.join(lint.REPO, "tests/lint/layers.txt"), tmp_path / "tests/lint")
    return tmp_path


@pytest.mark.parametrize("rule", lint.RULES, ids=lambda r: r.__name__)
def test_rule(rule):
    findings = list(rule(lint.REPO))
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize("rule", lint.RULES, ids=lambda r: r.__name__)
def test_clean_tree_has_no_finding(rule, tree):
    assert not list(rule(tree))


@pytest.mark.parametrize("rule,name,text,finding", VIOLATIONS,
                         ids=[f"{v[0]}-{nr}" for nr, v in enumerate(VIOLATIONS)])
def test_violation_is_reported(rule, name, text, finding, tree):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    assert list(getattr(lint, rule)(tree)) == [finding]
    script = os.path.join(lint.REPO, "tests/lint/lint.py")
    done = subprocess.run([sys.executable, script, tree], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and finding in done.stdout.splitlines()


def binutil(name, *args):
    cross = "x86_64-linux-gnu-" + name
    tool = cross if shutil.which(cross) else name
    return subprocess.run([tool, *args], capture_output=True, text=True, check=True).stdout


def vector_instructions(listing):
    return [line for line in listing.splitlines() if re.search(r"%([xyz]?mm\d|st\b)", line)]


def test_image_has_no_undefined_symbol():
    assert binutil("nm", "-u", IMAGE) == ""


def test_image_uses_no_vector_or_x87_register():
    listing = binutil("objdump", "-d", "--no-show-raw-insn", IMAGE)
    assert len(listing.splitlines()) > 1000
    assert not vector_instructions(listing)


def test_vector_instruction_is_found(tmp_path):
    source, obj = tmp_path / "x.c", tmp_path / "x.o"
    source.write_text("double half(double x) { return x / 2; }\n")
    subprocess.run(["gcc", "-O1", "-c", source, "-o", obj], check=True)
    assert vector_instructions(binutil("objdump", "-d", obj))
