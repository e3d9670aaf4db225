# SPDX-License-Identifier: MIT
"""From a machine's description to QEMU's command line."""

import os
import re
import shutil

SHAPE = re.compile(r"[1-9]\d{0,4}(x[1-9]\d{0,4}){2,3}")
QEMU_SMP = re.compile(r"(cpus=)?[1-9]\d{0,4}(,[a-z]+=\d+)*")


class Usage(Exception):
    """A command line that cannot be run; the text says why, in one line."""


def smp_text(smp):
    """SxCxT, SxDxCxT or QEMU's own text -> the argument of -smp."""
    if SHAPE.fullmatch(smp):
        *pkgs_dies, cores, threads = (int(n) for n in smp.split("x"))
        pkgs, dies = pkgs_dies if len(pkgs_dies) == 2 else (pkgs_dies[0], 1)
        text = f"{pkgs * dies * cores * threads},sockets={pkgs}"
        if dies > 1:
            text += f",dies={dies}"
        return text + f",cores={cores},threads={threads}"
    if QEMU_SMP.fullmatch(smp):
        return smp
    raise Usage(f"--smp {smp}: SOCKETSxCORESxTHREADS, SOCKETSxDIESxCORESxTHREADS "
                "or QEMU's text, such as 5,sockets=1,cores=3,threads=2,maxcpus=6")


def smp_ids(text):
    """How many CPU numbers the -smp text has, disabled ones included."""
    found = re.search(r"maxcpus=(\d+)", text) or re.match(r"(?:cpus=)?(\d+)", text)
    return int(found.group(1))


def numa_args(nodes, smp, mem_mib):
    """Splits CPUs and memory evenly over the nodes; distance 20 between any two."""
    cpus = smp_ids(smp)
    if nodes < 2:
        raise Usage(f"--numa {nodes}: at least 2 nodes")
    if cpus % nodes:
        raise Usage(f"--numa {nodes}: does not divide {cpus} CPUs")
    args, share, rest = [], mem_mib // nodes, mem_mib % nodes
    for node in range(nodes):
        first, last = node * cpus // nodes, (node + 1) * cpus // nodes - 1
        size = share + (rest if node == 0 else 0)
        args += ["-object", f"memory-backend-ram,id=mem{node},size={size}M",
                 "-numa", f"node,nodeid={node},memdev=mem{node},cpus={first}-{last}"]
    for a in range(nodes):
        for b in range(nodes):
            args += ["-numa", f"dist,src={a},dst={b},val={10 if a == b else 20}"]
    return args


def qemu_binary():
    """QEMU overrides the program, as CC does in make."""
    name = os.environ.get("QEMU", "qemu-system-x86_64")
    path = shutil.which(name)
    if not path:
        raise Usage(f"{name} is not installed: tools/setup run")
    return path


def qboot(binary):
    """The small firmware that starts in 0.1 s and leaves APs asleep, if there is one."""
    share = os.path.join(os.path.dirname(os.path.realpath(binary)), "..", "share")
    for folder in (os.path.join(share, "qemu"), "/usr/share/qemu", "/usr/share/seabios"):
        if os.path.exists(os.path.join(folder, "qboot.rom")):
            return os.path.join(folder, "qboot.rom")
    return None
