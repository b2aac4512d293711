"use strict";
// Conveniences of the reference page; it is complete without them.

// On narrow screens the contents are folded away.
const contents = document.querySelector("nav details");
const wide = matchMedia("(min-width: 960px)");
const fold = () => { contents.open = wide.matches; };
wide.addEventListener("change", fold);
fold();
contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) contents.open = false;
});

// A search box over the contents: an operation is found by its name, path and members.
const box = document.createElement("input");
box.type = "search";
box.placeholder = "Search";
box.setAttribute("aria-label", "Search the contents");
document.getElementById("search").append(box);
const none = document.createElement("p");
none.className = "none";
none.textContent = "Nothing found.";
none.hidden = true;
none.setAttribute("role", "status");
box.after(none);
const types = contents.querySelector(".types");
const entries = [...contents.querySelectorAll("li")].map((item) => {
  const target = document.getElementById(item.querySelector("a").hash.slice(1));
  return { item, text: target.textContent.toLowerCase() };
});
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/);
  let found = 0;
  for (const { item, text } of entries) {
    item.hidden = !words.every((word) => text.includes(word));
    if (!item.hidden) found++;
  }
  for (const heading of contents.querySelectorAll("h2")) {
    heading.hidden = !heading.nextElementSibling.querySelector("li:not([hidden])");
  }
  types.hidden = !types.querySelector("li:not([hidden])");
  types.open = box.value !== "" && !types.hidden;
  none.hidden = found > 0;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input")) {
    event.preventDefault();
    contents.open = true;
    box.focus();
  }
});

// The contents show where the reader is.
const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const watcher = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    contents.querySelector(".here")?.classList.remove("here");
    const link = links.get(target.id);
    if (wide.matches && types.contains(link)) types.open = true;
    link.classList.add("here");
    if (wide.matches) {
      const nav = contents.parentElement;
      const { top, bottom } = link.getBoundingClientRect();
      if (top < 80) nav.scrollBy(0, top - 160);
      if (bottom > innerHeight - 20) nav.scrollBy(0, bottom - innerHeight + 160);
    }
  }
}, { rootMargin: "-80px 0px -85% 0px" });
for (const id of links.keys()) {
  const target = document.getElementById(id);
  if (target && !target.classList.contains("group")) watcher.observe(target);
}

// Every example can be copied.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }
}
