#!/usr/bin/env bash
# Pages beside hermes-agent's: writing them, size, elements, and opening and searching them in Chromium.
#
#     benches/page.sh [STORE.db]
#
# Without a store it makes one of 450 sessions of 100 messages (benches/make_store.py). HERMES names
# hermes-agent's program (default: hermes on PATH; left out where there is none). Each page is opened
# three times; medians are printed as a Markdown table. Memory is the renderer's proportional share
# (PSS): most of what is resident in it is Chromium's own program, as an empty page shows, which is
# measured beside the others. Needs chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked
ours=${CARGO_TARGET_DIR:-target}/release/hermes-sessions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"
if [ -n "${1:-}" ]; then
    cp "$1" "$work/home/state.db"
else
    python3 benches/make_store.py "$work/home/state.db" --sessions 450 --messages 100 --big-output 2000
fi
HERMES_HOME=$work/home python3 - "$work" "$ours" "${HERMES:-hermes}" <<'PY'
import json, os, resource, shutil, sqlite3, statistics, subprocess, sys, time

work, ours, hermes = sys.argv[1:]
db = f"{work}/home/state.db"
text = sqlite3.connect(db).execute("SELECT sum(length(CAST(content AS BLOB))) FROM messages WHERE active = 1").fetchone()[0]
commands = {
    "one file": ([ours, "-q", "export", f"{work}/many.html", "--no-manifest"], f"{work}/many.html", f"{work}/many.html"),
    "folder": ([ours, "-q", "export", f"{work}/site/", "--format", "html", "--no-manifest"], f"{work}/site/index.html", f"{work}/site"),
    "its search": (["true"], f"{work}/site/search.html", f"{work}/site/search.html"),
}
if shutil.which(hermes):
    commands["hermes-agent"] = ([hermes, "sessions", "export", "--format", "html", f"{work}/hermes.html"], f"{work}/hermes.html", f"{work}/hermes.html")


def written(argv):
    began = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, use = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{argv}: status {status}")
    return time.perf_counter() - began, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def size(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))


def share(pid):
    lines = open(f"/proc/{pid}/smaps_rollup").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


# The seconds until the oldest session is there, and until a search through all of them has ended.
OTHER = """(async () => {
  const link = [...document.querySelectorAll("#side .sessions a")].at(-1);
  if (!link) return null;
  const began = performance.now();
  link.click();
  while (!document.querySelector(".session.on" + link.hash + " article")) await new Promise(requestAnimationFrame);
  return (performance.now() - began) / 1000;
})()"""
SEARCH = """(async () => {
  const field = document.querySelector("#q");
  if (!field || document.documentElement.className === "index") return null;
  let [began, text, last] = [performance.now(), "", 0];
  field.value = "retry";
  field.dispatchEvent(new Event("input"));
  while (!last || performance.now() - last < 1000) {
    const now = document.querySelector("#hits").textContent;
    if (now !== text) [text, last] = [now, performance.now()];
    await new Promise((resume) => setTimeout(resume, 20));
  }
  return (last - began) / 1000;
})()"""


class Chromium:
    """A browser behind a pipe."""

    def __init__(self):
        ours, theirs = os.pipe(), os.pipe()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={work}/profile", "about:blank"]
        shell = ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null', "sh", *command]
        self.child = subprocess.Popen(shell, stdin=ours[0], stdout=theirs[1])
        self.to, self.back, self.n, self.events = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb"), 0, []

    def next(self):
        data = bytearray()
        while (byte := self.back.read(1)) != b"\0":
            data += byte
        return json.loads(data)

    def call(self, method, session=None, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params} | ({"sessionId": session} if session else {})
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while (answer := self.next()).get("id") != self.n:
            self.events.append(answer)
        return answer["result"]

    def open(self, file):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable", session)
        began = time.perf_counter()
        self.call("Page.navigate", session, url=f"file://{file}")
        while not any(e.get("method") == "Page.loadEventFired" and e.get("sessionId") == session for e in self.events):
            self.events.append(self.next())
        look = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(document.querySelectorAll('*').length))))"
        elements = self.call("Runtime.evaluate", session, expression=look, awaitPromise=True, returnByValue=True)["result"]["value"]
        interactive = time.perf_counter() - began
        self.events.clear()
        renderers = [int(p["id"]) for p in self.call("SystemInfo.getProcessInfo")["processInfo"] if p["type"] == "renderer"]
        memory = max(map(share, renderers))
        moves = [self.call("Runtime.evaluate", session, expression=move, awaitPromise=True, returnByValue=True)["result"].get("value") for move in (OTHER, SEARCH)]
        self.call("Target.closeTarget", targetId=target)
        return interactive, memory, elements, *moves

    def close(self):
        self.child.kill()
        self.child.wait()


print(f"{text / 1e6:.1f} MB of text, {os.cpu_count()} cores; wall time depends on what else the machine does\n")
print("| page | written s | CPU s | peak MB | size, ratio to text | interactive s | renderer MB | elements | other session s | search s |\n|---|---|---|---|---|---|---|---|---|---|")
open(f"{work}/empty.html", "w").write("<!doctype html><title>Empty</title><p>Empty")
commands["an empty page"] = (["true"], f"{work}/empty.html", f"{work}/empty.html")
for name, (argv, page, whole) in commands.items():
    wall, cpu, peak = written(argv)
    looks = []
    for _ in range(3):
        browser = Chromium()
        looks.append(browser.open(page))
        browser.close()
    interactive, memory, elements, other, search = [None if None in column else statistics.median(column) for column in zip(*looks)]
    moves = " | ".join("" if move is None else f"{move:.2f}" for move in (other, search))
    print(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:.0f} | {size(whole) / text:.2f} × | {interactive:.2f} | {memory:.0f} | {elements:.0f} | {moves} |", flush=True)
PY
