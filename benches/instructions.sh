#!/usr/bin/env bash
# How many instructions the main jobs take on a fixed store, held against benches/instructions.tsv. Unlike
# time they hardly depend on the machine's load, so that CI can hold a change against them.
#
#     benches/instructions.sh            fails where a job takes over 10 % more than is written down
#     benches/instructions.sh --record   writes down what they take now
#
# Needs valgrind and python3. One thread searches ahead (--jobs 1). Counts are of this machine's kind: valgrind
# has no SHA instructions, and without AVX2 the searches for bytes count more.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --profile counted --no-default-features --locked
ours=${CARGO_TARGET_DIR:-target}/counted/hermes-sessions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"
python3 benches/make_store.py "$work/home/state.db" --sessions 60 --messages 60 --big-output 20000
export HERMES_HOME=$work/home
cd "$work"

count() { # name, arguments
    local name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$ours" -q "$@" > /dev/null 2> "$work/told" || {
        cat "$work/told" >&2
        return 1
    }
    printf '%s\t%s\n' "$name" "$(sed -n 's/.*Collected : *//p' "$work/told")"
}

cd - > /dev/null
ours=$(realpath "$ours")
recorded=$PWD/benches/instructions.tsv
cd "$work"
{
    count jsonl export a.jsonl
    count jsonl-redact export b.jsonl --redact --jobs 1
    count scan scan
    count md export md/ --format md --include-open
    count html export c.html --format html --include-open
    count trace export trace/ --format trace --include-open
    count prompts export d.jsonl --only user-prompts
    count list list --limit 50
    count dry-run export --dry-run
} > now.tsv
if [ "${1:-}" = --record ]; then
    cp now.tsv "$recorded"
    cat now.tsv
    exit
fi
awk -F'\t' '
    NR == FNR { was[$1] = $2; next }
    { share = was[$1] ? $2 / was[$1] : 0 }
    { printf "%-14s %14d  %6.3f of what is written down\n", $1, $2, share }
    !was[$1] || share > 1.10 { bad = 1; print "  too many: mend it, or say why and record it anew" }
    END { exit bad }
' "$recorded" now.tsv
