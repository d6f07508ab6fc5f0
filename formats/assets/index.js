// The first page of a folder: a search leads to the page that holds all text.
one("#q").addEventListener("keydown", (event) => {
  const typed = event.target.value.trim();
  if (event.key === "Enter" && typed) location.href = "search.html#q=" + encodeURIComponent(typed);
});
one("#tools").hidden = false;
