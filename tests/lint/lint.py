#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Rules that a compiler does not check. Each takes the root of a source tree and
yields findings as 'file:line: what is wrong'. Run alone, it prints them all."""

import fnmatch
import os
import re
import sys

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
C_LIKE = (".c", ".h", ".S", ".def")
SOURCE = C_LIKE + (".ld", ".mk", ".py", ".cfg", ".awk", "layers.txt")
FREESTANDING = {"stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "limits.h", "stdalign.h"}
TABLES = (".def", ".cfg")
INTEGER_ONLY = ("boot/", "arch-x86/", "kernel/", "sched/")
LINES_MAX, COLUMNS_MAX, TAB = 600, 100, 8
# Split so that this file does not find itself.
WORDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
HOME_PATHS = re.compile(r"/(ho" r"me|ro" r"ot|Us" r"ers)/\w")


def files(root, suffixes=SOURCE):
    """Relative paths of the sources, scripts without a suffix included."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(d for d in subfolders
                               if d not in ("build", "__pycache__") and not
                               (d.startswith(".") and d != ".ci"))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(suffixes) or (suffixes is SOURCE and is_script(path, name)):
                yield os.path.relpath(path, root)


def is_script(path, name):
    if name == "Makefile":
        return True
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


def lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read().split("\n")


def read_layers(path):
    layers, folder = {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words and line[0].isspace():
                layers[folder] += words
            elif words:
                folder = words[0]
                layers[folder] = words[1:]
    return layers


def layer_of(layers, path):
    fits = [folder for folder in layers if path.startswith(folder + "/")]
    return max(fits, key=len, default=None)


def resolve(root, path, name):
    """An #include "name" -> path in the tree, as the compiler would find it."""
    for base in (os.path.dirname(path), ""):
        full = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(root, full)):
            return full
    return name


def allowed(layers, layer, target):
    if layer_of(layers, target) == layer:
        return True
    for edge in layers[layer]:
        if edge.endswith("/"):
            if target.startswith(edge):
                return True
        elif "*" in edge:
            if fnmatch.fnmatch(target, edge) and target.count("/") == edge.count("/"):
                return True
        elif target == edge:
            return True
    return False


def includes(root):
    """Folders include only what layers.txt allows."""
    layers = read_layers(os.path.join(root, "tests/lint/layers.txt"))
    for path in files(root, C_LIKE):
        layer = layer_of(layers, path)
        for nr, line in enumerate(lines(root, path), 1):
            found = re.match(r'\s*#\s*include\s*(<([^>]+)>|"([^"]+)")', line)
            if not found:
                continue
            if layer is None:
                yield f"{path}:{nr}: its folder is not in layers.txt"
                break
            if found.group(2):
                if found.group(2) not in FREESTANDING and "<>" not in layers[layer]:
                    yield f"{path}:{nr}: <{found.group(2)}> is not freestanding"
                continue
            target = resolve(root, path, found.group(3))
            if not allowed(layers, layer, target):
                yield f"{path}:{nr}: {layer} may not include {target}"


def spdx(root):
    """Every source names its licence in the first line, after a '#!'."""
    for path in files(root):
        head = lines(root, path)[:2]
        first = head[1] if head[0].startswith("#!") and len(head) > 1 else head[0]
        if "SPDX-License-Identifier: MIT" not in first:
            yield f"{path}:1: no SPDX line"


def words(root):
    """No reminders of work not done, no paths of somebody's machine."""
    for path in files(root):
        for nr, line in enumerate(lines(root, path), 1):
            found = WORDS.search(line) or HOME_PATHS.search(line)
            if found:
                yield f"{path}:{nr}: {found.group(0)}"


def code_only(text):
    """Blanks comments and strings, keeping line numbers."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.DOTALL)


def floats(root):
    """The kernel and the scheduler have no floating point."""
    for path in files(root, C_LIKE):
        if not path.startswith(INTEGER_ONLY):
            continue
        for nr, line in enumerate(code_only("\n".join(lines(root, path))).split("\n"), 1):
            found = re.search(r"\b(float|double)\b|(?<![\w.])\d+\.\d+(?!\w*\")", line)
            if found:
                yield f"{path}:{nr}: floating point: {found.group(0)}"


def sizes(root):
    """Files of one idea, lines that fit. Tables may be longer and wider."""
    for path in files(root):
        if path.endswith(TABLES):
            continue
        text = lines(root, path)
        if len(text) - 1 > LINES_MAX:
            yield f"{path}:{LINES_MAX}: {len(text) - 1} lines, at most {LINES_MAX}"
        for nr, line in enumerate(text, 1):
            if len(line.expandtabs(TAB)) > COLUMNS_MAX:
                yield f"{path}:{nr}: {len(line.expandtabs(TAB))} columns"


def whitespace(root):
    """No blanks at the end of a line, one newline at the end of a file."""
    for path in files(root):
        text = lines(root, path)
        for nr, line in enumerate(text, 1):
            if line != line.rstrip():
                yield f"{path}:{nr}: blanks at the end"
        if text[-1] or (len(text) > 1 and not text[-2]):
            yield f"{path}:{len(text)}: wants one newline at the end"


RULES = (includes, spdx, words, floats, sizes, whitespace)


if __name__ == "__main__":
    found_any = False
    for rule in RULES:
        for finding in rule(sys.argv[1] if len(sys.argv) > 1 else REPO):
            found_any = True
            print(finding)
    sys.exit(1 if found_any else 0)
