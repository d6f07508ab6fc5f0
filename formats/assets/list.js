// The list of sessions.
const filters = one(".filters");
if (filters) {
  filters.hidden = false;
  const items = all(".sessions > li", filters.parentElement);
  const narrow = () => {
    const tags = all("[aria-pressed=true]", filters).map((button) => button.dataset.tag);
    const fields = all("[data-by]", filters).map((field) => [field.dataset.by, field.value]);
    let count = 0;
    for (const item of items) {
      const has = ([by, value]) => !value
        || (by === "title" ? folded(one("a", item).textContent).includes(folded(value)) : item.dataset[by] === value);
      const mine = (item.dataset.tags ?? "").split(" ");
      const fits = fields.every(has) && tags.every((tag) => mine.includes(tag));
      item.hidden = !fits;
      count += fits;
    }
    for (const list of all(".sessions", filters.parentElement)) {
      const isEmpty = all(":scope > li", list).every((item) => item.hidden);
      list.previousElementSibling.hidden = isEmpty;
    }
    one("output", filters).textContent = count < items.length ? `${count} of ${items.length}` : "";
  };
  filters.addEventListener("input", narrow);
  filters.addEventListener("click", (event) => {
    const tag = event.target.closest("[data-tag]");
    if (!tag) return;
    tag.setAttribute("aria-pressed", String(tag.getAttribute("aria-pressed") !== "true"));
    narrow();
  });
}

