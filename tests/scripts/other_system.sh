#!/usr/bin/env bash
# other_system.sh make RELEASE        Makes a bare root of another system (trixie, noble), and installs there what
#                                     scripts/setup.sh installs, by its own words.
# other_system.sh try RELEASE PROGRAM Builds this tree and its tests there with its compiler (-O0, warnings are errors), draws
#                                     a picture and holds its answers to PROGRAM's, which was built here, and to those that
#                                     were written on Debian 12. PENTAMESH_MORE=1: runs all tests of the engine too, and
#                                     builds the core with the other compilers that the release packages.
# Exit status 5 means that the system cannot be had here; the reason is printed. The roots are kept in build/roots.
# shellcheck disable=SC2317  # functions are called by timed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
what=$1 release=$2
root=build/roots/$release

# Runs a command in the root, in the copy of the tree. It has /proc, which is gone with the command.
there() {
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount --bind /proc "$0/proc" && exec chroot "$0" env -i -C /tree HOME=/tmp LC_ALL=C.UTF-8 \
        PATH=/usr/bin:/usr/sbin:/bin:/sbin EGL_PLATFORM=surfaceless LIBGL_ALWAYS_SOFTWARE=1 "$@"' "$root" "$@"
}
say() { printf '%s: %s\n' "$release" "$*"; }
timed() {  # WHAT COMMAND...: prints how long it took, and all that it said where it failed
    local title=$1 began=$SECONDS status=0
    shift
    "$@" > "$root.log" 2>&1 || status=$?
    if [ $status = 0 ]; then
        say "$title: $((SECONDS - began)) s"
    else
        tail -n 60 "$root.log"
        say "$title FAILED with status $status"
        return 1
    fi
}
copy_tree() {
    mkdir -p "$root/tree"
    # A root is kept: what left the tree since must not be compiled there. Its builds stay.
    find "$root/tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    git ls-files -z | tar --null --files-from=- --create | tar --extract --directory="$root/tree"
}

if [ "$what" = make ]; then
    unshare --mount true 2>/dev/null || {
        say "not made: this system does not let a program mount"
        exit 5
    }
    mkdir -p build/roots
    tests/scripts/bare_root.sh "$release" "$root"
    copy_tree
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    [ ! -f "$root/installed" ] || exit 0
    # shellcheck disable=SC2016
    timed "its packages, as ./check installs them" there bash -c '. scripts/setup.sh && set_up "$TEST_PACKAGES"'
    touch "$root/installed"
    exit 0
fi

program=$(realpath "$3")
if [ ! -f "$root/installed" ]; then
    say "not tried: there is no root of it (tests/scripts/other_system.sh make $release)"
    exit 5
fi
copy_tree

# Configures build/NAME there for a compiler and builds targets.
build_with() {  # NAME UNITY C_COMPILER CXX_COMPILER TARGET...
    local name=$1 unity=$2 cc=$3 cxx=$4
    shift 4
    # shellcheck disable=SC2016
    there bash -c 'cmake --preset release -B "$1" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPENTAMESH_WERROR=ON \
        -DPENTAMESH_DEPS=system -DPENTAMESH_UNITY="$2" -DCMAKE_C_COMPILER="$3" -DCMAKE_CXX_COMPILER="$4" \
        && cmake --build "$1" --target "${@:5}"' - "build/$name" "$unity" "$cc" "$cxx" "$@"
}
same() {  # COMMAND...: the same bytes as PROGRAM's
    "$program" "$@" > "$root.wanted" && there build/its/bin/pentamesh "$@" | cmp - "$root.wanted"
}
picture() {
    there build/its/bin/pentamesh screenshot llama-3-70b-3d --view dashboard -o build/dashboard.png
    test -n "$(find "$root/tree/build/dashboard.png" -size +50k)"
}
failed=0
say "$(there c++ --version | head -n 1)"
timed "builds the program and its tests" build_with its ON cc c++ pentamesh core_tests ui_tests || failed=1
if [ $failed = 0 ]; then
    timed "the engine's answers are those that were written on Debian 12" \
        there build/its/bin/core_tests "--test-case=golden figures*" || failed=1
    [ -z "${PENTAMESH_MORE:-}" ] || timed "core_tests" there build/its/bin/core_tests || failed=1
    timed "a picture is drawn" picture || failed=1
    timed "the marks of all pictures are those that were written on Debian 12" \
        there build/its/bin/ui_tests "--source-file=*marks_test*" || failed=1
    timed "words are whole in PDF and SVG" there python3 tests/cli/cli_test.py build/its/bin/pentamesh . \
        Pictures.test_words_are_whole_in_a_picture_as_pdf || failed=1
    for plan in mesh-8 llama-3-70b-3d deepseek-v3-2048; do
        timed "the report of $plan has the same bytes" same report $plan --json || failed=1
    done
fi
if [ -n "${PENTAMESH_MORE:-}" ] && [ "$release" = trixie ]; then
    # shellcheck disable=SC2016
    timed "more compilers" there bash -c '. scripts/setup.sh && install_packages -- g++-13 clang' || failed=1
    timed "builds the core with g++ 13" build_with gcc13 ON gcc-13 g++-13 pentamesh_core || failed=1
    timed "builds the core with $(there clang --version | sed -n 1p)" build_with clang ON clang clang++ pentamesh_core || failed=1
fi
exit $failed
