#!/usr/bin/env bash
# scripts/gallery.sh [PROGRAM]: draws the pictures of README.md and of docs/gallery.md anew, and writes that page. From
# the repository's root; PROGRAM is build/release/bin/pentamesh where it is not named. Needs no display.
set -euo pipefail

program=${1:-build/release/bin/pentamesh}
export EGL_PLATFORM=${EGL_PLATFORM:-surfaceless}
mkdir -p docs/gallery

"$program" screenshot llama-3.1-405b-16k --size 1600x900 -o docs/dashboard.png
"$program" screenshot llama-3-70b-3d --view shards --page parameters --rank 11 --size 1600x900 -o docs/shards.png
"$program" screenshot llama-3.1-405b-16k --view search --size 1600x900 -o docs/search.png
"$program" compare llama-3.1-405b-16k llama-3.1-405b-8k -o docs/compare.png
"$program" screenshot llama-3-70b-3d --edit layout.tp=4 --edit layout.dp_shard=16 --size 1280x720 -o docs/edit.png

cat >docs/gallery.md <<'END'
# Gallery

Every picture is made by the command above it (`scripts/gallery.sh` runs them all) and opens in the window as the plan that
it shows. `.svg` and `.pdf` are written in the same way.
END

# picture NAME TITLE ARGUMENTS... draws a screenshot, and writes its place on the page.
picture() {
    local file=gallery/$1.png title=$2
    shift 2
    "$program" screenshot "$@" -o "docs/$file"
    printf '\n## %s\n\n    pentamesh screenshot %s -o picture.png\n\n![%s](%s)\n' "$title" "$*" "$title" "$file" >>docs/gallery.md
}

picture mesh "Who talks to whom" deepseek-v3-2048 --view mesh --axis ep --size 1280x720
picture zoom "Where one piece of a tensor is" llama-3.1-405b-16k --view zoom --size 1600x1000
picture figure "The mesh, coloured by what each GPU holds" llama-3-70b-3d --view mesh --color memory --size 1280x720 --theme light
picture loaf "What is cut, what is copied" mesh-8 --view shards --page loaf --size 1280x720
picture map "What each axis does, and what it costs" llama-3.1-405b-16k --view map --size 1280xauto --theme light
picture memory "What each GPU holds" llama-3-70b-3d --view memory --size 1280x720 --theme light
picture timeline "When each stage works" llama-3-70b-3d --view timeline --size 1280x720
picture comm "What they say to each other" llama-3-70b-3d --view comm --size 1280xauto --theme light
picture step "How long a step takes" llama-3.1-405b-16k --view step --size 1280xauto --theme light
picture scale "How far it scales, and what sets the limit" llama-3.1-405b-16k --view scale --size 1600x1000
picture layer "What happens inside one layer" llama-3-70b-3d --view layer --size 1280x720
picture tensors "What one GPU keeps of each tensor" llama-3.1-405b-16k --view tensors --size 1280x720
picture review "The first page of a design review" llama-3-70b-3d --view review --size 1280x720 --theme light
picture one-stage "What one GPU holds, and with another micro-batch" mesh-8 --view memory --size 1280x720
picture lanes "Which traffic hides, and what the step waits for" llama-3-8b-fsdp --view comm --page lanes --size 1280xauto
picture one-layer "Where the traffic of experts hides" deepseek-v3-2048 --view comm --page layer --size 1600x1000 --theme light
picture dashboard-8 "Eight GPUs" mesh-8 --view dashboard --size 1600x1000
picture room "Large type in a small window" llama-3.1-405b-16k --view dashboard --size 1280x720 --text 1.5
