#!/usr/bin/env bash
# A real window under Xvfb, used by mouse and keyboard: open a plan, change tp, see the title and the status line change, undo, save, quit.
# usage: window_test.sh PENTAMESH WHERE SOURCE_DIR
set -euo pipefail
program=$1 where=$2 source=$3
# shellcheck source=tests/window/on_xvfb.sh
. "$(dirname "${BASH_SOURCE[0]}")/on_xvfb.sh"

cp "$source/presets/plans/mesh-8.plan.json" "$work/a.plan.json"
mapfile -t at < <(EGL_PLATFORM=surfaceless "$where" "$work/a.plan.json" 1440x900 layout.tp.minus)

"$program" "$work/a.plan.json" > "$work/log" 2>&1 &
window_pid=$!
wait_for "the window" found
# $1 is a pattern.
# shellcheck disable=SC2254
named() { case "$(xdotool getwindowname "$id")" in $1) return 0 ;; *) return 1 ;; esac; }
wait_for "the plan's name in the title" named '*Two nodes*'
xdotool windowmove "$id" 0 0 windowfocus "$id" 2>/dev/null || true
# Prints a checksum of the last rows of the window, which have the status line.
status() { xwd -silent -id "$id" 2>/dev/null | tail -c 150000 | cksum || true; }
before=$(status)

read -r x y <<< "${at[0]}"
xdotool mousemove --window "$id" "$x" "$y" click 1
wait_for "the edit to be marked in the title" named '* \* *'
changed() { [ "$(status)" != "$before" ]; }
if command -v xwd >/dev/null; then
    wait_for "the status line to change" changed
elif [ -n "${PENTAMESH_LEFT_OUT:-}" ]; then
    mkdir -p "$PENTAMESH_LEFT_OUT"
    echo "the status line (window): xwd is not installed (Debian: x11-apps)" > "$PENTAMESH_LEFT_OUT/window.txt"
fi
xdotool key --window "$id" ctrl+z
unmarked() { ! named '* \* *'; }
wait_for "undo" unmarked
xdotool key --window "$id" ctrl+shift+z
wait_for "redo" named '* \* *'
xdotool key --window "$id" ctrl+s
wait_for "the save" unmarked
grep -q '"tp": 1' "$work/a.plan.json" || fail "tp was not saved: $(grep '"tp"' "$work/a.plan.json")"
xdotool key --window "$id" ctrl+q
ended() { ! kill -0 "$window_pid" 2>/dev/null; }
wait_for "the end of the program" ended
wait "$window_pid" || fail "the program ended with status $?"
window_pid=
[ -z "$(ls -A "$work/config/pentamesh/unsaved" 2>/dev/null)" ] || fail "a saved plan is offered for recovery"
echo "window_test: open, edit, undo, redo, save, quit: done"
