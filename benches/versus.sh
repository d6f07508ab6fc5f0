#!/usr/bin/env bash
# Whole processes side by side on one store: this tool, hermes-agent, the sqlite3 shell, and scanners.
#
#     benches/versus.sh [STORE.db]
#
# Without a store it makes one (benches/make_store.py). HERMES names hermes-agent's program (default:
# hermes on PATH), KINGFISHER and RIPSECRETS those scanners'; what is not there is left out. Each command
# runs in turn, five rounds (ROUNDS); medians of wall time, CPU time and peak memory are printed as a
# Markdown table.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked
ours=${CARGO_TARGET_DIR:-target}/release/hermes-sessions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
store=${1:-}
if [ -z "$store" ]; then
    store=$work/made.db
    python3 benches/make_store.py "$store"
fi
mkdir "$work/home"
cp "$store" "$work/home/state.db"
HERMES_HOME=$work/home python3 - "$work" "$ours" "${HERMES:-hermes}" "${KINGFISHER:-kingfisher}" "${RIPSECRETS:-ripsecrets}" <<'PY'
import os, resource, shutil, sqlite3, statistics, subprocess, sys, time

work, ours, hermes, kingfisher, ripsecrets = sys.argv[1:]
db = f"{work}/home/state.db"
store = sqlite3.connect(db)
longest = store.execute("SELECT id FROM sessions WHERE ended_at IS NOT NULL ORDER BY message_count DESC").fetchone()[0]
rows = store.execute("SELECT count(*), sum(length(CAST(content AS BLOB))) FROM messages WHERE active = 1").fetchone()
store.close()  # a store that somebody has open is read in another way


def export(program, *args):
    name = {ours: [ours, "-q", "export"], hermes: [hermes, "sessions", "export"]}[program]
    return [*name, *args]


# Of each job: how this tool does it, and by name how others do.
jobs = {
    "jsonl": {
        "ours": export(ours, f"{work}/o.jsonl"),
        "hermes-agent": export(hermes, f"{work}/h.jsonl"),
        "sqlite3 -json, messages alone": ["sh", "-c", f"sqlite3 -readonly -json {db} 'SELECT * FROM messages WHERE active = 1' > {work}/s.json"],
    },
    "jsonl --redact": {
        "ours": export(ours, f"{work}/o-r.jsonl", "--redact"),
        "hermes-agent": export(hermes, f"{work}/h-r.jsonl", "--redact"),
    },
    "scan": {
        "ours": [ours, "-q", "scan"],
        "kingfisher, over the jsonl": [kingfisher, "scan", f"{work}/o.jsonl", "--no-validate", "--no-update-check", "--quiet"],
        "ripsecrets, over the jsonl": [ripsecrets, f"{work}/o.jsonl"],
    },
    "md": {
        "ours": export(ours, f"{work}/o-md", "--format", "md", "--include-open"),
        "hermes-agent": export(hermes, f"{work}/h-md", "--format", "md", "--older-than", "0h", "--yes"),
    },
    "html": {
        "ours": export(ours, f"{work}/o.html", "--format", "html", "--include-open"),
        "hermes-agent": export(hermes, f"{work}/h.html", "--format", "html"),
    },
    "trace": {"ours": export(ours, f"{work}/o-trace", "--format", "trace", "--include-open")},
    # hermes-agent writes no more than one, and redaction of it failed where this was written.
    "trace --no-redact, one session": {
        "ours": export(ours, f"{work}/o.trace", "--format", "trace", "--no-redact", "--session-id", longest),
        "hermes-agent": export(hermes, f"{work}/h.trace", "--format", "trace", "--no-redact", "--session-id", longest),
    },
    "prompts": {
        "ours": export(ours, f"{work}/o-p.jsonl", "--only", "user-prompts"),
        "hermes-agent": export(hermes, f"{work}/h-p.jsonl", "--only", "user-prompts"),
    },
    "list --limit 50": {
        "ours": [ours, "list", "--limit", "50"],
        "hermes-agent": [hermes, "sessions", "list", "--limit", "50"],
    },
    "--dry-run": {"ours": export(ours, "--dry-run")},
}


def once(argv):
    for name in os.listdir(work):
        if name.startswith(("o-md", "h-md", "o-trace")):
            shutil.rmtree(f"{work}/{name}")
        elif name == "manifest.jsonl":
            os.remove(f"{work}/{name}")
    began = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    told = child.stderr.read()
    _, status, use = os.wait4(child.pid, 0)
    # A scanner's status says that it has found something.
    if status and argv[0] not in (kingfisher, ripsecrets) and not (argv[0] == ours and os.waitstatus_to_exitcode(status) == 1):
        sys.exit(f"{argv}: status {status}\n{told.decode()}")
    return time.perf_counter() - began, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


runs = {}
for _ in range(int(os.environ.get("ROUNDS", "5"))):
    for job, by in jobs.items():
        for who, argv in by.items():
            if shutil.which(argv[0]) and (argv[0] != "sh" or shutil.which("sqlite3")):
                runs.setdefault(job, {}).setdefault(who, []).append(once(argv))
print(f"{os.path.getsize(db) / 1e6:.0f} MB store, {rows[0]} messages with {rows[1] / 1e6:.0f} MB of text, {os.cpu_count()} cores\n")
print("| job | by | wall s | this tool is quicker | CPU s | by CPU | peak MB |\n|---|---|---|---|---|---|---|")
for job, by in runs.items():
    median = {who: [statistics.median(column) for column in zip(*took)] for who, took in by.items()}
    base = median["ours"]
    for who, (wall, cpu, peak) in median.items():
        more = ("", "") if who == "ours" else (f"{wall / base[0]:.1f} ×", f"{cpu / base[1]:.1f} ×")
        print(f"| {job} | {who} | {wall:.2f} | {more[0]} | {cpu:.2f} | {more[1]} | {peak:.0f} |")
PY
