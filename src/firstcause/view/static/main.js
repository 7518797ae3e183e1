// Which page is shown, and what keys do.

import { casePage } from "./case.js";
import { el, themed } from "./dom.js";
import { homePage } from "./home.js";
import { runPage } from "./run.js";
import { Filed, Served } from "./source.js";

const PAGES = { home: homePage, run: runPage, case: casePage };
const main = document.getElementById("main"), where = document.getElementById("where"), live = document.getElementById("live");
const block = document.getElementById("data");
const source = block ? new Filed(block) : new Served();
let page = null, stop = () => {}, turn = 0;

function state(on) {
  live.className = on ? "on" : "";
  live.textContent = on ? "live" : "the server has gone";
}

async function show() {
  const mine = ++turn;
  stop();
  const hash = location.hash || document.body.dataset.start || (await source.first());
  const [kind, name = ""] = hash.slice(1).split("/").map(decodeURIComponent);
  try {
    const data = await source.page(kind in PAGES ? kind : "home", name);
    if (mine !== turn) return;
    page = PAGES[data.kind](main, data, source);
    where.textContent = page.title;
    document.title = `${page.title} · firstcause`;
    main.dataset.ready = data.kind;
    const left = source.left();
    if (left && left.length) main.append(el("h2", {}, "Left out of this file"), el("ul", { id: "left" }, left.map((line) => el("li", {}, line))));
    stop = source.follow(data.kind, name, (fresh) => page.update(fresh), state);
  } catch (error) {
    if (mine === turn) main.replaceChildren(el("div", { class: "box bad", role: "alert" }, error.message));
  }
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  themed();
  if (page && page.axis) page.axis.redraw();
}

document.getElementById("theme").addEventListener("click", turnTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  themed();
  if (page && page.axis) page.axis.redraw();
});
addEventListener("hashchange", () => { scrollTo(0, 0); show(); });
addEventListener("resize", () => page && page.axis && page.axis.redraw());
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, .scroll, .code")) return;
  const axis = page && page.axis;
  const keys = { d: turnTheme, h: () => { location.hash = "#home"; } };
  if (axis) Object.assign(keys, { "+": () => axis.scale(.5), "-": () => axis.scale(2), 0: () => axis.reset(), l: () => page.logarithm.click(), ArrowLeft: () => axis.shift(-.25), ArrowRight: () => axis.shift(.25) });
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
// The token of the first address is in a cookie by now, and need not stand in the bar.
if (location.search && source.live) history.replaceState(null, "", location.pathname + location.hash);
show();
