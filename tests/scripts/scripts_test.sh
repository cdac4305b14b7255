#!/usr/bin/env bash
# Runs ./run and ./check with stand-ins for apt, CMake and the program: checks which packages they install, their
# builds, starts and messages. Nothing is installed or built.
# shellcheck disable=SC2016  # a stand-in's text is expanded when it is called
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# Makes a copy of the scripts, the few tools that they use, and stand-ins that write their arguments to "log".
# USER_ID, LACK_PACKAGES, UNKNOWN_PACKAGES and CMAKE_STAND_IN (its version) steer the stand-ins.
fresh() {
    rm -rf "${work:?}/tree" "${work:?}/bin" "$work/log"
    mkdir -p "$work/tree/scripts" "$work/bin"
    : > "$work/log"
    cp "$root/run" "$root/check" "$work/tree"
    cp "$root/scripts/setup.sh" "$work/tree/scripts"
    local tool
    for tool in bash env sed comm sort head mkdir dirname realpath grep uname cat ls tr chmod touch rm; do
        ln -s "$(command -v $tool)" "$work/bin/$tool"
    done
    stand_in id 'echo "${USER_ID:-0}"'
    stand_in dpkg-query 'shift 3
for p; do case " ${LACK_PACKAGES:-} " in *" $p "*) ;; *) echo "installed $p" ;; esac; done'
    stand_in apt-get 'echo "apt-get $*" >> "$LOG"'
    stand_in apt-cache 'case " ${UNKNOWN_PACKAGES:-} " in *" $2 "*) ;; *) echo "$2 | 1" ;; esac'
    stand_in cmake 'case "$1" in --version) echo "cmake version ${CMAKE_STAND_IN:-3.25.1}"; exit ;; esac
echo "cmake $*" >> "$LOG"
case "$*" in *"--preset release"*) mkdir -p build/release/bin; touch build/release/build.ninja
    echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" > build/release/CMakeCache.txt ;; esac
[ -e build/release/bin/pentamesh ] || { printf "#!/usr/bin/env bash\necho pentamesh \"\$@\" >> \"\$LOG\"\n" > build/release/bin/pentamesh
    chmod +x build/release/bin/pentamesh; }'
    stand_in ctest 'echo "ctest $*" >> "$LOG"'
    for tool in ninja c++ python3 pkg-config git; do stand_in $tool ':'; done
}
stand_in() {
    rm -f "$work/bin/$1"
    printf '#!/usr/bin/env bash\n%s\n' "$2" > "$work/bin/$1"
    chmod +x "$work/bin/$1"
}
# start SCRIPT ARGUMENT... sets $output, the exit status in $status, calls in $calls. The display is that of
# DISPLAY_FOR_TEST.
start() {
    status=0
    output=$(cd "$work/tree" && env -i PATH="$work/bin" LOG="$work/log" USER_ID="${USER_ID:-0}" \
        LACK_PACKAGES="${LACK_PACKAGES:-}" UNKNOWN_PACKAGES="${UNKNOWN_PACKAGES:-}" CMAKE_STAND_IN="${CMAKE_STAND_IN:-}" \
        DISPLAY="${DISPLAY_FOR_TEST:-}" "$@" 2>&1) || status=$?
    calls=$(cat "$work/log")
}
expect() {  # WHAT CONDITION...
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  status %s\n  output: %s\n  calls: %s\n' "$what" "$status" "$output" "$calls"
    fi
}
has() { grep -qE -- "$2" <<< "$1"; }
lacks() { ! has "$1" "$2"; }
is() { [ "$1" = "$2" ]; }

fresh
start ./run
expect "with every package there, apt is left alone" lacks "$calls" apt-get
expect "run configures and builds the program alone" has "$calls" '--build --preset release --target pentamesh$'
expect "without a display run draws the default plan's dashboard" has "$calls" '^pentamesh screenshot llama-3.1-405b-16k --view dashboard -o out/dashboard.png$'
expect "run says where the picture is" has "$output" "$work/tree/out/dashboard.png"
expect "run succeeds" is "$status" 0

start ./run
expect "the second time nothing is configured again" is "$(grep -c '^cmake --preset' "$work/log")" 1

echo "CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere" > "$work/tree/build/release/CMakeCache.txt"
start ./run
expect "a build folder made elsewhere is configured afresh" has "$calls" '^cmake --fresh --preset release$'

fresh
touch "$work/tree/my plan.json"
start ./run "my plan.json"
expect "a plan file is handed on by its full path" has "$calls" "^pentamesh screenshot $work/tree/my plan.json --view"

fresh
DISPLAY_FOR_TEST=far:0 start ./run mesh-8
expect "with a display the window opens on the plan" has "$calls" '^pentamesh mesh-8$'
expect "with a display no picture is drawn" lacks "$calls" screenshot

fresh
DISPLAY_FOR_TEST=:4242 start ./run
expect "a display whose server is gone counts as none" has "$calls" '^pentamesh screenshot'

fresh
LACK_PACKAGES="ninja-build libimgui-dev" start ./run
expect "what is missing is installed, and only that" has "$calls" '^apt-get .*install --no-install-recommends libimgui-dev ninja-build$'
expect "run says what it installs" has "$output" 'Installing with apt: libimgui-dev ninja-build$'

fresh
LACK_PACKAGES="ninja-build libimgui-dev" UNKNOWN_PACKAGES=libimgui-dev start ./run
expect "an optional package that apt does not know is left to CMake" has "$calls" 'install --no-install-recommends ninja-build$'
expect "and the build goes on" is "$status" 0

fresh
LACK_PACKAGES=ninja-build USER_ID=1000 start ./run
expect "without root and sudo it fails" is "$status" 1
expect "and names the command that an administrator can type" has "$output" 'apt-get install --no-install-recommends ninja-build$'
expect "and builds nothing" lacks "$calls" cmake

fresh
stand_in sudo 'echo "sudo $*" >> "$LOG"; exec "$@"'
LACK_PACKAGES=ninja-build USER_ID=1000 start ./run
expect "without root, sudo installs" has "$calls" '^sudo env DEBIAN_FRONTEND=noninteractive apt-get .*install .*ninja-build$'

fresh
stand_in apt-get 'echo "apt-get $*" >> "$LOG"; case "$*" in *install*) [ "$(grep -c update "$LOG")" -gt 0 ] ;; esac'
LACK_PACKAGES=g++ start ./run
expect "lists that are too old are fetched again, once" is "$(grep -c ' update$' "$work/log")" 1
expect "and the installation succeeds then" is "$status" 0

fresh
stand_in apt-get 'echo "apt-get $*" >> "$LOG"; case "$*" in *install*) exit 100 ;; esac'
LACK_PACKAGES=g++ start ./run
expect "a package that cannot be installed ends the script" is "$status" 1
expect "and is named" has "$output" 'apt could not install g\+\+'

fresh
rm "$work/bin/apt-get" "$work/bin/ninja"
start ./run
expect "without apt it says what to install" has "$output" 'please install: Ninja;'
expect "and fails" is "$status" 1

fresh
CMAKE_STAND_IN=3.22.1 start ./run
expect "a CMake that is too old is refused with both versions" has "$output" '3\.22\.1 is too old; 3\.25'

fresh
start ./check -DPENTAMESH_WERROR=ON
expect "check hands its options to CMake" has "$calls" '^cmake --preset release -DPENTAMESH_WERROR=ON$'
expect "check builds everything" has "$calls" '--build --preset release$'
expect "check runs the tests last" is "$(tail -n 1 "$work/log")" "ctest --test-dir build/release -j 2 --output-on-failure"

fresh
start ./run
start ./check
expect "check after run configures again, so that what it installed is found" is "$(grep -c '^cmake --preset' "$work/log")" 2
expect "check says that nothing was left out" has "$output" 'No test was left out'
mkdir -p "$work/tree/build/release"
echo "window: there is no xdotool" > "$work/tree/build/release/tests_left_out.txt"
start ./check
expect "check ends with what did not run, and why" is "$(tail -n 1 <<< "$output")" "window: there is no xdotool"
stand_in ctest 'echo "ctest $*" >> "$LOG"; mkdir -p build/release/left_out; echo "a case: no pdftotext" > build/release/left_out/cli.txt; exit 8'
start ./check
expect "a failed test is check's status" is "$status" 8
expect "and what tests left out themselves is said" has "$output" 'a case: no pdftotext'

fresh
LACK_PACKAGES="xdotool" start ./check
expect "check installs what the tests need" has "$calls" 'install --no-install-recommends xdotool$'

# The packages that docs/building.md lists are those that are installed.
documented() {  # N: the packages of the Nth "apt-get install" block
    awk -v n="$1" '/^```/ { here = 0; next } /^apt-get install/ { here = ++block == n } here { gsub(/\\$/, ""); print }' \
        "$root/docs/building.md" | sed 's/^apt-get install//' | tr -s ' ' '\n' | grep . | sort -u
}
installed() {  # VARIABLE
    # shellcheck disable=SC2086
    (cd "$root" && . scripts/setup.sh && printf '%s\n' ${!1}) | grep -vx -e -- | sort -u
}
expect "docs/building.md lists the packages of a build" is "$(documented 1)" "$(installed BUILD_PACKAGES)"
expect "docs/building.md lists the packages of the tests" is "$(documented 2)" "$(installed TEST_PACKAGES)"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
