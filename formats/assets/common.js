// What the scripts of all pages share. They are joined into one, and see each other's names.
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);
const make = (tag, attributes = {}, text = "") => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
};
const notice = make("output", { class: "status", "aria-live": "polite" });
document.body.append(notice);
let saying;
const say = (text) => {
  notice.textContent = text;
  clearTimeout(saying);
  saying = setTimeout(() => (notice.textContent = ""), 2500);
};

// The field to search by.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  if (event.target.matches("input:not([type=radio]), select, textarea")) return;
  event.preventDefault();
  one("#q").focus();
  one("#q").select();
});

// Colours: the style does them, the script remembers.
for (const input of all("#theme input")) {
  try {
    if (localStorage.getItem("colours") === input.id) input.checked = true;
    input.addEventListener("change", () => localStorage.setItem("colours", input.id));
  } catch { /* a page need not remember */ }
}

// Text as it is compared, and markup that was packed.
const folded = (text) => {
  let lower = text.toLowerCase();
  if (lower.length !== text.length) {
    lower = [...text].map((c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c)).join("");
  }
  // A sigma is another at the end of a word, which the end of what is asked for need not be.
  return lower.replaceAll("ς", "σ");
};
const entities = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
const occurrences = (text, word) => {
  let count = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) count++;
  return count;
};
const decoded = (text) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  return bytes;
};
const unpack = async (island) => {
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const text = new Response(readable).text();
  // What is wrong with the bytes, the reading end tells.
  const writer = writable.getWriter();
  writer.write(decoded(island.textContent)).catch(() => {});
  writer.close().catch(() => {});
  return text;
};
// Begins with a few before they are asked for: unpacking goes on in other threads.
const ahead = async function* (items, begin) {
  const begun = [];
  for (const item of items) {
    begun.push([item, begin(item)]);
    if (begun.length > 4) yield begun.shift();
  }
  yield* begun;
};
const textIn = (markup) =>
  markup.replace(/<[^>]*>/g, "").replace(/&(lt|gt|quot|amp);/g, (entity) => entities[entity]);
