# shellcheck shell=bash
# The tests of the real window source this: a folder of their own ($work), an X server that nobody sees, and waiting.
work=$(mktemp -d)
cleanup() {
    kill "${window_pid:-}" "${xvfb_pid:-}" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "$(basename "$0" .sh): $*" >&2; cat "$work"/log >&2 || true; exit 1; }

# Xvfb takes a free display by itself and says which once it is ready.
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
found() { id=$(xdotool search --onlyvisible --name 'Pentamesh' 2>/dev/null | head -n 1) && [ -n "$id" ]; }
