#!/usr/bin/env bash
# How time and memory grow with the store: stores of 10, 100 and 1,000 MB of text, and one of 50,000 sessions
# with 1,000,000 messages, exported as they are and with --redact. Writes benches/scale.tsv, and draws
# docs/scale.svg from it.
#
#     benches/scale.sh [FOLDER]     needs python3, gnuplot, and 12 GB in FOLDER (TMPDIR)
#
# The stores stay in FOLDER, if one is named, for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked
ours=$(realpath "${CARGO_TARGET_DIR:-target}/release/hermes-sessions")
here=$PWD/benches
work=$(mktemp -d -p "${1:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$work"' EXIT
stores=${1:-$work}

printf 'store\tmessages\ttext MB\tjob\twall s\tCPU s\tpeak MB\n' > "$here/scale.tsv"
measure() { # name, sessions, messages a session, bytes of a large output
    local db=$stores/$2x$3x$4.db
    [ -f "$db" ] || python3 benches/make_store.py "$db" --sessions "$2" --messages "$3" --big-output "$4" >&2
    for job in jsonl "jsonl --redact"; do
        for round in 1 2 3; do
            rm -f "$work/out.jsonl"
            # shellcheck disable=SC2086 # the job is words
            /usr/bin/time -o "$work/time" -f '%e %U %S %M' "$ours" --db "$db" -q export "$work/out.jsonl" --no-manifest ${job#jsonl}
            cat "$work/time" >> "$work/rounds"
        done
        python3 - "$1" "$work" "$db" "$job" >> "$here/scale.tsv" <<'PY'
import sqlite3, statistics, sys
name, work, db, job = sys.argv[1:]
count, text = sqlite3.connect(db).execute(
    "SELECT count(*), sum(length(CAST(content AS BLOB)) + coalesce(length(CAST(tool_calls AS BLOB)), 0)) FROM messages WHERE active = 1"
).fetchone()
wall, user, system, peak = (statistics.median(c) for c in zip(*(map(float, line.split()) for line in open(f"{work}/rounds"))))
print(name, count, f"{text / 1e6:.0f}", job, f"{wall:.2f}", f"{user + system:.2f}", f"{peak / 1024:.0f}", sep="\t")
PY
        rm "$work/rounds"
    done
    tail -2 "$here/scale.tsv"
}
measure '10 MB' 30 60 800000
measure '100 MB' 300 60 800000
measure '1,000 MB' 3000 60 800000
measure '50,000 sessions' 50000 20 2000

for stores in MB sessions; do
    grep -P "$stores\t.*\tjsonl\t" "$here/scale.tsv" > "$work/jsonl-$stores"
    grep -P "$stores\t.*\tjsonl --redact\t" "$here/scale.tsv" > "$work/redact-$stores"
done
gnuplot <<PLOT
set terminal svg size 900,360 font 'sans-serif,13' background '#ffffff'
set output '$here/../docs/scale.svg'
set datafile separator tab
set multiplot layout 1,2
set logscale xy
set xrange [8:2000]
set yrange [0.03:300]
set grid
set key left top reverse Left
set xlabel 'text in the store, MB'
set ylabel 'wall time, s'
plot '$work/redact-MB' using 3:5 with linespoints linecolor 1 pointtype 7 title '--redact', \
     '$work/jsonl-MB' using 3:5 with linespoints linecolor 2 pointtype 7 title 'jsonl', \
     '$work/redact-sessions' using 3:5 with points linecolor 1 pointtype 6 title 'the same, 1,000,000 messages', \
     '$work/jsonl-sessions' using 3:5 with points linecolor 2 pointtype 6 notitle
unset logscale y
set yrange [0:128]
set ylabel 'peak memory, MB'
plot '$work/redact-MB' using 3:7 with linespoints linecolor 1 pointtype 7 notitle, \
     '$work/jsonl-MB' using 3:7 with linespoints linecolor 2 pointtype 7 notitle, \
     '$work/redact-sessions' using 3:7 with points linecolor 1 pointtype 6 notitle, \
     '$work/jsonl-sessions' using 3:7 with points linecolor 2 pointtype 6 notitle
PLOT
