#!/usr/bin/env bash
# installed_test.sh PREFIX [with_page] [without_fonts] [without_paths]: checks the promises of an installed tree (bin/, share/).
# The tree is copied elsewhere first and its presets are changed there, so that nothing can come from the source folder unseen.
# A tree without fonts takes them from the system, as a Debian package does. One without debug information is without paths.
# shellcheck disable=SC2016  # the shell that is called expands what stands in its words
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$1" "$work/moved"
cd "$work"
passed=0 failed=0
expect() {  # WHAT COMMAND...
    local what=$1
    shift
    if "$@" > out.txt 2> err.txt; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $what"
        head -n 5 err.txt
    fi
}
names_no_folder_of_the_builder() {
    if grep -rlF -e "$source/" moved; then echo "these files name $source" >&2; return 1; fi
}
# By name, those that this system does not have are left out.
with_tool() {  # TOOL WHAT COMMAND...
    local tool=$1
    shift
    if command -v "$tool" > /dev/null; then expect "$@"; else echo "left out, as $tool is not installed: $1"; fi
}
data=moved/share/pentamesh
expect "the program starts" moved/bin/pentamesh --version
expect "presets are there" test -s $data/presets/plans/llama-3.1-405b-16k.plan.json
case " $* " in
    *" without_fonts "*) expect "no font is copied" test ! -e $data/fonts ;;
    *)
        for font in Inter-Regular.otf Inter-SemiBold.otf JetBrainsMono-Regular.ttf; do
            expect "the font $font is there" test -s $data/fonts/$font
        done
        expect "with their licences" test -s $data/fonts/Inter-licence.txt -a -s $data/fonts/JetBrainsMono-licence.txt ;;
esac
case " $* " in
    *" without_paths "*) expect "nothing in it names the folder that it was built in" names_no_folder_of_the_builder ;;
esac
expect "the desktop entry starts the program" grep -q '^Exec=pentamesh' moved/share/applications/pentamesh.desktop
with_tool desktop-file-validate "desktops take the entry" sh -c \
    'test -z "$(desktop-file-validate moved/share/applications/pentamesh.desktop | tee /dev/stderr)"'
with_tool appstreamcli "software centres take the description" sh -c \
    'appstreamcli validate --no-net moved/share/metainfo/*.metainfo.xml >&2'
expect "which says this release" grep -q "release version=\"$(moved/bin/pentamesh --version | sed 's/.* //')\"" \
    moved/share/metainfo/*.metainfo.xml
expect "the icon is there in every size" test "$(find moved/share/icons -name 'pentamesh.*' | wc -l)" = 7
expect "a preset's plan is evaluated" moved/bin/pentamesh report mesh-8
cp $data/presets/plans/mesh-8.plan.json $data/presets/plans/only-here.plan.json
expect "presets come from the tree itself, wherever it was moved" moved/bin/pentamesh report only-here
expect "a picture is drawn" moved/bin/pentamesh screenshot mesh-8 --view dashboard -o picture.png
expect "and it is one" grep -q PNG picture.png
expect "shells complete its commands" grep -q 'sensitivity' moved/share/bash-completion/completions/pentamesh \
    moved/share/zsh/*/_pentamesh moved/share/fish/vendor_completions.d/pentamesh.fish
expect "bash reads its completions" bash -n moved/share/bash-completion/completions/pentamesh
expect "man has a page" sh -c 'gzip -dc moved/share/man/man1/pentamesh.1.gz | grep -q "^\.TH PENTAMESH 1"'
expect "which holds no time of packing" sh -c 'test "$(od -An -tu4 -j4 -N4 moved/share/man/man1/pentamesh.1.gz)" -eq 0'
expect "Python's module finds the program of its tree" env -u PENTAMESH PATH=/usr/bin:/bin PYTHONPATH=$data/python \
    PYTHONDONTWRITEBYTECODE=1 python3 -c "import pentamesh; assert pentamesh.plan('only-here').report().memory.peak > 0"
case " $* " in
    *" with_page "*)
        expect "a course is opened in the page" moved/bin/pentamesh lesson --course 40-minutes --web page
        expect "and the page has it" grep -q 'The map in 40 minutes' page/40-minutes.html
        expect "a view for somebody's page is written" moved/bin/pentamesh embed mesh-8 --view mesh -o figure.html
        expect "and has its picture and its link" sh -c \
            'grep -q "data:image/svg+xml;base64," figure.html && grep -q "\"link\":\"#plan=[^\"]*&view=mesh&bare" figure.html' ;;
    *) expect "there is no page that nobody asked for" test ! -e $data/web ;;
esac
mkdir -p bin-link && ln -s ../moved/bin/pentamesh bin-link/pentamesh
expect "a link to the program finds the same tree" bin-link/pentamesh report only-here
mkdir -p bare/bin && cp moved/bin/pentamesh bare/bin
expect "a program without its tree says where it looked" sh -c \
    'bare/bin/pentamesh presets 2>&1 | grep -q "presets are not in .*bare/share/pentamesh/presets"'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
