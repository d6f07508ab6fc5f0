// Searching all pages of a folder: their text is packed in this one.
const pages = all(".page");
const results = one("#results");
const MOST = 500; // results shown
let search = 0;
const excerpt = (text, at, word) => {
  const quote = make("p");
  const from = Math.max(0, at - 60);
  quote.append((from ? "…" : "") + text.slice(from, at), make("mark", {}, text.slice(at, at + word.length)));
  quote.append(text.slice(at + word.length, at + word.length + 120));
  return quote;
};
// A page's text has its messages apart, each with its name in the page on a line of its own.
const resultsIn = (page, text, word, room) => {
  const list = make("ol");
  let total = 0;
  const lower = folded(text);
  if (!lower.includes(word)) return { list, total };
  if (!room) return { list, total: occurrences(lower.replace(/\x1e[^\n]*\n/g, "\x1e"), word) };
  for (const [n, piece] of text.split("\x1e").entries()) {
    const line = n ? piece.indexOf("\n") : -1;
    const [id, said] = [piece.slice(0, Math.max(line, 0)), piece.slice(line + 1)];
    const lower = folded(said);
    const count = occurrences(lower, word);
    total += count;
    if (!count || list.childElementCount >= room) continue;
    const item = make("li");
    const quote = excerpt(said, lower.indexOf(word), word);
    const link = make("a", { href: page.dataset.href + (id ? "#" + id : "") }, id ? "Message " + id.slice(1) : "Its beginning");
    item.append(link, quote);
    list.append(item);
  }
  return { list, total };
};
const searchAll = async () => {
  const mine = ++search;
  const typed = one("#q").value.trim();
  const word = folded(typed);
  results.replaceChildren();
  one("#hits").textContent = "";
  history.replaceState(null, "", typed ? "#q=" + encodeURIComponent(typed) : "#");
  if (!word) return;
  let [matches, found, shown, pause] = [0, 0, 0, performance.now()];
  for await (const [page, unpacked] of ahead(pages, (page) => unpack(one(".isle", page)))) {
    const text = await unpacked;
    if (mine !== search) return;
    const { list, total } = resultsIn(page, text, word, Math.min(20, MOST - shown));
    if (total) {
      matches += total;
      found += 1;
      shown += list.childElementCount;
      const title = make("h2");
      const name = make("a", { href: page.dataset.href });
      name.append(make("bdi", {}, page.dataset.title));
      title.append(name, ` ${total}`);
      results.append(title, list);
    }
    if (performance.now() - pause > 50) {
      one("#hits").textContent = `${matches} so far`;
      await new Promise((resume) => setTimeout(resume));
      pause = performance.now();
    }
  }
  one("#hits").textContent = matches ? `${matches} in ${found} page${found === 1 ? "" : "s"}` : "Nothing found";
};
let typing;
one("#q").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(searchAll, 300);
});
try {
  one("#q").value = decodeURIComponent(/^#q=(.*)$/.exec(location.hash)?.[1] ?? "");
} catch { /* somebody else's hash */ }
one("#tools").hidden = false;
if (one("#q").value) searchAll();
