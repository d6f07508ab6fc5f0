#!/usr/bin/env python3
"""Make a store of a given size from fixtures/state.db: the same sessions again and again, with a
eight large tool outputs in every twentieth. Only Python's own library is needed.

    benches/make_store.py OUT.db [--sessions N] [--big-output BYTES]
"""
import argparse
import json
import random
import shutil
import sqlite3
from pathlib import Path

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("out", type=Path)
ap.add_argument("--sessions", type=int, default=1000)
ap.add_argument("--messages", type=int, default=60, help="messages a session")
ap.add_argument("--big-output", type=int, default=200_000, help="bytes")
a = ap.parse_args()
if a.out.exists():
    raise SystemExit(f"{a.out} exists")

rng = random.Random(7)
shutil.copy(Path(__file__).parent.parent / "fixtures/state.db", a.out)
con = sqlite3.connect(a.out)
con.row_factory = sqlite3.Row
con.execute("PRAGMA synchronous = OFF")
sessions = [dict(r) for r in con.execute("SELECT * FROM sessions WHERE parent_session_id IS NULL AND ended_at IS NOT NULL")]
messages = [dict(r) for r in con.execute("SELECT * FROM messages WHERE active = 1")]
tools = [m for m in messages if m["role"] == "tool"]
words = [w for m in messages if "\0" not in str(m["content"]) for w in str(m["content"]).split() if w.isascii()]


def insert(table, row):
    marks = ",".join("?" * len(row))
    con.execute(f"INSERT INTO {table} ({','.join(row)}) VALUES ({marks})", list(row.values()))


for i in range(a.sessions):
    row = dict(rng.choice(sessions), id=f"20260801_{i // 3600 % 24:02}{i // 60 % 60:02}{i % 60:02}_{i:08x}", title=None)
    row["started_at"] += i * 60
    row["ended_at"] += i * 60
    insert("sessions", row)
    for k in range(a.messages):
        is_big = i % 20 == 0 and 0 < k < 9
        message = dict(rng.choice(tools if is_big else messages), session_id=row["id"], timestamp=row["started_at"] + k)
        del message["id"]
        if message["role"] == "tool":
            size = a.big_output if is_big else 2000
            message["content"] = json.dumps({"output": "\n".join(" ".join(rng.choices(words, k=12)) for _ in range(size // 80)), "exit_code": 0})
        elif message["role"] == "assistant":
            message["content"] = " ".join(rng.choices(words, k=120))
        insert("messages", message)
con.commit()
con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
con.close()
print(f"{a.out}: {a.sessions} sessions of {a.messages} messages, {a.out.stat().st_size / 1e6:.0f} MB")
