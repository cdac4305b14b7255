#!/usr/bin/env bash
# tests/fuzz/run.sh SECONDS [NAME...]   Fuzzes each reader that long (all of them: plan, hf_config, ...) on its
# seeds and on the inputs that earlier runs found, in build/fuzz. An input that breaks a reader is there afterwards.
# PENTAMESH_FUZZ_SEED sets the seed of its chance; each run has another where it is not set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=$1
shift
if [ $# = 0 ]; then
    for source in tests/fuzz/*_fuzz.cpp; do set -- "$@" "$(basename "$source" _fuzz.cpp)"; done
fi

# Prints the files in the tree that a reader can read.
seeds_of() {
    case $1 in
        plan) echo presets/plans ;;
        hf_config) echo tests/golden/hf_configs ;;
        lesson) echo assets/lessons assets/lessons/courses ;;
        glossary) echo assets/glossary.json ;;
    esac
}

status=0
for name in "$@"; do
    folder=build/fuzz/fuzzed/$name
    mkdir -p "$folder/corpus" "$folder/seeds"
    for seed in "tests/fuzz/seeds/$name" $(seeds_of "$name"); do
        [ ! -e "$seed" ] || find "$seed" -maxdepth 1 -type f -exec cp -t "$folder/seeds" {} +
    done
    if "build/fuzz/bin/${name}_fuzz" -seed="${PENTAMESH_FUZZ_SEED:-0}" -max_total_time="$seconds" -max_len=20000 \
        -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=1024 -artifact_prefix="$folder/" -print_final_stats=1 \
        "$folder/corpus" "$folder/seeds" > "$folder/log.txt" 2>&1; then
        echo "$name: $(sed -n 's/stat::number_of_executed_units: *//p' "$folder/log.txt") inputs in ${seconds} s"
    else
        tail -n 60 "$folder/log.txt"
        echo "the fuzzer found an input that breaks the reader of $name, in $folder" >&2
        status=1
    fi
done
exit $status
