// The script of the page. Everything works without it; it loads folders in place.

/** Replaces the content of an opened folder with its list. */
async function openFolder(details) {
  const address = details.dataset.folder;
  if (!details.open || !address) return;
  delete details.dataset.folder;
  try {
    const list = await fetchPart(address);
    details.querySelector("p")?.replaceWith(list);
  } catch {
    // The link to the folder stays; the next opening tries again.
    details.dataset.folder = address;
  }
}

/** Fetches a part of a page. */
async function fetchPart(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
  const part = document.createDocumentFragment();
  part.append(...parsed.body.childNodes);
  return part;
}

document.addEventListener("toggle", (event) => openFolder(event.target), true);

document.addEventListener("click", async (event) => {
  const more = event.target.closest("a[data-more]");
  if (!more || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const part = await fetchPart(more.dataset.more);
    const entries = [...part.querySelectorAll(":scope > ul > li")].filter((li) => !li.matches(".page:first-child"));
    more.closest("li").replaceWith(...entries);
    entries[0]?.querySelector("a, summary")?.focus();
  } catch {
    location.href = more.href;
  }
});
