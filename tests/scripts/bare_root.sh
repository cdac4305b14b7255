#!/usr/bin/env bash
# bare_root.sh RELEASE FOLDER [PACKAGE,...]   Makes FOLDER, a bare root of a release of Debian (bookworm, trixie, ...) or
#                                            Ubuntu (noble, ...) with these packages in it, where it does not exist yet.
# It is made from debootstrap's own default mirror, or from PENTAMESH_DEBIAN_MIRROR or PENTAMESH_UBUNTU_MIRROR.
# Exit status 5 means that it cannot be had here; the reason is printed.
set -euo pipefail
release=$1 root=$2 packages=${3:-}
[ ! -f "$root/made" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "no bare root of $release: this needs root and debootstrap"
    exit 5
fi
options=(--variant=minbase) scripts=/usr/share/debootstrap/scripts
[ -z "$packages" ] || options+=("--include=$packages")
case $release in
    bookworm|trixie|forky|sid) mirror=${PENTAMESH_DEBIAN_MIRROR:-} script=$scripts/sid ;;
    *)
        # All of Ubuntu's releases are made alike, by its oldest script that goes on; a user's machine has universe.
        mirror=${PENTAMESH_UBUNTU_MIRROR:-} script=$scripts/gutsy
        options+=("--components=main,universe")
        keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
        if [ -f $keys ]; then
            options+=("--keyring=$keys")
        else
            echo "Ubuntu's keys are not on this machine: the packages of $release are not checked"
            options+=(--no-check-gpg)
        fi ;;
esac
rm -rf "$root"
mkdir -p "$root"
# What is unpacked is thrown away after a crash: nothing waits for the disk.
mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
status=0
debootstrap "${options[@]}" "$release" "$root" "$mirror" "$script" > "$root.txt" 2>&1 || status=$?
if [ $status != 0 ]; then
    tail -n 5 "$root.txt"
    echo "no bare root of $release: debootstrap ended with status $status"
    exit 5
fi
touch "$root/made"
