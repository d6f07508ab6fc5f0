// Pages with conversations: moving, searching, folding, copying.
const main = one("#start");
const isMany = document.documentElement.classList.contains("many");
const sections = all(".session", main);
const links = all("#side .sessions a");
// Sessions of which one is shown.
let shown = isMany ? null : main;
const islandOf = (section) => one(":scope > .isle", section);
const show = async (section) => {
  if (section === shown) return;
  shown = section;
  const island = islandOf(section);
  if (island) {
    const body = make("div", { class: "opened" });
    body.innerHTML = await unpack(island);
    if (shown !== section) return;
    section.append(body);
  }
  for (const other of sections) other.classList.remove("on");
  for (const body of all(".opened", main)) if (!section.contains(body)) body.remove();
  section.classList.add("on");
  scrollTo(0, 0);
  arrange();
};

// What a shown session gets: buttons to copy, names of its tools, an outline.
const arrange = () => {
  for (const block of all("pre", shown)) {
    if (block.previousElementSibling?.className === "cp") continue;
    block.before(make("button", { type: "button", class: "cp", "data-do": "copy" }, "Copy"));
  }
  const names = [...new Set(all(".tool > summary > b", shown).map((name) => name.textContent))];
  all("#who optgroup").forEach((group) => group.remove());
  if (names.length > 1) {
    const group = make("optgroup", { label: "Calls of one tool" });
    for (const name of names.sort()) group.append(make("option", { value: "tool " + name }, name));
    one("#who").append(group);
  }
  filter();
  if (isMany) outline();
  if (wanted) find(false);
};
const outline = () => {
  all("#side .prompts").forEach((list) => list.remove());
  for (const link of links) {
    const isShown = link.getAttribute("href") === "#" + shown.id;
    link.toggleAttribute("aria-current", isShown);
    if (!isShown) continue;
    link.setAttribute("aria-current", "true");
    const list = make("ol", { class: "prompts", "aria-label": "Prompts" });
    for (const turn of all("article.u[id]", shown).slice(0, 200)) {
      const body = turn.cloneNode(true);
      all(":scope > :first-child, .sum, .cp, .tool, .think", body).forEach((part) => part.remove());
      const said = [...body.children].map((part) => part.textContent).join(" ");
      const text = said.trim().replace(/\s+/g, " ");
      if (!text && one(".sum", turn)) continue;
      const item = make("li");
      item.append(make("a", { href: "#" + turn.id }, text.length > 80 ? text.slice(0, 80) + "…" : text || "Prompt"));
      list.append(item);
    }
    link.parentElement.append(list);
    link.parentElement.scrollIntoView({ block: "nearest" });
  }
};

// Which turns and calls are shown.
const filter = () => {
  const [kind, ...rest] = one("#who").value.split(" ");
  const name = rest.join(" ");
  main.dataset.show = kind;
  for (const card of all(".tool", shown)) {
    card.toggleAttribute("data-off", name !== "" && one("b", card).textContent !== name);
  }
};
one("#who").addEventListener("change", () => { filter(); find(false); });

// Search: counts in every session, marks and moves in the one that is shown. What is searched are
// turns and the system prompt, whether they are packed or not.
const searched = (section) => all("article, .think:not(article *)", section);
const textNodes = (turn) => {
  const nodes = [];
  const walk = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    if (walk.currentNode.parentElement.className !== "cp") nodes.push(walk.currentNode);
  }
  return nodes;
};
const textOf = async (section) => {
  const island = islandOf(section);
  if (!island) return searched(section).map((turn) => textNodes(turn).map((node) => node.data).join("")).join("\n");
  const [head, ...turns] = (await unpack(island)).split("<article");
  const prompt = /<details class="think">.*?<\/details>/s.exec(head)?.[0] ?? "";
  return textIn([prompt, ...turns.map((turn) => "<" + turn.split("</article>", 1)[0])].join("\n"));
};
let wanted = "", counts = new Map(), ranges = [], at = -1, round = 0;
// What all sessions were counted for.
let counted = "";
const search = async () => {
  const mine = ++round;
  wanted = folded(one("#q").value.trim());
  // Where more is asked for than before, what did not have that does not have this.
  const may = counted && wanted.includes(counted) ? counts : null;
  counts = new Map();
  counted = "";
  if (!isMany || !wanted) return find(true);
  let pause = performance.now();
  const listed = links.map((link) => document.getElementById(link.hash.slice(1)));
  const order = may ? listed.filter((section) => may.has(section)) : listed;
  for await (const [section, text] of ahead(order, textOf)) {
    const count = occurrences(folded(await text), wanted);
    if (mine !== round) return;
    if (count) counts.set(section, count);
    if (performance.now() - pause > 50) {
      tell();
      await new Promise((resume) => setTimeout(resume));
      pause = performance.now();
    }
  }
  if (mine !== round) return;
  counted = wanted;
  badges();
  if (!counts.has(shown) && counts.size) await show(counts.keys().next().value);
  find(true);
};
const badges = () => {
  for (const link of links) {
    const count = counts.get(document.getElementById(link.hash.slice(1)));
    link.toggleAttribute("data-n", Boolean(count));
    if (count) link.dataset.n = count;
    link.parentElement.toggleAttribute("data-none", Boolean(wanted) && !count);
  }
};
const rangesIn = (turn) => {
  const nodes = textNodes(turn), starts = [];
  let text = "";
  for (const node of nodes) {
    starts.push(text.length);
    text += node.data;
  }
  const found = [];
  const lower = folded(text);
  let node = 0;
  const place = (offset) => {
    while (node + 1 < nodes.length && starts[node + 1] <= offset) node++;
    return [nodes[node], offset - starts[node]];
  };
  for (let from = lower.indexOf(wanted); from >= 0; from = lower.indexOf(wanted, from + wanted.length)) {
    const range = document.createRange();
    range.setStart(...place(from));
    const [last, end] = place(from + wanted.length - 1);
    range.setEnd(last, end + 1);
    found.push(range);
  }
  return found;
};
const find = (move) => {
  ranges = [];
  at = -1;
  if (wanted && shown) {
    for (const turn of searched(shown)) {
      if (turn.checkVisibility()) ranges.push(...rangesIn(turn));
      if (ranges.length > 20000) break;
    }
  }
  CSS.highlights?.set("found", new Highlight(...ranges));
  CSS.highlights?.delete("now");
  if (move && ranges.length) step(1); else tell();
};
const tell = () => {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const here = ranges.length ? `${at + 1} of ${ranges.length}` : "0";
  const there = counts.size ? `, ${total} in ${counts.size} session${counts.size === 1 ? "" : "s"}` : "";
  one("#hits").textContent = wanted ? here + there : "";
};
const step = async (by) => {
  if (!wanted) return;
  const next = at + by;
  if ((next < 0 || next >= ranges.length) && counts.size > (counts.has(shown) ? 1 : 0)) {
    const order = [...counts.keys()];
    const place = order.indexOf(shown);
    await show(order[(place + by + order.length) % order.length]);
    find(false);
    at = by > 0 ? 0 : ranges.length - 1;
  } else {
    at = ranges.length ? (next + ranges.length) % ranges.length : -1;
  }
  const range = ranges[at];
  if (range) {
    unfold(range.startContainer.parentElement);
    CSS.highlights?.set("now", new Highlight(range));
    range.startContainer.parentElement.scrollIntoView({ block: "center" });
  }
  tell();
};

// Folds.
const unfold = (element) => {
  for (let parent = element; parent; parent = parent.parentElement) {
    if (parent.localName === "details") parent.open = true;
    if (parent.localName === "pre" && parent.nextElementSibling?.className === "more") {
      parent.nextElementSibling.open = true;
    }
  }
};
const fold = (open) => all("details", shown).forEach((details) => (details.open = open));

// Moves.
const move = (selector, by) => {
  const edge = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
  const turns = all(selector, shown).filter((turn) => turn.checkVisibility());
  const top = (turn) => turn.getBoundingClientRect().top - edge;
  const next = by > 0 ? turns.find((turn) => top(turn) > 4) : turns.findLast((turn) => top(turn) < -4);
  if (!next) return say(by > 0 ? "This is the last one" : "This is the first one");
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
};
const copy = async (text, what) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(what);
};

const keys = [
  ["/", "Search"], ["Enter", "Next match"], ["Shift+Enter", "Previous match"],
  ["j", "Next turn"], ["k", "Previous turn"], ["]", "Next prompt"], ["[", "Previous prompt"],
  ["o", "Open all"], ["e", "Fold all"], ["?", "These keys"],
];
const help = make("dialog", { "aria-label": "Keys" });
const table = make("dl");
for (const [key, what] of keys) {
  const row = make("div");
  const name = make("dt");
  name.append(make("kbd", {}, key));
  row.append(name, make("dd", {}, what));
  table.append(row);
}
help.append(make("h2", {}, "Keys"), table, make("button", { type: "button", "data-do": "help" }, "Close"));
document.body.append(help);

const actions = {
  "found-next": () => step(1),
  "found-back": () => step(-1),
  "turn-next": () => move("article", 1),
  "turn-back": () => move("article", -1),
  "prompt-next": () => move("article.u", 1),
  "prompt-back": () => move("article.u", -1),
  "open": () => fold(true),
  "fold": () => fold(false),
  "help": () => (help.open ? help.close() : help.showModal()),
  "copy": (button) => copy(button.nextElementSibling.textContent, "Copied"),
};
const byKey = {
  j: "turn-next", k: "turn-back", "]": "prompt-next", "[": "prompt-back",
  o: "open", e: "fold", "?": "help",
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.matches?.("input:not([type=radio]), select, textarea");
  if (isTyping) {
    if (event.target.id !== "q") return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (folded(event.target.value.trim()) === wanted) step(event.shiftKey ? -1 : 1);
    }
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = Object.hasOwn(byKey, event.key) ? byKey[event.key] : null;
  if (!action || help.open) return;
  event.preventDefault();
  actions[action]();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button) return actions[button.dataset.do](button);
  const link = event.target.closest("a[href^='#']");
  if (!link) return;
  if (link.closest("#side")) one("#side").hidePopover?.();
  if (link.closest("article > :first-child")) {
    copy(location.href.replace(/#.*/, "") + link.getAttribute("href"), "Link copied");
  }
});
let typing;
one("#q").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(search, isMany ? 300 : 120);
});

// Where a link leads. Whatever stands behind the hash is looked up, never run or decoded.
const sectionWith = async (id) => {
  for (const section of sections) {
    const island = islandOf(section);
    if (island && new RegExp(` id=${id}[ >]`).test(await unpack(island))) return section;
  }
  return null;
};
const follow = async () => {
  const id = location.hash.slice(1);
  const isName = /^[\w~-]+$/.test(id);
  let target = isName ? document.getElementById(id) : null;
  if (isMany) {
    const isHidden = !target && /^m-?\d+$/.test(id);
    const section = target?.closest(".session") ?? (isHidden ? await sectionWith(id) : null);
    const newest = links[0] && document.getElementById(links[0].hash.slice(1));
    const fallback = id ? shown ?? newest : newest;
    if (section ?? fallback) await show(section ?? fallback);
    target = isName ? document.getElementById(id) : null;
    if (target === shown) target = null;
  }
  if (!target || !main.contains(target)) return;
  unfold(target);
  target.scrollIntoView();
};
addEventListener("hashchange", follow);

let closed = [];
addEventListener("beforeprint", () => {
  closed = all("details:not([open])", shown ?? main);
  closed.forEach((details) => (details.open = true));
});
addEventListener("afterprint", () => closed.forEach((details) => (details.open = false)));

one("#tools").hidden = false;
const isWide = matchMedia("(min-width: 64rem)");
const spread = () => (one("#extra").open = isWide.matches);
isWide.addEventListener("change", spread);
spread();
if (!isMany) arrange();
follow();
