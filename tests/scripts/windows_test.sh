#!/usr/bin/env bash
# windows_test.sh ARCHIVE PROGRAM: unpacks the Windows build and runs it under Wine; its figures are PROGRAM's. Where
# PROGRAM is not built, that one is left out.
set -euo pipefail
archive=$(realpath "$1") program=${2:-}
work=$(mktemp -d)
trap 'WINEPREFIX="$work/wine" wineserver -k || true; rm -rf "$work"' EXIT
unzip -q "$archive" -d "$work"
file=$(echo "$work"/pentamesh-*/bin/pentamesh.exe)
export WINEPREFIX=$work/wine WINEDEBUG=-all WINEARCH=win64 DISPLAY=

passed=0 failed=0
expect() {  # WHAT COMMAND...
    local what=$1
    shift
    if "$@" > "$work/out.txt" 2> "$work/err.txt" < /dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        head -n 5 "$work/err.txt"
    fi
}
exe() { timeout 120 wine "$file" "$@" | tr -d '\r'; }
refuses() { ! timeout 120 wine "$file" report "$1"; }
same() { cmp <(exe "$@") <("$program" "$@"); }
expect "Wine starts" timeout 300 wineboot -i
expect "the program starts" exe --version
if [ -x "$program" ]; then
    for plan in mesh-8 llama-3-70b-3d llama-3.1-405b-16k; do
        expect "the figures of $plan are the same" same report $plan --json
    done
    expect "the report of mesh-8 is the same" same report mesh-8
    expect "its timeline is the same" same timeline mesh-8 --json
fi
cd "$work"
expect "an export of settings is written" exe export mesh-8 --to torchtitan -o 'my job.toml'
expect "to a file" grep -q 'tensor_parallel_degree=2' "$work/my job.toml"
cp "$work"/pentamesh-*/share/pentamesh/presets/plans/mesh-8.plan.json "my plan.json"
expect "a plan of a file is read" exe report "my plan.json"
expect "what is wrong ends with a status" refuses no-such-plan
echo "under Wine: $passed passed, $failed failed"
[ "$failed" = 0 ]
