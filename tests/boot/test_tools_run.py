# SPDX-License-Identifier: MIT
"""tools/run itself, with a script in QEMU's place: exit status, frames, refusals."""

import os
import re
import signal
import stat
import subprocess
import sys
import time

import pytest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
RUN = os.path.join(REPO, "tools", "run")
sys.path.insert(0, os.path.join(REPO, "tools"))
from lib import console as con  # noqa: E402
END_OK = r'@{\"type\":\"end\",\"status\":\"ok\",\"checks_failed\":0}\r\n'
END_FAILED = r'@{\"type\":\"end\",\"status\":\"failed\",\"checks_failed\":2}\r\n'


class Fake:
    def __init__(self, folder):
        self.folder = folder
        self.script = folder / "qemu"
        self.image = folder / "image.elf"
        self.image.write_text("")

    def run(self, shell, *options, cwd=None, **popen):
        """shell is what the false QEMU does; its arguments land in the file argv."""
        self.script.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{self.folder}/argv\n{shell}\n")
        self.script.chmod(self.script.stat().st_mode | stat.S_IXUSR)
        env = dict(os.environ, QEMU=str(self.script))
        argv = [RUN, "--image", str(self.image), *options]
        if popen:
            return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, **popen)
        return subprocess.run(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def argv(self):
        return (self.folder / "argv").read_text().splitlines()


@pytest.fixture
def fake(tmp_path):
    return Fake(tmp_path)


@pytest.mark.parametrize("shell,status", [
    (f"printf \"{END_OK}\"; exit 1", 0),
    (f"printf \"{END_OK}\"; exit 0", 0),           # powered off through ACPI
    (f"printf \"{END_FAILED}\"; exit 3", 1),
    (f"printf \"{END_FAILED}\"; exit 0", 1),
    (f"printf \"{END_OK}\"; exit 3", 1),
    ("echo 'error: no such key'; exit 5", 2),
    ("echo PANIC; exit 7", 3),
    (f"printf \"{END_OK}\"; echo PANIC; exit 7", 3),
    ("echo half a run; exit 1", 4),
    ("echo half a run; exit 0", 4),                # a triple fault under -no-reboot
    (f"printf \"{END_OK}\"; kill -9 $$", 4),
    ("echo 'qemu: invalid option' >&2; exit 1", 2),
    (f"printf '@{{broken\\n'; printf \"{END_OK}\"; exit 1", 1),
    ("echo hangs; exec sleep 100", 124),
])
def test_exit_status(fake, shell, status):
    done = fake.run(shell, "--timeout", "1")
    assert done.returncode == status, done.stdout + done.stderr


def test_text_is_shown_and_frames_are_stored(fake, tmp_path):
    shell = f"printf 'one\\r\\n'; printf \"{END_OK}\"; printf 'two'; exit 1"
    done = fake.run(shell, "--json", str(tmp_path / "frames"))
    assert done.stdout == "one\ntwo\n"
    assert (tmp_path / "frames").read_text() == \
        '{"type":"end","status":"ok","checks_failed":0}\n'
    assert '@{"type":"end"' in fake.run(shell, "--frames").stdout


def test_text_comes_at_once(fake):
    proc = fake.run("printf 'progress 1'; exec sleep 100", stdout=subprocess.PIPE)
    try:
        assert os.read(proc.stdout.fileno(), 100) == b"progress 1"
    finally:
        proc.terminate()
        proc.wait(10)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_qemu_ends_with_the_tool(fake, tmp_path, sig):
    proc = fake.run(f"echo $$ >{tmp_path}/pid; echo started; exec sleep 100",
                    stdout=subprocess.PIPE)
    assert os.read(proc.stdout.fileno(), 100) == b"started\n"
    pid = int((tmp_path / "pid").read_text())
    proc.send_signal(sig)
    assert proc.wait(10) == (-sig if sig == signal.SIGKILL else 128 + sig)
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}") or \
                re.search(r"^State:\s+Z", open(f"/proc/{pid}/status").read(), re.MULTILINE):
            return
        time.sleep(0.05)
    pytest.fail("QEMU still runs")


@pytest.mark.parametrize("smp,text", [
    ("2x4x2", "16,sockets=2,cores=4,threads=2"),
    ("2x11x2x4", "176,sockets=2,dies=11,cores=2,threads=4"),
    ("5,sockets=1,cores=3,threads=2,maxcpus=6", "5,sockets=1,cores=3,threads=2,maxcpus=6"),
])
def test_shape(fake, smp, text):
    fake.run("exit 0", "--smp", smp)
    argv = fake.argv()
    assert argv[argv.index("-smp") + 1] == text


@pytest.mark.parametrize("options,text", [
    (["--exec", "smp", "--", "machine=power9-2x22x4"], "176,sockets=2,cores=22,threads=4"),
    (["--", "exec=live", "topo=1x3x2"], "6,sockets=1,cores=3,threads=2"),
    (["--", "exec=smp", "topo=1x3x2", "machine=sparc-2x8x8"], "6,sockets=1,cores=3,threads=2"),
    (["--exec", "smp", "--smp", "1x1x1", "--", "machine=sparc-2x8x8"],
     "1,sockets=1,cores=1,threads=1"),
    (["--exec", "smp", "--", "machine=generic"], "16,sockets=2,cores=4,threads=2"),
    (["--", "machine=sparc-2x8x8"], "16,sockets=2,cores=4,threads=2"),
])
def test_a_cpu_each_boots_the_machine_simulated(fake, options, text):
    fake.run("exit 0", *options)
    argv = fake.argv()
    assert argv[argv.index("-smp") + 1] == text


def test_default_machine(fake):
    fake.run("exit 0", "--", "bench=hackbench", "arms=a,b")
    argv = fake.argv()
    assert argv[argv.index("-smp") + 1] == "16,sockets=2,cores=4,threads=2"
    assert argv[argv.index("-cpu") + 1] == "max,vendor=GenuineIntel"
    assert argv[argv.index("-append") + 1] == "bench=hackbench arms=a,b"
    assert "-icount" not in argv


def test_icount_goes_with_cost_insn_only(fake):
    fake.run("exit 0", "--exec", "smp", "--", "cost=insn")
    argv = fake.argv()
    assert argv[argv.index("-icount") + 1] == "shift=0,sleep=off"
    assert argv[argv.index("-accel") + 1] == "tcg,thread=single"
    assert argv[argv.index("-append") + 1] == "cost=insn exec=smp"


def test_numa_splits_cpus_and_memory(fake):
    fake.run("exit 0", "--smp", "2x22x2", "--numa", "2")
    argv = fake.argv()
    assert "node,nodeid=0,memdev=mem0,cpus=0-43" in argv
    assert "node,nodeid=1,memdev=mem1,cpus=44-87" in argv
    assert "dist,src=0,dst=1,val=20" in argv


def test_any_directory_and_extra_arguments(fake, tmp_path):
    fake.run("exit 0", "--qemu", "-d 'a b'", cwd=tmp_path)
    assert fake.argv()[-2:] == ["-d", "a b"]


@pytest.mark.parametrize("options,text", [
    (["--smp", "2x2"], "--smp 2x2"),
    (["--smp", "0x2x2"], "--smp 0x2x2"),
    (["--bogus"], "--bogus"),
    (["--exec", "host"], "Permission denied"),  # the false image cannot be run
    (["--exec", "host", "--iso"], "there is no QEMU"),
    (["--exec", "host", "--smp", "8,sockets=1"], "takes SOCKETSxCORESxTHREADS"),
    (["--numa", "3"], "--numa 3"),
    (["--accel", "kvm", "--", "cost=insn"], "cost=insn"),
    (["--exec", "smp", "--", "exec=mux"], "exec=mux"),
    (["--", "groups=1 loops=2"], "groups=1 loops=2"),
    (["--iso", "--", "x=$HOME"], "x=$HOME"),
    (["--timeout", "-1"], "--timeout"),
    (["--qemu", "'"], "--qemu"),
])
def test_usage_error_is_one_line(fake, options, text):
    done = fake.run("echo ran; exit 1", *options)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and text in done.stderr


def test_missing_image_is_named(tmp_path):
    done = subprocess.run([RUN, "--image", str(tmp_path / "none.elf")], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "run make first" in done.stderr


def test_each_warning_of_qemu_is_shown_once(fake):
    done = fake.run("for i in 1 2 3; do echo same >&2; done; echo other >&2; exit 5")
    assert done.stderr == "same\nother\n"


def test_gdb_prints_how_to_attach(fake):
    done = fake.run(f"printf \"{END_OK}\"; exit 1", "--gdb")
    port = re.search(r"target remote 127\.0\.0\.1:(\d+)", done.stdout).group(1)
    argv = fake.argv()
    assert argv[argv.index("-gdb") + 1] == f"tcp:127.0.0.1:{port}" and "-S" in argv


def test_reader_that_leaves_ends_qemu(fake):
    run = f"{sys.executable} {RUN} --image {fake.image}"
    fake.run("exit 0")
    fake.script.write_text("#!/bin/sh\nwhile echo line; do :; done\n")
    done = subprocess.run(["sh", "-c", f"{run} | head -n 1"], capture_output=True, text=True,
                          env=dict(os.environ, QEMU=str(fake.script)), timeout=20, check=False)
    assert done.stdout == "line\n" and "Traceback" not in done.stderr


class Lines:
    def __init__(self):
        self.text = b""

    def feed(self, data):
        self.text += data


@pytest.mark.parametrize("since_output, whole", [(True, True), (False, False)])
def test_a_long_command_that_goes_on_is_not_stopped(since_output, whole):
    proc = con.start(["/bin/sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.4; done"])
    seen = Lines()
    try:
        assert con.pump(proc, seen, 1.2, since_output) == whole
    finally:
        con.stop(proc)
    assert seen.text.endswith(b"6\n") == whole


def test_a_command_that_falls_silent_is_stopped():
    proc = con.start(["/bin/sh", "-c", "echo 1; exec sleep 60"])
    try:
        assert not con.pump(proc, Lines(), 0.5, since_output=True)
    finally:
        con.stop(proc)
