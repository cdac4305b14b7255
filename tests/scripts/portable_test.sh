#!/usr/bin/env bash
# portable_test.sh --root: makes the bare root, as it is made without that where it is not there.
# portable_test.sh ARCHIVE PROGRAM: unpacks the portable archive in a bare root of the next Debian release, which has
# OpenGL and X11 and nothing else of a desktop, and holds it to PROGRAM's answers there. Needs root and debootstrap.
# The root is kept in build/portable/root for the next time.
set -euo pipefail
if [ "$1" != --root ]; then archive=$(realpath "$1") program=$(realpath "$2"); fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p build/portable
root=build/portable/root release=${PENTAMESH_NEXT_RELEASE:-trixie}
system=libegl1,libopengl0,libgl1,libgl1-mesa-dri,libx11-6,libxext6,libxrender1,libxcb-shm0,libxcb-render0
tests/scripts/bare_root.sh "$release" $root $system
[ "$1" != --root ] || exit 0
unshare --mount true 2>/dev/null || {
    echo "a bare root cannot be used: this system does not let a program mount"
    exit 5
}
rm -rf $root/tried
mkdir -p $root/tried
tar -C $root/tried --strip-components=1 -xJf "$archive"

passed=0 failed=0
expect() {  # WHAT COMMAND...
    local what=$1
    shift
    if "$@" > build/portable/out.txt 2> build/portable/err.txt; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        head -n 5 build/portable/err.txt
    fi
}
# It has /proc, by which a program and its libraries find each other; that is gone with the command.
there() {
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount --bind /proc "$0/proc" && exec chroot "$0" env -i HOME=/tmp LIBGL_ALWAYS_SOFTWARE=1 "$@"' \
        $root "$@"
}
same() {  # COMMAND...: the same bytes as PROGRAM's
    "$program" "$@" > build/portable/wanted.txt
    there /tried/bin/pentamesh "$@" | cmp - build/portable/wanted.txt
}
expect "it is a bare root: of what is beside the program nothing is in the system" \
    bash -c "! ls $root/usr/lib/*/libglfw* $root/usr/lib/*/libcairo* $root/usr/lib/*/libyaml* 2>/dev/null | grep ."
expect "the program starts" there /tried/bin/pentamesh --version
for plan in mesh-8 llama-3-70b-3d llama-3.1-405b-16k; do
    expect "the figures of $plan are the same" same report $plan --json
done
expect "a picture is drawn" there /tried/bin/pentamesh screenshot llama-3-70b-3d --view dashboard -o /tried/dashboard.png
expect "it is as large as its like" test -n "$(find $root/tried/dashboard.png -size +50k 2>/dev/null)"
expect "its plan can be read out of it" there /tried/bin/pentamesh report /tried/dashboard.png
expect "a review is written as PDF" there /tried/bin/pentamesh review mesh-8 -o /tried/review.pdf
expect "which is one" grep -q '^%PDF' $root/tried/review.pdf
echo "in a bare root of $release: $passed passed, $failed failed"
[ "$failed" = 0 ]
