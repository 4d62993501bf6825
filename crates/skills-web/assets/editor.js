// Writing: the findings and the preview follow the text, and a form is sent without leaving the page, so that
// nothing typed is lost when the server refuses it or cannot be reached.

const TYPING_MS = 300;

let typing;
let check;
let isSaved = false;

/** Sends a form; answers the response and, if it is one, the page in it. */
async function send(form, action, signal) {
  const fields = new URLSearchParams(new FormData(form));
  if (action) fields.set("action", action);
  // A field named `action` hides the property.
  const response = await fetch(form.getAttribute("action"), { method: "POST", body: fields, signal });
  const text = await response.text();
  const isPage = response.headers.get("content-type")?.startsWith("text/html");
  return { response, text, page: isPage ? parse(text) : undefined };
}

/** Takes the parts around the text from a page; the text itself, its undo history and the caret stay. */
function take(page, ids) {
  for (const id of ids) {
    const [now, then] = [document, page].map((it) => it.getElementById(id));
    if (now && then && now.innerHTML !== then.innerHTML) now.replaceChildren(...then.childNodes);
  }
}

/** Shows findings and preview of the text as it is. */
async function preview(form) {
  check?.abort();
  const own = new AbortController();
  check = own;
  try {
    const { page } = await send(form, "preview", own.signal);
    if (page && check === own) take(page, ["state", "panel"]);
  } catch {
    // The next letter tries again, and the connection tells of itself.
  }
}

/** Shows why a form was not accepted. */
function refuse(form, message, hint) {
  const problem = document.createElement("div");
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  for (const text of [message, hint]) problem.append(Object.assign(document.createElement("p"), { textContent: text }));
  (form.querySelector("#state") ?? form).prepend(problem);
  problem.scrollIntoView({ block: "nearest" });
}

async function submit(form, submitter) {
  check?.abort();
  clearTimeout(typing);
  const action = submitter?.name === "action" ? submitter.value : undefined;
  form.querySelectorAll(".problem").forEach((problem) => problem.remove());
  let sent;
  try {
    sent = await send(form, action);
  } catch {
    return refuse(form, "The server cannot be reached. Nothing is saved, and what you typed is still here.", "Try again when it is back.");
  }
  const { response, text, page } = sent;
  if (response.redirected) {
    isSaved = true;
    location.href = response.url;
  } else if (response.status === 401) {
    refuse(form, "You are signed out. Nothing is saved, and what you typed is still here.", "Sign in on another page of this server, then try again.");
  } else if (!page) {
    refuse(form, text || `The server answered with status ${response.status}.`, "Nothing is saved, and what you typed is still here.");
  } else if (page.getElementById("panel")) {
    take(page, ["state", "panel"]);
    if (action !== "preview") document.getElementById("state").scrollIntoView({ block: "nearest" });
  } else {
    document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
  }
}

/** Something changed elsewhere while a form is open. */
async function editorChanged(form, changed) {
  const id = form.dataset.skill ?? form.elements.id?.value;
  if (changed && !changed.includes(`skill:${id}`)) return;
  await preview(form);
  if (document.getElementById("conflict")) say("This skill changed meanwhile. Your text is kept.", { ms: 2 * SHORT_MS });
}

document.addEventListener("input", ({ target }) => {
  const form = target.closest("form[data-editor]");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => preview(form), TYPING_MS);
});

let isSending = false;
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-send]");
  if (!form) return;
  event.preventDefault();
  if (isSending) return;
  isSending = true;
  await submit(form, event.submitter);
  isSending = false;
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-discard]")) isSaved = true;
});

addEventListener("beforeunload", (event) => {
  const form = document.querySelector("form[data-editor]");
  if (form && !isSaved && isWritten(form)) event.preventDefault();
});
