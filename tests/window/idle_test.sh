#!/usr/bin/env bash
# A real window under Xvfb with a lesson open: while nothing moves it takes no processor time, and it still sees that the lesson's file changed.
# usage: idle_test.sh PENTAMESH SOURCE_DIR
set -euo pipefail
program=$1 source=$2
# shellcheck source=tests/window/on_xvfb.sh
. "$(dirname "${BASH_SOURCE[0]}")/on_xvfb.sh"

cp "$source/assets/lessons/08-mesh.md" "$work/lesson.md"
"$program" "$work/lesson.md" > "$work/log" 2>&1 &
window_pid=$!
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
