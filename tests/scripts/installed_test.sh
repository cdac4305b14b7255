#!/usr/bin/env bash
# installed_test.sh PREFIX [with_page]: checks the promises of an installed tree (bin/, share/). The tree is copied
# elsewhere first and its presets are changed there, so that nothing can come from the source folder unseen.
set -euo pipefail
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
data=moved/share/pentamesh
expect "the program starts" moved/bin/pentamesh --version
expect "presets are there" test -s $data/presets/plans/llama-3.1-405b-16k.plan.json
expect "fonts are there" test -s $data/fonts/Inter-Regular.otf -a -s $data/fonts/Inter-SemiBold.otf -a -s $data/fonts/JetBrainsMono-Regular.ttf
expect "with their licences" test -s $data/fonts/Inter-licence.txt -a -s $data/fonts/JetBrainsMono-licence.txt
expect "the desktop entry starts the program" grep -q '^Exec=pentamesh' moved/share/applications/pentamesh.desktop
expect "the icon is there in every size" test "$(find moved/share/icons -name 'pentamesh.*' | wc -l)" = 7
expect "a preset's plan is evaluated" moved/bin/pentamesh report mesh-8
cp $data/presets/plans/mesh-8.plan.json $data/presets/plans/only-here.plan.json
expect "presets come from the tree itself, wherever it was moved" moved/bin/pentamesh report only-here
expect "a picture is drawn" moved/bin/pentamesh screenshot mesh-8 --view dashboard -o picture.png
expect "and it is one" grep -q PNG picture.png
expect "shells complete its commands" grep -q 'sensitivity' moved/share/bash-completion/completions/pentamesh \
    moved/share/zsh/site-functions/_pentamesh moved/share/fish/vendor_completions.d/pentamesh.fish
expect "bash reads its completions" bash -n moved/share/bash-completion/completions/pentamesh
expect "man has a page" grep -q '^\.TH PENTAMESH 1' moved/share/man/man1/pentamesh.1
expect "Python's module finds the program of its tree" env -u PENTAMESH PATH=/usr/bin:/bin PYTHONPATH=$data/python \
    PYTHONDONTWRITEBYTECODE=1 python3 -c "import pentamesh; assert pentamesh.plan('only-here').report().memory.peak > 0"
if [ "${2:-}" = with_page ]; then
    expect "a course is opened in the page" moved/bin/pentamesh lesson --course 40-minutes --web page
    expect "and the page has it" grep -q 'The map in 40 minutes' page/40-minutes.html
fi
mkdir -p bin-link && ln -s ../moved/bin/pentamesh bin-link/pentamesh
expect "a link to the program finds the same tree" bin-link/pentamesh report only-here
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
