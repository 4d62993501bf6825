// The script of the page: this file, live.js and editor.js are served as one module. Everything works without it;
// it loads folders in place, shows changes of others, and checks a text while it is written.

/** Fills an opened folder with its list. */
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

/** Puts the next page of a list in the place of its link; answers the new entries. */
async function loadMore(more) {
  const part = await fetchPart(more.dataset.more);
  const entries = [...part.querySelector("ul").children].filter((li) => !li.matches(".page:first-child"));
  const list = more.closest("ul");
  list.dataset.pages = Number(list.dataset.pages ?? 0) + 1;
  more.closest("li").replaceWith(...entries);
  return entries;
}

/** Fetches a part of a page. */
async function fetchPart(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const part = document.createDocumentFragment();
  part.append(...parse(await response.text()).body.childNodes);
  return part;
}

function parse(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

document.addEventListener("toggle", (event) => openFolder(event.target), true);

document.addEventListener("click", async (event) => {
  const more = event.target.closest("a[data-more]");
  if (!more || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const [first] = await loadMore(more);
    first?.querySelector("a, summary")?.focus();
  } catch {
    location.href = more.href;
  }
});
