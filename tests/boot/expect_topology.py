# SPDX-License-Identifier: MIT
"""Works out, from APIC IDs and shifts alone, everything that the boot log and the
topology frame must say about a machine (spec/topology.md sections 3, 5 and 6)."""

import re


def expand(text):
    """'0-2,4-6' -> [0, 1, 2, 4, 5, 6]"""
    numbers = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def dense(keys):
    """Numbers in order of first appearance."""
    seen = {}
    return [seen.setdefault(k, len(seen)) for k in keys]


class Machine:
    def __init__(self, ids, core, die, pkg, llc, nodes=None):
        self.ids = ids
        cpus = range(len(ids))
        node_of = {c: n for n, members in enumerate(nodes or [list(cpus)]) for c in members}
        self.node = [node_of[c] for c in cpus]
        self.pkg = dense(i >> pkg for i in ids)
        self.die = dense(i >> die for i in ids)
        self.core = dense(i >> core for i in ids)
        self.llc = dense((i >> llc, self.node[c]) for c, i in enumerate(ids))
        self.thread = [self.members(self.core, c).index(c) for c in cpus]
        self.sibling_weight = [len(self.members(self.core, c)) for c in cpus]

    @staticmethod
    def members(numbers, cpu):
        return [c for c, n in enumerate(numbers) if n == numbers[cpu]]

    def levels(self, cpu):
        """Domains before pruning, bottom first, until one spans the machine."""
        yield "SMT", self.members(self.core, cpu)
        yield "MC", self.members(self.llc, cpu)
        yield "DIE", self.members(self.node, cpu)
        yield "NUMA", list(range(len(self.ids)))

    def domains(self, cpu):
        stack = []
        for name, span in self.levels(cpu):
            if not stack or len(span) not in (1, len(stack[-1][1])):
                stack.append((name, span))
            if len(span) == len(self.ids):
                break
        if stack and len(stack[0][1]) == 1:
            stack.pop(0)
        return [(name, len(span)) for name, span in stack]

    def llc_domain(self, cpu):
        """sd_llc: the highest of the bottom run of SMT and MC. (first CPU, size)"""
        span = [cpu]
        for name, _ in self.domains(cpu):
            if name not in ("SMT", "MC"):
                break
            span = self.members(self.core if name == "SMT" else self.llc, cpu)
        return span[0], len(span)

    def frame_fields(self):
        weights = self.sibling_weight
        return {"packages": max(self.pkg) + 1, "dies": max(self.die) + 1,
                "llcs": max(self.llc) + 1, "cores": max(self.core) + 1,
                "cpus": len(self.ids), "smt_max": max(weights), "smt_min": min(weights)}

    def frame_cpus(self):
        return [{"cpu": c, "apic": self.ids[c], "pkg": self.pkg[c], "die": self.die[c],
                 "core": self.core[c], "thread": self.thread[c], "llc": self.llc[c],
                 "node": self.node[c], "sibling_weight": self.sibling_weight[c],
                 "domains": [{"name": n, "weight": w} for n, w in self.domains(c)]}
                for c in range(len(self.ids))]

    def log_lines(self):
        for c in range(len(self.ids)):
            yield (f"topo: cpu{c} apic={self.ids[c]} pkg={self.pkg[c]} die={self.die[c]} "
                   f"core={self.core[c]} thr={self.thread[c]} llc={self.llc[c]} "
                   f"node={self.node[c]} sibw={self.sibling_weight[c]}")
        f = self.frame_fields()
        yield (f"topo: packages={f['packages']} dies={f['dies']} llcs={f['llcs']} "
               f"cores={f['cores']} smt_max={f['smt_max']} smt_min={f['smt_min']}")

    def domain_line(self, cpu):
        levels = " ".join(f"{n}:{w}" for n, w in self.domains(cpu)) or "none"
        llc_id, llc_size = self.llc_domain(cpu)
        return f"sd {levels} llc_id={llc_id} llc_size={llc_size}"


def ints(text):
    return [int(n) for n in text.split("/")]


def check_log(machine, stanza, console):
    found = []
    topo = [line for line in console.splitlines() if line.startswith("topo: ")]
    core, die, pkg, llc = ints(stanza["shifts"])
    wanted = [f"topo: madt enabled={len(machine.ids)} disabled={stanza.get('disabled', '0')} "
              f"started={len(machine.ids)} dropped=0 apic=xapic",
              f"topo: src={stanza['src']} vendor={stanza.get('vendor', 'GenuineIntel')} "
              f"C={core} D={die} P={pkg} llc={stanza.get('llc_src', 'leaf4')} shift={llc}"]
    found += [f"no line '{line}'" for line in wanted + list(machine.log_lines())
              if line not in topo]
    said = {}  # cpu -> its sd text; runs of CPUs may be folded into one line
    for line in topo:
        sd = re.fullmatch(r"topo: cpu(\d+)(?:-(\d+))? (sd .*)", line)
        if sd:
            for cpu in range(int(sd[1]), int(sd[2] or sd[1]) + 1):
                said[cpu] = sd[3]
    found += [f"cpu{c}: '{said.get(c)}', not '{machine.domain_line(c)}'"
              for c in range(len(machine.ids)) if said.get(c) != machine.domain_line(c)]
    codes = {line.split()[2] for line in topo if line.startswith("topo: WARN ")}
    if codes != set(stanza.get("warnings", "").split()):
        found.append(f"WARN lines {sorted(codes)}, not {stanza.get('warnings', 'none')}")
    return found


def check_frame(machine, stanza, frame):
    found = []
    for field, want in {**machine.frame_fields(), "source": stanza["src"]}.items():
        if frame[field] != want:
            found.append(f"topology.{field} {frame[field]}, not {want}")
    if sorted(frame["warnings"]) != sorted(stanza.get("warnings", "").split()):
        found.append(f"topology.warnings {frame['warnings']}, not {stanza.get('warnings')}")
    for got, want in zip(frame["cpu"], machine.frame_cpus()):
        got = {k: v for k, v in got.items() if k in want}
        if got != want:
            found.append(f"topology.cpu {got}, not {want}")
    return found[:12]


def from_stanza(stanza):
    nodes = [expand(n) for n in stanza["nodes"].split("/")] if "nodes" in stanza else None
    return Machine(expand(stanza["ids"]), *ints(stanza["shifts"]), nodes)


def check_table(machine, stanza):
    """The masks and weights that the specification's table gives for the row must
    be those that follow from its IDs and shifts: a wrong stanza fails."""
    last = len(machine.ids) - 1
    smt0, llc0, llc_last = stanza["masks"].split(";")
    found = []
    for name, want, got in (("smt(0)", smt0, machine.members(machine.core, 0)),
                            ("llc(0)", llc0, machine.members(machine.llc, 0)),
                            ("llc(last)", llc_last, machine.members(machine.llc, last))):
        if expand(want) != got:
            found.append(f"stanza: {name} {want}, but IDs and shifts give {got}")
    for key, cpu in (("domains", 0), ("last_domains", last)):
        text = " ".join(f"{n}:{w}" for n, w in machine.domains(cpu))
        if key in stanza and stanza[key] != text:
            found.append(f"stanza: {key} {stanza[key]}, but IDs and shifts give {text}")
    return found
