# shellcheck shell=bash disable=SC2034
# ./run, ./check and .ci/run source this: it installs missing packages, configures and builds. It prints its steps.

# These are Debian and Ubuntu packages. Those after "--" may be absent from a release: CMake then downloads their
# content, or a part of the program or of the tests says that it is not there.
BUILD_PACKAGES="g++ cmake ninja-build pkg-config python3 zlib1g-dev libfreetype-dev libpng-dev libgl-dev libegl-dev
  libopengl-dev
  -- git ca-certificates nlohmann-json3-dev doctest-dev libcli11-dev libyaml-dev libtomlplusplus-dev libglfw3-dev python3-glad libimgui-dev libstb-dev
  libcairo2-dev fonts-inter fonts-jetbrains-mono libegl1 libgl1 libgl1-mesa-dri"
TEST_PACKAGES="-- poppler-utils xvfb xauth xdotool x11-apps zsh fish groff-base"
# The page (scripts/web) and the browser that tests it need these.
WEB_PACKAGES="dpkg-dev -- emscripten nodejs node-acorn"
BROWSER_PACKAGES="-- chromium"
# The Windows build (scripts/windows) and its run here need these, and so do the portable archive and its bare root.
WINDOWS_PACKAGES="dpkg-dev zip unzip -- g++-mingw-w64-x86-64-posix wine wine64 xvfb xauth"
PORTABLE_PACKAGES="patchelf xz-utils -- debootstrap"
# Bare roots of other systems (tests/scripts/other_system.sh) need these.
ROOT_PACKAGES="debootstrap"
CI_PACKAGES="git clang clang-format clang-tidy shellcheck dpkg-dev file -- libclang-rt-dev ccache lintian desktop-file-utils appstream"

# A compiler cache that knows one clone's files in another: names are taken from the source folder on.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}

say() { printf '==> %s\n' "$*" >&2; }
fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Prints those of the given packages that dpkg does not have, in order.
missing_packages() {
    local installed wanted=("$@")
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^installed //p' || true)
    comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) <(printf '%s\n' "$installed" | sort -u)
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" >&2
}

# Installs the packages that are missing, by apt. A list may hold "--": packages after it are installed if apt
# knows them.
install_packages() {
    local needed=() optional=() package into=needed missing available=()
    for package in "$@"; do
        if [ "$package" = -- ]; then into=optional; continue; fi
        if [ $into = needed ]; then needed+=("$package"); else optional+=("$package"); fi
    done
    mapfile -t missing < <(missing_packages "${needed[@]}" "${optional[@]}")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        fail "these packages are missing, and there is neither root nor sudo to install them. As root:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    fi
    if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
        say "Fetching the package lists"
        apt update
    fi
    # Optional packages that this release does not have are left out; a list fetched long ago may be to blame.
    local attempt
    for attempt in 1 2; do
        available=()
        for package in "${missing[@]}"; do
            case " ${needed[*]} " in
                *" $package "*) available+=("$package") ;;
                *) if [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then available+=("$package"); fi ;;
            esac
        done
        [ ${#available[@]} -gt 0 ] || return 0
        say "Installing with apt: ${available[*]}"
        if apt install --no-install-recommends "${available[@]}"; then return 0; fi
        [ "$attempt" = 1 ] || break
        say "That failed; fetching the package lists anew"
        apt update
    done
    fail "apt could not install ${available[*]}"
}

# Without apt nothing is installed: this says which needs of a build are missing.
require_tools() {
    local absent=()
    command -v cmake >/dev/null || absent+=("CMake 3.25 or newer")
    command -v ninja >/dev/null || absent+=("Ninja")
    command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null \
        || absent+=("a C++20 compiler (g++ 12, clang 14 or newer)")
    command -v python3 >/dev/null || absent+=("Python 3 with jinja2")
    command -v pkg-config >/dev/null || absent+=("pkg-config")
    command -v git >/dev/null || absent+=("git")
    [ ${#absent[@]} -eq 0 ] || fail "please install: $(printf '%s; ' "${absent[@]}")then start this again.
Also used where they are found, else downloaded: FreeType, libpng, GLFW 3.3, Dear ImGui, nlohmann_json, CLI11, doctest, glad 2.
Needed by the program: the fonts Inter and JetBrains Mono."
}

# Installs everything that building and testing needs. $1 names more packages.
set_up() {
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
        # shellcheck disable=SC2086
        install_packages $BUILD_PACKAGES ${1:-}
    else
        require_tools
    fi
    local version
    version=$(cmake --version | sed -n 's/^cmake version //p')
    [ "$(printf '%s\n3.25\n' "$version" | sort -V | head -n 1)" = 3.25 ] \
        || fail "CMake $version is too old; 3.25 or newer is needed (https://cmake.org/download)"
}

# configure PRESET [cmake option...] runs CMake if that has not been done, or options are given.
configure() {
    local preset=$1
    if [ $# -gt 1 ] || [ ! -f "build/$preset/build.ninja" ] || ! is_configured_here "$preset"; then configure_again "$@"; fi
}

# Returns true if this clone's build folder was made in this place. One of a moved or copied clone is no use.
is_configured_here() {
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "build/$1/CMakeCache.txt" 2>/dev/null
}

# configure_again PRESET [cmake option...] runs CMake: it finds what was installed since the last time.
configure_again() {
    local preset=$1 fresh=()
    shift
    if [ -f "build/$preset/CMakeCache.txt" ] && ! is_configured_here "$preset"; then fresh=(--fresh); fi
    say "Configuring build/$preset"
    cmake ${fresh[@]+"${fresh[@]}"} --preset "$preset" "$@" >&2
}

# build PRESET [target...] builds.
build() {
    local preset=$1
    shift
    say "Building build/$preset"
    cmake --build --preset "$preset" ${1:+--target "$@"} >&2
}
