#!/usr/bin/env bash
# Whole processes side by side on one store: hermes-agent, the sqlite3 shell, and this tool.
#
#     benches/versus.sh [STORE.db]
#
# Without a store it makes one (benches/make_store.py). HERMES names hermes-agent's program (default:
# hermes on PATH; left out where there is none). Each command runs in turn, five rounds; medians of
# wall time, CPU time and peak memory are printed as a Markdown table.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
store=${1:-}
if [ -z "$store" ]; then
    store=$work/made.db
    python3 benches/make_store.py "$store"
fi
mkdir "$work/home"
cp "$store" "$work/home/state.db"
HERMES_HOME=$work/home python3 - "$work" "${HERMES:-hermes}" <<'PY'
import os, resource, shutil, statistics, subprocess, sys, time

work, hermes = sys.argv[1:]
ours, db = "target/release/hermes-sessions", f"{work}/home/state.db"
commands = {}
if shutil.which(hermes):
    commands["hermes-agent, jsonl"] = [hermes, "sessions", "export", f"{work}/hermes.jsonl"]
if shutil.which("sqlite3"):
    commands["sqlite3 -json, messages alone"] = ["sh", "-c", f"sqlite3 -readonly -json {db} 'SELECT * FROM messages WHERE active = 1' > {work}/sqlite.json"]
commands["jsonl"] = [ours, "-q", "export", f"{work}/ours.jsonl"]
commands["md, one file a session"] = [ours, "-q", "export", f"{work}/md", "--format", "md", "--include-open", "--force"]
if shutil.which(hermes):
    commands["hermes-agent, jsonl --redact"] = [hermes, "sessions", "export", f"{work}/hermes-r.jsonl", "--redact"]
commands["jsonl --redact"] = [ours, "-q", "export", f"{work}/ours-r.jsonl", "--redact"]
commands["prompts"] = [ours, "-q", "export", f"{work}/prompts.jsonl", "--only", "user-prompts"]
commands["--dry-run"] = [ours, "-q", "export", "--dry-run"]


def once(argv):
    shutil.rmtree(f"{work}/md", ignore_errors=True)
    began = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, use = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{argv}: status {status}")
    return time.perf_counter() - began, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


runs = {name: [] for name in commands}
for _ in range(5):
    for name, argv in commands.items():
        runs[name].append(once(argv))
medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in runs.items()}
base = next(iter(medians.values()))
print(f"{os.path.getsize(db) / 1e6:.0f} MB store, {os.cpu_count()} cores; ratios to the first row\n")
print("| command | wall s | ratio | CPU s | ratio | peak MB |\n|---|---|---|---|---|---|")
for name, (wall, cpu, peak) in medians.items():
    print(f"| {name} | {wall:.2f} | {base[0] / wall:.1f} × | {cpu:.2f} | {base[1] / cpu:.1f} × | {peak:.0f} |")
PY
