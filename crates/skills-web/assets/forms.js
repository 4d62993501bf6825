
// Forms that show their answer in place, and buttons that copy a text.

/** Sends a form and replaces the part of the page that it names with the same part of the answer. */
async function sendInPlace(form, part) {
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  try {
    const fields = new URLSearchParams(new FormData(form));
    const response = await fetch(form.action, { method: "POST", body: fields, headers: { accept: "text/html" } });
    const answer = new DOMParser().parseFromString(await response.text(), "text/html").getElementById(part.id);
    if (!answer) throw new Error(`the answer has no ${part.id}`);
    part.replaceChildren(...answer.childNodes);
    // The address keeps what was typed for a reload, a bookmark and the back button.
    history.replaceState(null, "", `${new URL(form.action).pathname}?${fields}`);
  } catch {
    const problem = document.createElement("div");
    problem.className = "problem";
    problem.setAttribute("role", "alert");
    problem.textContent = "The server did not answer. Nothing that you typed is lost: try again.";
    part.replaceChildren(problem);
  } finally {
    buttons.forEach((button) => (button.disabled = false));
  }
}

document.addEventListener("submit", (event) => {
  const part = document.getElementById(event.target.dataset.part ?? "");
  if (!part) return;
  event.preventDefault();
  sendInPlace(event.target, part);
});

/** Adds a button that copies a text. Browsers allow it on this machine and over https. */
function addCopyButton(text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy quiet";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy the lines for ${text.dataset.copy}`);
  const status = document.createElement("span");
  status.className = "unseen";
  status.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    status.textContent = button.textContent;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  text.after(button, status);
}

const addCopyButtons = () => document.querySelectorAll("[data-copy]").forEach(addCopyButton);
addCopyButtons();
document.addEventListener("shown", addCopyButtons);
