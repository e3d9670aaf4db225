# SPDX-License-Identifier: MIT
"""Runs QEMU and reads its serial console: text for people, frames for tools."""

import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time

OK, FAILED, USAGE, PANIC, NO_END, TIMED_OUT = 0, 1, 2, 3, 4, 124
PR_SET_PDEATHSIG = 1


class Console:
    """Splits the byte stream. Text passes at once, also an unfinished line, so
    that a progress line is seen; a line that begins with '@{' is a frame."""

    def __init__(self, text_out, show_frames=False, json_out=None):
        self.text_out = text_out
        self.show_frames = show_frames
        self.json_out = json_out
        self.line = bytearray()
        self.shown = 0          # bytes of the unfinished line already passed on
        self.silent = True      # nothing came yet
        self.end_status = None
        self.checks_failed = 0
        self.bad_frames = []

    def feed(self, data):
        self.silent = self.silent and not data
        pieces = data.split(b"\n")
        for piece in pieces[:-1]:
            self.line += piece
            self._finish_line()
        self.line += pieces[-1]
        if self.line and not self.line.startswith(b"@"):
            # A '\r' at the end may belong to "\r\n", which is printed as "\n".
            visible = len(self.line) - self.line.endswith(b"\r")
            self._text(bytes(self.line[self.shown:visible]))
            self.shown = visible

    def close(self):
        if self.line:
            self._finish_line()

    def _finish_line(self):
        line = bytes(self.line).rstrip(b"\r")
        self.line.clear()
        shown, self.shown = self.shown, 0
        if line.startswith(b"@{"):
            self._frame(line)
        else:
            self._text(line[shown:] + b"\n")

    def _text(self, data):
        if data:
            self.text_out.write(data)
            self.text_out.flush()

    def _frame(self, line):
        if self.show_frames:
            self._text(line + b"\n")
        if self.json_out:
            self.json_out.write(line[1:] + b"\n")
            self.json_out.flush()
        try:
            frame = json.loads(line[1:])
        except ValueError:
            self.bad_frames.append(line)
            return
        if frame.get("type") == "end":
            self.end_status = frame.get("status")
            self.checks_failed = frame.get("checks_failed", 0)


class Warnings:
    """QEMU's stderr. Many warnings come once per vCPU; each line is shown once."""

    def __init__(self):
        self.line = b""
        self.seen = set()

    def feed(self, data):
        *lines, self.line = (self.line + data).split(b"\n")
        for line in lines:
            if line not in self.seen:
                self.seen.add(line)
                sys.stderr.buffer.write(line + b"\n")
        sys.stderr.buffer.flush()


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(argv):
    # A session of its own: Ctrl-C reaches this tool only, which ends QEMU itself.
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True,
                            preexec_fn=_die_with_parent)


def stop(proc):
    if proc.poll() is None:
        proc.terminate()
        try:
            proc.wait(2)
        except subprocess.TimeoutExpired:
            proc.kill()
            proc.wait()


def pump(proc, console, timeout_s, since_output=False):
    """Copies until QEMU closes both streams. False when the time is up; since_output:
    when nothing came for as long."""
    deadline = time.monotonic() + timeout_s if timeout_s else None
    with selectors.DefaultSelector() as sel:
        sel.register(proc.stdout, selectors.EVENT_READ, console.feed)
        sel.register(proc.stderr, selectors.EVENT_READ, Warnings().feed)
        while sel.get_map():
            wait_s = max(0, deadline - time.monotonic()) if deadline else None
            events = sel.select(wait_s)
            if not events and deadline and time.monotonic() >= deadline:
                return False
            for key, _ in events:
                data = os.read(key.fd, 65536)
                if data:
                    key.data(data)
                    if deadline and since_output:
                        deadline = time.monotonic() + timeout_s
                else:
                    sel.unregister(key.fileobj)
    return True


def host_exit_status(console, rc):
    """The native program exits with the status itself."""
    if rc in (USAGE, PANIC):
        return rc
    if console.end_status is None or rc not in (OK, FAILED):
        return NO_END
    failed = rc or console.end_status != "ok" or console.checks_failed or console.bad_frames
    return FAILED if failed else OK


def exit_status(console, qemu_rc):
    """isa-debug-exit ends QEMU with status * 2 + 1. QEMU itself says 1 when it
    refuses to start, and then the guest printed nothing; 0 is a power-off."""
    if qemu_rc == 1 and console.silent:
        return USAGE
    status = qemu_rc >> 1 if qemu_rc > 0 and qemu_rc & 1 else None
    if status in (USAGE, PANIC):
        return status
    if console.end_status is None:
        return NO_END
    if status == FAILED or console.end_status != "ok" or console.checks_failed:
        return FAILED
    if console.bad_frames:
        return FAILED
    return OK if qemu_rc in (0, 1) else NO_END
