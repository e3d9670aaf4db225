# SPDX-License-Identifier: MIT
"""tools/setup on systems that lack something, with false tools in a PATH of their own."""

import os
import shutil
import stat
import subprocess

import pytest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SETUP = os.path.join(REPO, "tools", "setup")
# What the script itself uses.
BASE = ("bash", "env", "sort", "id", "uname", "cut", "sed", "head", "touch", "chmod")


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in BASE:
        (folder / name).symlink_to(shutil.which(name))
    return folder


def add(folder, name, text="#!/bin/sh\nexit 0\n"):
    (folder / name).write_text(text)
    (folder / name).chmod(stat.S_IRWXU)


def run_setup(folder, what):
    return subprocess.run(["bash", SETUP, what], env={"PATH": str(folder)},
                          capture_output=True, text=True, timeout=20, check=False)


def run_tools(folder):
    for name in ("make", "python3", "gcc", "x86_64-linux-gnu-gcc", "ld"):
        add(folder, name)


def test_missing_packages_are_named_without_the_right_to_install(path):
    done = run_setup(path, "run")
    assert done.returncode == 1
    assert "qemu-system-x86" in done.stderr and " make " in done.stderr
    assert "clang" not in done.stderr
    assert "clang" in run_setup(path, "test").stderr


def test_nothing_happens_when_all_is_there(path):
    run_tools(path)
    add(path, "qemu-system-x86_64")
    done = run_setup(path, "run")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("brings,status", [(True, 0), (False, 1)])
def test_only_what_is_missing_is_installed(path, tmp_path, brings, status):
    run_tools(path)
    add(path, "sudo", "#!/bin/sh\n[ \"$1\" = -n ] && shift\nexec \"$@\"\n")
    tool = path / "qemu-system-x86_64"
    install = f"touch {tool}; chmod 700 {tool}" if brings else ":"
    add(path, "apt-get", f"#!/bin/sh\necho \"$@\" >>{tmp_path}/calls\n"
        f"[ \"$1\" = update ] || {{ {install}; }}\n")
    done = run_setup(path, "run")
    assert done.returncode == status, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["update -q", "install -y -q --no-install-recommends qemu-system-x86"]
    if not brings:
        assert "still missing after the installation: qemu-system-x86" in done.stderr


def test_unknown_purpose_is_a_usage_error(path):
    assert run_setup(path, "everything").returncode == 2
