#!/usr/bin/env bash
# A real window under Xvfb with a lesson open: while nothing moves it takes no processor time, and it still sees that the lesson's file changed.
# usage: idle_test.sh PENTAMESH SOURCE_DIR
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
cleanup() {
    kill "${window_pid:-}" "${xvfb_pid:-}" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "idle_test: $*" >&2; cat "$work"/log >&2 || true; exit 1; }

Xvfb -displayfd 3 -screen 0 1600x1000x24 -noreset -nolisten tcp 3>"$work/display" 2>"$work/xvfb" &
xvfb_pid=$!
wait_for() {  # WHAT COMMAND...: until the command succeeds, at most 60 seconds
    local what=$1 tries=0
    shift
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || fail "waited a minute for $what"
        sleep 0.1
    done
}
wait_for "Xvfb" test -s "$work/display"
DISPLAY=:$(head -n 1 "$work/display")
export DISPLAY XDG_CONFIG_HOME="$work/config" PENTAMESH_FILE_DIALOG=own
unset WAYLAND_DISPLAY

cp "$source/assets/lessons/08-mesh.md" "$work/lesson.md"
"$program" "$work/lesson.md" > "$work/log" 2>&1 &
window_pid=$!
found() { id=$(xdotool search --onlyvisible --name 'Pentamesh' 2>/dev/null | head -n 1) && [ -n "$id" ]; }
wait_for "the window" found
xdotool mousemove --window "$id" 700 400
ticks() { awk '{print $14 + $15}' "/proc/$window_pid/stat"; }  # user and system time, hundredths of a second
calm() {  # a second without work: it has drawn what it had to
    local before
    before=$(ticks)
    sleep 1
    [ $(($(ticks) - before)) -le 2 ]
}
wait_for "the window to be still" calm
before=$(ticks)
sleep 10
spent=$(($(ticks) - before))
[ "$spent" -le 10 ] || fail "an idle window with a lesson open took $spent hundredths of a second in ten seconds"

if command -v xwd >/dev/null; then
    picture() { xwd -silent -id "$id" 2>/dev/null | cksum || true; }
    shown=$(picture)
    sed -i 's/^## Factors that multiply.*/## Another title/' "$work/lesson.md"
    changed() { [ "$(picture)" != "$shown" ]; }
    wait_for "the changed lesson to be shown" changed
fi
echo "idle_test: $spent hundredths of a second in ten seconds; a changed lesson is seen"
