// Changes of others. While a page is visible, a stream of events tells that something changed; the page is then
// fetched again and its content replaced, unless somebody writes in it.

// The server sends a sign of life every 15 seconds.
const SILENCE_MS = 40_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000];
const SHORT_MS = 5_000;
// A registry that changes all the time is shown at most once a second, and less often if it answers slowly.
const PAUSE_MS = 1_000;
const PAUSE_TIMES = 10;

const connection = document.createElement("p");
connection.id = "connection";
connection.setAttribute("role", "status");

let version = document.body.dataset.live;
// What the server sent for this page, before other parts of the script add to it.
let served = document.querySelector(".columns")?.innerHTML;
let stream;
let failures = 0;
let isLeaving = false;

/** Says something about the connection or about changes. */
function say(text, { isBad = false, ms } = {}) {
  connection.textContent = text;
  connection.classList.toggle("bad", isBad);
  if (ms) setTimeout(() => connection.textContent === text && say(""), ms);
}

/** Hears events until the stream ends, and then again. */
async function listen() {
  if (stream || document.hidden) return;
  const own = new AbortController();
  stream = own;
  let silence;
  const isAlive = () => {
    clearTimeout(silence);
    silence = setTimeout(() => own.abort(), SILENCE_MS);
  };
  let problem = "The connection to the server is lost. What you see may be out of date.";
  try {
    isAlive();
    const response = await fetch("/events", { headers: { accept: "text/event-stream" }, signal: own.signal });
    if (response.status === 401) problem = "You are signed out. Reload the page to sign in.";
    else if (!response.ok) problem = `Changes are not shown here: ${await response.text()}.`;
    else for await (const event of eventsOf(response.body)) {
      isAlive();
      hear(event);
    }
  } catch {
    // The same as an end.
  }
  clearTimeout(silence);
  if (stream === own) stream = undefined;
  if (isLeaving || document.hidden) return;
  say(problem, { isBad: true });
  const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
  failures += 1;
  setTimeout(listen, wait);
}

/** The events of a stream: name and data. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const fields = event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
      yield Object.fromEntries(fields);
    }
  }
}

function hear({ event, data }) {
  if (event === "hello") {
    if (failures) say("Connected again.", { ms: SHORT_MS });
    failures = 0;
    if (data !== version) show(data);
  } else if (event === "change") {
    const { version: next, changed } = JSON.parse(data);
    show(next, changed);
  } else if (event === "ping" && "timely" in document.body.dataset) {
    show(version);
  }
}

let isShowing = false;
let isWaiting = false;

/** Shows a version of the registry; `changed` has the names of what changed, if they are known. */
async function show(next, changed) {
  version = next;
  const editor = document.querySelector("form[data-editor]");
  if (editor) return editorChanged(editor, changed);
  if (isShowing) {
    isWaiting = true;
    return;
  }
  isShowing = true;
  const start = performance.now();
  try {
    await showPage();
  } catch {
    // The next event or connection shows it.
    version = undefined;
  }
  const pause = Math.max(PAUSE_MS, PAUSE_TIMES * (performance.now() - start));
  setTimeout(() => {
    isShowing = false;
    if (isWaiting) show(version);
    isWaiting = false;
  }, pause);
}

async function showPage() {
  const response = await fetch(location.href, { headers: { accept: "text/html" } });
  if (response.status === 401) return say("You are signed out. Reload the page to sign in.", { isBad: true });
  if (response.status >= 500) {
    say("The registry does not answer. What you see may be out of date.", { isBad: true });
    throw new Error(`status ${response.status}`);
  }
  const next = parse(await response.text());
  const [now, then] = [document, next].map((page) => page.querySelector(".columns"));
  if (!now || !then) return;
  const isSame = then.innerHTML === served;
  if (isSame && !now.querySelector("details[open], ul[data-pages]")) return;
  if (!isSame && (isWritten(now) || hasAnswer(now))) return say("This page changed. Reload it to see the change.");
  served = then.innerHTML;
  await restoreLists(now, then);
  document.title = next.title;
  if (now.innerHTML === then.innerHTML) return;
  const [key, scroll] = [focusKey(now), now.querySelector("aside")?.scrollTop];
  const top = scrollY;
  now.className = then.className;
  now.replaceChildren(...then.childNodes);
  if (scroll) now.querySelector("aside")?.scrollTo(0, scroll);
  scrollTo({ top, behavior: "instant" });
  if (key) focusAt(now, key);
  // Other parts of the script add to what the server sent.
  document.dispatchEvent(new Event("shown"));
}

/** Whether the answer to a form is shown in place. */
function hasAnswer(root) {
  return [...root.querySelectorAll("form[data-part]")].some(({ dataset }) => document.getElementById(dataset.part)?.firstElementChild);
}

/** Whether a form has something that was typed. */
function isWritten(root) {
  return [...root.querySelectorAll("input, textarea, select")].some((field) =>
    field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked
      : field.options ? [...field.options].some((option) => option.selected !== option.defaultSelected)
        : field.value !== field.defaultValue);
}

/** Opens the folders and pages of lists that are open in `now`. */
async function restoreLists(now, then) {
  const lists = (root) => [...root.querySelectorAll("ul.tree")].filter((list) => !list.parentElement.closest("details"));
  const next = lists(then);
  await Promise.all(lists(now).map((list, at) => next[at] && restoreList(list, next[at])));
}

async function restoreList(now, then) {
  for (let pages = Number(now.dataset.pages ?? 0); pages > 0; pages -= 1) {
    const more = then.querySelector(":scope > li.page > a[data-more]");
    if (more) await loadMore(more);
  }
  const folders = (list) => [...list.querySelectorAll(":scope > li > details")];
  const name = (folder) => folder.querySelector(".name").textContent;
  for (const folder of folders(now)) {
    const twin = folders(then).find((other) => name(other) === name(folder));
    if (!twin) continue;
    twin.open = folder.open;
    await openFolder(twin);
    const [list, next] = [folder, twin].map((it) => it.querySelector(":scope > ul"));
    if (list && next) await restoreList(list, next);
  }
}

const like = (root, element) => {
  const sign = (it) => [it.localName, it.id, it.getAttribute("href"), it.getAttribute("name"), it.localName === "summary" && it.textContent].join();
  return [...root.querySelectorAll(element.localName)].filter((it) => sign(it) === sign(element));
};

/** Where the focus is, if it is inside. */
function focusKey(root) {
  const element = document.activeElement;
  return root.contains(element) && { element, at: like(root, element).indexOf(element) };
}

function focusAt(root, { element, at }) {
  const twins = like(root, element);
  (twins[at] ?? twins[0])?.focus({ preventScroll: true });
}

if (version !== undefined) {
  document.body.append(connection);
  addEventListener("pagehide", () => (isLeaving = true));
  document.addEventListener("visibilitychange", () => {
    // A browser has few connections to one server; a page that is not seen needs none.
    if (document.hidden) stream?.abort();
    else listen();
  });
  listen();
}
