#!/usr/bin/env bash
# Makes build/portable/root, a bare root of the next Debian release with OpenGL and X11 and nothing else of a desktop, where
# it does not exist yet. Exit status 5 means that it cannot be had here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=build/portable/root mirror=${PENTAMESH_DEBIAN_MIRROR:-http://deb.debian.org/debian}
release=${PENTAMESH_NEXT_RELEASE:-trixie}
system=libegl1,libopengl0,libgl1,libgl1-mesa-dri,libx11-6,libxext6,libxrender1,libxcb-shm0,libxcb-render0
[ ! -f $root/made ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "no bare root: this needs root and debootstrap"
    exit 5
fi
rm -rf $root
mkdir -p build/portable
debootstrap --variant=minbase --include=$system "$release" $root "$mirror" > build/portable/debootstrap.txt 2>&1 || {
    tail -n 5 build/portable/debootstrap.txt
    echo "no bare root of $release can be had from $mirror"
    exit 5
}
touch $root/made
