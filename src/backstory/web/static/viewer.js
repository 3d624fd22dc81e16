// Keys, the live feed, search as one types, copying handles. Every page works without it.
"use strict";

const root = document.documentElement;
root.classList.add("script");
const kept = localStorage.getItem("theme");
if (kept) root.dataset.theme = kept;

// on a phone the places stand in one line that scrolls
const places = document.querySelector(".side nav");
const here = places?.querySelector("[aria-current]");
if (here) places.scrollLeft = here.offsetLeft - places.offsetLeft - (places.clientWidth - here.offsetWidth) / 2;

function say(text) {
  const place = document.getElementById("said");
  place.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { place.textContent = ""; }, 2000);
}

function switchTheme() {
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

function help() {
  const dialog = document.getElementById("keys");
  if (dialog.open) dialog.close(); else dialog.showModal();
}

// --- rows and keys

let current = null;

function go(row) {
  if (!row) return;
  if (current) current.classList.remove("at");
  current = row;
  row.classList.add("at");
  const link = row.querySelector("a[href]");
  row.closest("details:not([open])")?.setAttribute("open", "");
  (link || row).focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  if (!rows.length) return;
  const at = rows.indexOf(current);
  go(rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))]);
}

// what an address points at may lie in work that is folded
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (!target) return;
  let fold = target.closest("details:not([open])");
  if (!fold) return;
  for (; fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
  target.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", unfold);
unfold();

let awaiting = false;

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "Escape" && typing) { event.target.blur(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = awaiting && document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
  awaiting = false;
  if (place) { location.href = place.href; return; }
  const act = current?.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (act) { event.preventDefault(); act.click(); return; }
  const keys = {
    "/": () => (document.querySelector("main input[type=search]") || document.getElementById("find")).focus(),
    "?": help, "j": () => step(1), "k": () => step(-1), "t": switchTheme,
    "g": () => { awaiting = true; },
    "u": () => document.querySelector("[data-undo]")?.click(),
    "Enter": () => { if (!event.target.matches("a, button, summary")) current?.querySelector("a[href]")?.click(); },
  };
  if (keys[event.key]) {
    if (event.key !== "Enter") event.preventDefault();
    keys[event.key]();
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copy) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      say(`Copied ${button.dataset.copy}`);
    } catch { say(button.dataset.copy); }
  } else if ("help" in button.dataset) help();
  else if ("themeSwitch" in button.dataset) switchTheme();
});

document.addEventListener("change", (event) => {
  if ("submit" in event.target.dataset) event.target.form.requestSubmit();
});

// --- search as one types

const asking = document.querySelector("[data-as-you-type]");
if (asking) {
  const form = asking.form;
  let wait, asked = 0;
  const ask = async () => {
    const values = new URLSearchParams(new FormData(form));
    for (const [key, value] of [...values]) if (!value) values.delete(key);
    history.replaceState(null, "", `${form.getAttribute("action")}?${values}`);
    values.set("part", "1");
    const mine = ++asked;
    const answer = await fetch(`${form.getAttribute("action")}?${values}`);
    const text = await answer.text();
    if (mine !== asked) return;
    const made = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
    const place = document.querySelector(asking.dataset.asYouType);
    if (answer.ok && made) { place.replaceChildren(...made.childNodes); current = null; }
  };
  asking.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(ask, 150); });
}

// --- the live feed

const feed = document.querySelector("[data-live]");
if (feed) {
  const MOST = 200;
  const pulse = document.getElementById("pulse");
  const made = (name, text, className) => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const row = (told) => {
    const item = made("li", "", "row new");
    const link = made("a", told.text || "…");
    link.href = told.link;
    item.append(made("time", told.time), made("span", told.kind, `chip ${told.tone}`), link, made("span", told.project, "where"));
    return item;
  };
  // what stands beside the feed: the sessions that run, what was learned; at most every other second
  const beside = document.querySelector("[data-fresh]");
  let due = null;
  const freshen = () => {
    due ??= setTimeout(async () => {
      due = null;
      const answer = await fetch(beside.dataset.fresh);
      if (!answer.ok || beside.contains(document.activeElement)) return;
      const made = new DOMParser().parseFromString(await answer.text(), "text/html").body.firstElementChild;
      if (made) beside.replaceChildren(...made.childNodes);
    }, 2000);
  };
  const source = new EventSource(feed.dataset.live);
  source.addEventListener("open", () => { pulse.textContent = "live"; pulse.classList.add("live"); });
  source.addEventListener("error", () => { pulse.textContent = "waiting for the server"; pulse.classList.remove("live"); });
  source.addEventListener("happened", (event) => {
    const rows = JSON.parse(event.data).slice(-MOST).map(row).reverse();
    const before = feed.scrollTop ? feed.scrollHeight : 0;
    feed.prepend(...rows);
    while (feed.children.length > MOST) feed.lastElementChild.remove();
    if (before) feed.scrollTop += feed.scrollHeight - before;
    freshen();
  });
}
