"use strict";
// Exchanges the token behind # of a sign-in link, or a key typed here, for a session. What stands
// behind # is never sent to a server with the address.

const form = document.getElementById("form");
const field = document.getElementById("key");
const progress = document.getElementById("progress");
const refused = document.getElementById("refused");

function ask(reason) {
  progress.hidden = true;
  refused.textContent = reason;
  refused.hidden = !reason;
  form.hidden = false;
  form.querySelector("button").disabled = false;
  field.focus();
}

// goOn opens the page that sent us here.
function goOn() {
  const back = sessionStorage.getItem("headroom.return") ?? "";
  sessionStorage.removeItem("headroom.return");
  location.replace(/^\/[^/\\]/.test(back) ? back : "/");
}

async function signIn(token, whenRefused) {
  progress.hidden = false;
  refused.hidden = true;
  form.querySelector("button").disabled = true;
  let answer;
  try {
    answer = await fetch("/v1/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
  } catch {
    ask("The server does not answer. Is it still running? Then try again.");
    return;
  }
  if (answer.ok) {
    goOn();
    return;
  }
  const problem = await answer.json().catch(() => ({}));
  ask(answer.status === 401 ? whenRefused : problem.detail || "The server answered " + answer.status + ".");
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const token = field.value.trim();
  field.value = "";
  signIn(token, "This key opens nothing: it is mistyped, over or revoked.");
});

function start() {
  const token = location.hash.slice(1);
  if (!token) {
    if (new URLSearchParams(location.search).has("done")) goOn(); // an organisation's page sent us back, signed in
    else ask(refused.textContent); // which the server may have filled
    return;
  }
  history.replaceState(null, "", location.pathname); // nobody finds the token in the history
  signIn(token, "This link opens nothing any more: it works once and for five minutes. Start the server again for a new one, or use a key.");
}
addEventListener("hashchange", start); // a second link pasted into the same tab
start();
