# shellcheck shell=bash disable=SC2034
# scripts/web and scripts/windows source this: they compile the needed libraries from sources, Debian's source packages
# and packages of headers, unpacked in build/sources. It needs scripts/setup.sh.
SOURCES=build/sources

# unpack_source PACKAGE NAME unpacks a Debian source package, with its security fixes, as $SOURCES/NAME.
unpack_source() {
    say "Source of $1"
    (cd "$SOURCES/fetched" && "${SOURCE_APT[@]}" source --download-only "$1" >&2) \
        && rm -rf "$SOURCES/$2.new" \
        && dpkg-source --no-check -x "$SOURCES/fetched/$1"_*.dsc "$SOURCES/$2.new" >&2 \
        && mv "$SOURCES/$2.new" "$SOURCES/$2"
}

# unpack_headers PACKAGE NAME unpacks a library that has only headers, out of its package.
unpack_headers() {
    say "Headers of $1"
    (cd "$SOURCES/fetched" && apt-get -q download "$1" >&2) \
        && dpkg-deb -x "$SOURCES/fetched/$1"_*.deb "$SOURCES/$2.new" \
        && mv "$SOURCES/$2.new/usr" "$SOURCES/$2" \
        && rm -rf "$SOURCES/$2.new"
}

# Source packages are asked for by a list of our own: the system's lists stay as they are.
use_source_lists() {
    [ -z "${SOURCE_APT:-}" ] || return 0
    local own=$PWD/$SOURCES/lists release mirror
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # Sources come from where this system's packages come from.
    # shellcheck disable=SC2016
    mirror=${PENTAMESH_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" "Component: main" \
        "Created-By: Packages" | head -n 1)}
    [ -n "$mirror" ] || {
        say "no list of this system's packages is here (apt-get update): name a mirror by PENTAMESH_DEBIAN_MIRROR"
        return 1
    }
    # The files are not in that folder: apt removes unknown files there.
    printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
        "$mirror" "$release" > "$own.list"
    SOURCE_APT=(apt-get -q -o "Dir::Etc::sourcelist=$own.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$own" -o APT::Sandbox::User=root)
    "${SOURCE_APT[@]}" update >&2
}

source_of() {
    case $1 in
        nlohmann_json) unpack_headers nlohmann-json3-dev "$1" ;;
        cli11) unpack_headers libcli11-dev "$1" ;;
        tomlplusplus) unpack_headers libtomlplusplus-dev "$1" ;;
        png) use_source_lists && unpack_source libpng1.6 "$1" ;;
        yaml) use_source_lists && unpack_source libyaml "$1" ;;
        glfw) use_source_lists && unpack_source glfw3 "$1" ;;
        *) use_source_lists && unpack_source "$1" "$1" ;;
    esac
}

# install_or_leave PACKAGE... exits with 4 where they cannot be installed.
install_or_leave() {
    (install_packages "$@") && return 0
    say "they cannot be had here: $*"
    exit 4
}

# use_sources NAME... unpacks missing sources; SOURCE_OPTIONS then gives CMake the place of each. It exits with 4
# where one cannot be had.
use_sources() {
    local name
    mkdir -p "$SOURCES/lists/partial" "$SOURCES/fetched"
    SOURCE_OPTIONS=()
    for name in "$@"; do
        if [ ! -d "$SOURCES/$name" ] && ! source_of "$name"; then
            say "the source of $name cannot be had here"
            exit 4
        fi
        SOURCE_OPTIONS+=("-DFETCHCONTENT_SOURCE_DIR_${name^^}=$PWD/$SOURCES/$name")
    done
}
