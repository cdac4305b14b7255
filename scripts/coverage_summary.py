#!/usr/bin/env python3
"""Sums up the export of llvm-cov: lines and functions that a test entered, by folder, and functions that none entered.

usage: scripts/coverage_summary.py EXPORT.json NEVER.txt   (EXPORT.json: llvm-cov export; called by scripts/coverage)
"""
import collections
import json
import os
import subprocess
import sys

export, never = sys.argv[1:]
root = os.getcwd() + "/"
data = json.load(open(export))["data"][0]
totals = collections.defaultdict(lambda: [0, 0])
for file in data["files"]:
    name = file["filename"].removeprefix(root)
    if not name.startswith("/"):
        lines = file["summary"]["lines"]
        totals[name.split("/")[0]][0] += lines["covered"]
        totals[name.split("/")[0]][1] += lines["count"]

# A function may stand in several programs and, where it is a template, in several forms: entered once is entered.
entered = {}
for function in data["functions"]:
    name = function["filenames"][0].removeprefix(root)
    if name.split("/")[0] in ("core", "render", "app"):
        place = (name, function["regions"][0][0])
        count, mangled = entered.get(place, (0, function["name"]))
        entered[place] = (count + function["count"], mangled)
unused = sorted((place, mangled) for place, (count, mangled) in entered.items() if count == 0)
words = subprocess.run(["c++filt"], input="\n".join(m.split(":")[-1] for _, m in unused), capture_output=True, text=True,
                       check=True).stdout.splitlines()
with open(never, "w") as out:
    for ((name, line), _), word in zip(unused, words):
        out.write(f"{name}:{line}: {word}\n")
for folder, (covered, count) in sorted(totals.items()):
    mine = [c for (name, _), (c, _) in entered.items() if name.startswith(folder + "/")]
    if mine:
        print(f"{folder}: {100 * covered / count:.1f} % of {count:,} lines; {sum(c > 0 for c in mine):,} of {len(mine):,} functions")
print(f"{len(unused)} functions that no test enters: {never}")
