// A run: what it was, its figures over one axis of steps, its failing steps.

import { Axis } from "./axis.js";
import { events, memory, notes, ranks, split } from "./beside.js";
import { bytes, duration, el, ended, facts, figure, typed } from "./dom.js";
import { failure } from "./failure.js";
import { Heat } from "./heat.js";
import { Lane } from "./lane.js";
import { Plot } from "./plot.js";

const NAMES = { loss: "Loss", grad_norm: "Gradient norm", lr: "Learning rate", seconds: "Seconds a step" };
const ORDER = ["loss", "grad_norm", "lr", "seconds"];
const HEATS = 4;
// More lines would hide what they mark; the lane of events shows all.
const MARKS = 40;
// An imported history may have hundreds of series.
const MOST = 24;

export function runPage(root, data, source) {
  const head = el("div", { id: "head" }), failures = el("div", { id: "failures" }), measured = el("div"), rest = el("div", { id: "rest" });
  const grid = el("div", { class: "plots" });
  const zoomed = el("span", { class: "soft", id: "zoom" });
  const axis = new Axis(0, last(data));
  const plots = new Map();
  let shown = data, detail = null, timer = null, looks = null, every = false;
  let marked = [];
  const marks = () => marked;
  const button = (label, title, act) => el("button", { type: "button", title, onclick: act }, label);
  const logarithm = el("button", { type: "button", title: "l", "aria-pressed": "false", onclick: () => {
    const on = logarithm.getAttribute("aria-pressed") !== "true";
    logarithm.setAttribute("aria-pressed", String(on));
    plots.get("loss")?.scaled(on);
  } }, "Loss by logarithm");
  const tools = el("div", { class: "tools" },
    button("Zoom in", "+", () => axis.scale(.5)), button("Zoom out", "-", () => axis.scale(2)),
    button("Earlier", "←", () => axis.shift(-.25)), button("Later", "→", () => axis.shift(.25)),
    button("All steps", "0", () => axis.reset()), logarithm, zoomed);

  const more = button("", "", () => { every = true; draw(shown); });

  function lines(tracks, name) {
    return tracks.filter((track) => track.series[name]).map((track) => ({ label: track.label, steps: track.steps, ...track.series[name] }));
  }
  function put(key, make) {
    if (!plots.has(key)) { const made = make(); plots.set(key, made); grid.append(made.root); }
    return plots.get(key);
  }
  function draw(data) {
    shown = data;
    const at = (ones, color) => ones.filter((one) => Number.isInteger(one.step)).slice(0, MARKS).map(({ step }) => ({ step, color }));
    marked = [...at(data.failures, "red"), ...at(data.events, "orange")];
    head.replaceChildren(...summary(data));
    const known = new Set(data.tracks.flatMap((track) => Object.keys(track.series)));
    const names = [...ORDER.filter((name) => known.has(name)), ...[...known].filter((name) => !ORDER.includes(name))];
    const tracks = detail || data.tracks;
    more.hidden = names.length <= MOST || every;
    more.textContent = `Show ${names.length - MOST} more figures`;
    for (const name of every ? names : names.slice(0, MOST)) {
      const options = { wide: name === "loss", log: name === "grad_norm", marks, format: name === "seconds" ? stepTime : figure };
      put(name, () => new Plot(NAMES[name] || name, axis, lines(tracks, name), options)).show(lines(tracks, name));
    }
    const held = data.memory.flatMap((one) => Object.entries(one.series).map(([name, values]) => ({
      label: data.memory.length > 1 ? `${one.label}, ${name}` : name, steps: one.step, low: values, high: null, bad: [],
    })));
    if (held.length) put("memory", () => new Plot("Memory held", axis, held, { format: (value) => (value === null ? "–" : bytes(value)), marks })).show(held);
    data.tracks.filter((track) => track.heat).slice(0, HEATS).forEach((track) => {
      const title = `Gradient norms by module${data.tracks.length > 1 ? `, ${track.label}` : ""}`;
      put(`heat ${track.label} ${track.process}`, () => new Heat(title, axis, track.heat)).show(track.heat);
    });
    const looked = (what, title, options) => {
      const found = data.looks.filter((one) => one.what === what);
      const drawn = found.flatMap((one) => Object.entries(one.series).map(([name, values]) => ({
        label: found.length > 1 ? `${one.label}, ${name}` : name, steps: one.step, low: values, high: null, bad: [],
      })));
      if (drawn.length) put(what, () => new Plot(title, axis, drawn, { marks, ...options })).show(drawn);
    };
    looked("terms", "Terms of the loss, at some steps", {});
    looked("updates", "Update over weight, at some steps", { log: true });
    failures.replaceChildren(...data.failures.flatMap(failure));
    const dated = data.events.filter((one) => one.step !== null);
    if (dated.length) put("events", () => new Lane("Events", axis, dated)).show(dated);
    const key = JSON.stringify([data.memory_look, data.profile]);
    if (key !== looks) { looks = key; measured.replaceChildren(...split(data.profile), ...memory(data.memory_look)); }
    rest.replaceChildren(...ranks(data), ...events(data), ...notes(data));
    axis.extend(0, last(data));
  }
  axis.told = ([from, to]) => {
    const all = from <= axis.whole[0] && to >= axis.whole[1];
    zoomed.textContent = all ? "" : `steps ${Math.round(from)} to ${Math.round(to)} of ${axis.whole[1]}`;
    clearTimeout(timer);
    if (all && detail) { detail = null; draw(shown); }
    if (all || !source.live || shown.tracks.every((track) => track.width === 1)) return;
    timer = setTimeout(async () => {
      const found = await source.window(shown.id, from, to);
      if (axis.range[0] === from && axis.range[1] === to) { detail = found.tracks; draw(shown); }
    }, 250);
  };
  root.replaceChildren(head, failures, ...(data.tracks.length ? [el("h2", {}, "Over the steps"), tools, grid, el("div", { class: "tools" }, more)] : [nothing(data)]), measured, rest);
  draw(data);
  return { title: data.id, axis, logarithm, update: draw };
}

function last(data) {
  return data.tracks.reduce((most, track) => Math.max(most, track.last_step), 1);
}

function stepTime(value) {
  if (value === null) return "–";
  return value < 1 ? `${Number((value * 1000).toPrecision(3))} ms` : `${figure(value)} s`;
}

function nothing(data) {
  return el("p", { class: "soft" }, data.observed ? "No step of an optimizer was recorded." : "The program was not observed: it made no step that firstcause saw.");
}

function summary(data) {
  const failed = data.symptoms.length > 0;
  const end = data.imported ? "imported" : ended(data);
  const state = data.live ? ["going", "being recorded"] : failed ? ["bad", "failed"] : ["good", "no symptom"];
  const steps = data.tracks.reduce((most, track) => Math.max(most, track.rows), 0);
  const versions = Object.entries(data.versions).map(([name, version]) => `${name} ${version}`).join(", ");
  return [
    el("h1", { class: "mono", title: data.command.join(" ") }, typed(data.command) || data.id),
    el("p", {}, el("span", { class: `tag ${state[0]}` }, state[1]), ` ${[end, data.imported && !data.seconds ? "" : duration(data.seconds), `${steps} steps`].filter(Boolean).join(" · ")}`),
    ...data.symptoms.map((one) => el("div", { class: "box bad symptom" }, el("strong", {}, `${one.kind}: `), one.text)),
    ...data.cases.map((name) => el("p", {}, "Case ", el("a", { href: `#case/${encodeURIComponent(name)}` }, name))),
    facts([["started", data.started.replace("T", " ")], ["folder", el("code", {}, data.folder)], ["python", data.python && `${data.python} on ${data.platform}${versions ? `; ${versions}` : ""}`], ["git", data.git]]),
  ];
}
