
// Results below the search field while a text is typed.

/** Shows results for the text of a field. One request at a time: the newest text is asked for next. */
function searchWhileTyping(form) {
  const field = form.querySelector("input[data-results]");
  const found = form.querySelector(".found");
  const status = form.querySelector("[role=status]");
  let shown = field.value.trim();
  let isAsking = false;

  const close = () => {
    found.hidden = true;
    status.textContent = "";
  };
  const ask = async () => {
    const text = field.value.trim();
    if (isAsking || text === shown) return;
    isAsking = true;
    try {
      shown = text;
      if (!text) return close();
      const part = await fetchPart(`${field.dataset.results}?${new URLSearchParams({ q: text })}`);
      // The list does not change under a reader who is in it.
      if (found.contains(document.activeElement)) return;
      found.replaceChildren(part);
      found.hidden = document.activeElement !== field;
      status.textContent = found.querySelector("ul")?.dataset.total ?? found.textContent;
    } catch {
      // The search page shows what is wrong.
      close();
    } finally {
      isAsking = false;
      if (field.value.trim() !== shown) ask();
    }
  };
  const links = () => [field, ...found.querySelectorAll("a")];

  field.addEventListener("input", ask);
  field.addEventListener("focus", () => {
    if (found.hasChildNodes() && field.value.trim() === shown && shown) found.hidden = false;
  });
  form.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !found.hidden) {
      field.focus();
      close();
      event.preventDefault();
    } else if (step && !found.hidden) {
      const all = links();
      const at = all.indexOf(document.activeElement) + step;
      all[Math.max(0, Math.min(at, all.length - 1))].focus();
      event.preventDefault();
    }
  });
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) close();
  });
  // A press on the list must not take the focus from the field before its click.
  found.addEventListener("mousedown", (event) => event.preventDefault());
}

document.querySelectorAll("form.search").forEach(searchWhileTyping);

document.addEventListener("keydown", (event) => {
  const isTyped = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.querySelector("form.search input")?.focus();
});
