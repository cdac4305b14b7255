#!/usr/bin/env python3
"""Checks who may include whom: a folder includes only folders that stand above it in this list, and itself.
core/interop/script reads texts and knows no plan: it includes core/base only, as render does.
A header that names std::int32_t or its kin includes <cstdint>: newer standard libraries do not bring it with <string>.

usage: scripts/check_includes.py   (from the repository's root; prints what breaks a rule and exits 1)
"""
import pathlib
import re
import sys

CORE = ["core/" + name for name in (
    "base plan model mesh io pipeline layer memory sharding comm step rules interop/script interop evaluate advice decide explain "
    "runs teach").split()]
APP = ["app/tables", "app/ui/kit", "app/ui/scene", "app/ui/panels", "app/ui/views", "app/ui/review", "app/ui/lesson", "app/ui/shell",
       "app/platform", "app/cli", "app/web", "app"]


def folder_of(path):
    """Returns the longest entry of the lists that `path` lies in."""
    places = [p for p in CORE + ["render"] + APP if path == p or path.startswith((p + "/", p + "."))]
    return max(places, key=len, default=None)


def allowed(user, used):
    if user == used:
        return True
    if user in ("render", "core/interop/script"):
        return used == "core/base"
    if user in CORE:
        return used in CORE and CORE.index(used) < CORE.index(user)
    if user == "app/ui/kit":
        return used in ("render", "core/base", "app/tables")
    return used not in APP or APP.index(used) < APP.index(user)


# Files of real runs are a product beside the map: only its commands and views include it.
RUNS = "core/runs/"
RUNS_USERS = set("""
    app/cli/commands.cpp app/cli/import.cpp app/cli/output.cpp app/cli/output.h app/cli/runs.cpp app/cli/serve.cpp
    app/tables/decide_tables.h app/tables/review.cpp app/tables/review.h
    app/ui/review/decision.cpp app/ui/review/pages.h app/ui/scene/scene.cpp app/ui/scene/scene.h
    app/ui/shell/decider.cpp app/ui/shell/files.cpp
    app/ui/views/mesh/mesh_figure.cpp app/ui/views/mesh/mesh_run.cpp app/ui/views/step/step_stragglers.cpp
    app/ui/views/timeline/view.cpp""".split())

FIXED_WIDTH = re.compile(r"\bstd::u?int(?:(?:_least|_fast)?(?:8|16|32|64)|max|ptr)_t\b")
bad = []
for file in sorted(p for top in ("core", "render", "app", "tools", "tests") for p in pathlib.Path(top).rglob("*.h")):
    text = file.read_text()
    if FIXED_WIDTH.search(text) and "#include <cstdint>" not in text:
        bad.append(f"{file}: it names {FIXED_WIDTH.search(text)[0]} and does not include <cstdint>")
for file in sorted(p for top in ("core", "render", "app") for p in pathlib.Path(top).rglob("*") if p.suffix in (".h", ".cpp")):
    user = folder_of(file.as_posix())
    for number, line in enumerate(file.read_text().splitlines(), 1):
        found = re.match(r'#include "([^"]+)"', line)
        used = folder_of(found[1]) if found and not found[1].endswith(".inc") else user  # .inc: made by the build
        if found and found[1].startswith(RUNS) and user != RUNS[:-1] and file.as_posix() not in RUNS_USERS:
            bad.append(f"{file}:{number}: {found[1]} is for the commands and views of real runs")
        if user is None or used is None or not allowed(user, used):
            bad.append(f"{file}:{number}: {user} may not include {found[1] if found else '?'}")
print("\n".join(bad) or "Every folder includes only what stands above it, every header what it names of <cstdint>.")
sys.exit(bool(bad))
