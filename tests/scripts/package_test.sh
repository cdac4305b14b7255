#!/usr/bin/env bash
# package_test.sh [with_page]: makes the Debian package of build/release in build/package, asks lintian what it thinks of it,
# unpacks it and uses what is in it. with_page: the page is in it, which scripts/web built.
# lintian, desktop-file-validate and appstreamcli (Debian: lintian, desktop-file-utils, appstream) are asked where they are.
# shellcheck disable=SC2016  # the shell that is called expands what stands in its words
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
page=OFF
[ "${1:-}" != with_page ] || page=ON
passed=0 failed=0
expect() {  # WHAT COMMAND...
    local what=$1
    shift
    if "$@" > build/package/out.txt 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $what"
        head -n 20 build/package/out.txt
    fi
}
make_package() {  # FOLDER OPTION...
    local folder=$1
    shift
    cpack --config build/release/CPackConfig.cmake -G DEB -B "$folder" "$@"
}
refuses_a_page_that_is_not_built() {
    ! make_package build/package/no_page -D PENTAMESH_PAGE=ON > build/package/no_page.txt 2>&1
}
says_what_builds_it() { tr -s ' \n' ' ' < build/package/no_page.txt | grep -q "scripts/web builds it"; }

rm -rf build/package
mkdir -p build/package
make_package build/package -D PENTAMESH_PAGE=$page > build/package/cpack.txt 2>&1 || {
    tail -n 20 build/package/cpack.txt
    exit 1
}
package=$(echo build/package/pentamesh_*.deb)
dpkg-deb --extract "$package" build/package/tree
doc=build/package/tree/usr/share/doc/pentamesh

# The licence is for the owner to choose: until there is a file LICENSE, lintian misses the copyright.
accepted=(--suppress-tags no-copyright-file)
if [ -f LICENSE ]; then
    accepted=()
    expect "the licence is in it" cmp LICENSE $doc/copyright
fi
if command -v lintian > /dev/null; then
    expect "lintian takes it (${accepted[*]})" lintian --allow-root --fail-on error,warning "${accepted[@]}" "$package"
else
    echo "left out, as lintian is not installed: what it says of the package"
fi
expect "it asks for the fonts" sh -c 'dpkg-deb -f "$0" Depends | grep "fonts-inter" | grep -q "fonts-jetbrains-mono"' "$package"
version=$(build/release/bin/pentamesh --version | sed 's/.* //')
expect "its version is the program's" test "$(dpkg-deb -f "$package" Version)" = "$version-1"
expect "its changelog begins with this version" sh -c 'zcat "$0" | head -n 1 | grep -qF "($1-1)"' \
    $doc/changelog.Debian.gz "$version"
zcat $doc/changelog.Debian.gz > build/package/changelog
expect "dpkg reads each entry of it" test "$(dpkg-parsechangelog -l build/package/changelog --all --format rfc822 \
    | grep -c '^Version: ')" = "$(grep -c '^## ' CHANGELOG.md)"
for name in dashboard loaf; do
    expect "the picture $name is in it, in the size that the description says" \
        sh -c 'test "$(od -An -tx1 -j16 -N8 "$0" | tr -d " ")" = 0000064000000384' $doc/screenshots/$name.png
done
if [ $page = OFF ] && [ ! -f build/web/pentamesh.html ]; then
    expect "a page that was asked for and is not built is an error" refuses_a_page_that_is_not_built
    expect "which says what builds it" says_what_builds_it
fi
echo "the package: $passed passed, $failed failed"
# shellcheck disable=SC2086
tests/scripts/installed_test.sh build/package/tree/usr ${1:-} without_fonts without_paths
[ "$failed" = 0 ]
