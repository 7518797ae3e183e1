// A run: what it was, its figures over one axis of steps, its failing steps.

import { bytes, duration, el, ended, facts, figure, typed } from "./dom.js";
import { Heat } from "./heat.js";
import { Axis, Plot } from "./plot.js";

const NAMES = { loss: "Loss", grad_norm: "Gradient norm", lr: "Learning rate", seconds: "Seconds a step" };
const ORDER = ["loss", "grad_norm", "lr", "seconds"];
const HEATS = 4;

export function runPage(root, data, source) {
  const head = el("div", { id: "head" }), failures = el("div", { id: "failures" }), rest = el("div", { id: "rest" });
  const grid = el("div", { class: "plots" });
  const zoomed = el("span", { class: "soft", id: "zoom" });
  const axis = new Axis(0, last(data));
  const plots = new Map();
  let shown = data, detail = null, timer = null;
  const marks = () => [
    ...shown.failures.filter((one) => Number.isInteger(one.step)).map((one) => ({ step: one.step, color: "red" })),
    ...shown.events.filter((one) => one.step !== null).map((one) => ({ step: one.step, color: "orange" })),
  ];
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

  function lines(tracks, name) {
    return tracks.filter((track) => track.series[name]).map((track) => ({ label: track.label, steps: track.steps, ...track.series[name] }));
  }
  function put(key, make) {
    if (!plots.has(key)) { const made = make(); plots.set(key, made); grid.append(made.root); }
    return plots.get(key);
  }
  function draw(data) {
    shown = data;
    head.replaceChildren(...summary(data));
    const known = new Set(data.tracks.flatMap((track) => Object.keys(track.series)));
    const names = [...ORDER.filter((name) => known.has(name)), ...[...known].filter((name) => !ORDER.includes(name))];
    const tracks = detail || data.tracks;
    for (const name of names) {
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
    failures.replaceChildren(...data.failures.flatMap(failure));
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
  root.replaceChildren(head, failures, ...(data.tracks.length ? [el("h2", {}, "Over the steps"), tools, grid] : [nothing(data)]), rest);
  draw(data);
  return { title: data.id, axis, logarithm, update: draw };
}

function last(data) {
  return data.tracks.reduce((most, track) => Math.max(most, track.last_step), 1);
}

function stepTime(value) {
  if (value === null) return "–";
  return value < 1 ? `${figure(value * 1000)} ms` : `${figure(value)} s`;
}

function nothing(data) {
  return el("p", { class: "soft" }, data.observed ? "No step of an optimizer was recorded." : "The program was not observed: it made no step that firstcause saw.");
}

function summary(data) {
  const failed = data.symptoms.length > 0;
  const state = data.live ? ["going", "being recorded"] : failed ? ["bad", "failed"] : ["good", "no symptom"];
  const steps = data.tracks.reduce((most, track) => Math.max(most, track.rows), 0);
  const versions = Object.entries(data.versions).map(([name, version]) => `${name} ${version}`).join(", ");
  return [
    el("h1", { class: "mono", title: data.command.join(" ") }, typed(data.command)),
    el("p", {}, el("span", { class: `tag ${state[0]}` }, state[1]), ` ${[ended(data), duration(data.seconds), `${steps} steps`].filter(Boolean).join(" · ")}`),
    ...data.symptoms.map((one) => el("div", { class: "box bad symptom" }, el("strong", {}, `${one.kind}: `), one.text)),
    ...data.cases.map((name) => el("p", {}, "Case ", el("a", { href: `#case/${encodeURIComponent(name)}` }, name))),
    facts([["started", data.started.replace("T", " ")], ["folder", el("code", {}, data.folder)], ["python", `${data.python} on ${data.platform}${versions ? `; ${versions}` : ""}`], ["git", data.git]]),
  ];
}

function failure(one) {
  const bad = one.bad_gradients;
  const shown = [el("h2", {}, `Failing step ${one.step ?? ""}`), ...(one.message ? [el("p", {}, one.message)] : [])];
  const rows = [["not finite", bad.length ? `${bad.length} of ${one.gradients} gradients: ${bad.slice(0, 6).join(", ")}${bad.length > 6 ? " …" : ""}` : ""],
    ["weights not finite", one.bad_parameters.slice(0, 6).join(", ")],
    ["run again", one.unit ? el("code", {}, `${one.unit.file}:${one.unit.line} ${one.unit.function || ""}`) : ""],
    ["replay", [one.replay, one.ops ? `${one.ops} ops` : "", one.exact === true ? "equal to the recorded step, bit by bit" : ""].filter(Boolean).join(", ")]];
  shown.push(facts(rows));
  if (one.births.length) {
    const lines = one.births.map((birth, number) => el("tr", { class: number === 0 ? "first" : "" },
      el("td", {}, number === 0 ? el("strong", { class: "bad" }, "first") : String(number + 1)),
      el("td", { class: "num" }, `${birth.op} → ${birth.kind}`),
      el("td", {}, birth.module || birth.phase || ""),
      el("td", {}, birth.file ? el("code", {}, `${birth.file}:${birth.line}`) : "", " ", el("code", {}, birth.text)),
      el("td", {}, birth.rows ? `${birth.rows} row${birth.rows > 1 ? "s" : ""}: ${birth.first_rows.join(", ")}` : ""),
      el("td", { class: "num" }, birth.element ? `[${birth.element.join(", ")}]${birth.from ? ` from ${birth.from.map((value) => figure(value)).join(", ")}` : ""}` : "")));
    shown.push(el("h3", {}, "Where bad values were made, in the order of the step"), el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "births" },
      el("thead", {}, el("tr", {}, ["", "op", "module or phase", "line", "rows of the batch", "element"].map((name) => el("th", {}, name)))), el("tbody", {}, lines))));
    if (one.left_births) shown.push(el("p", { class: "soft" }, `and ${one.left_births} more`));
  }
  return shown;
}

function ranks(data) {
  if (new Set(data.tracks.map((track) => track.label)).size < 2) return [];
  const end = (track, name) => { const one = track.series[name]; return one ? figure((one.high || one.low).findLast((value) => value !== null) ?? null) : "–"; };
  const rows = data.tracks.map((track) => el("tr", {}, el("td", {}, track.label), el("td", { class: "num" }, String(track.rows)),
    el("td", { class: "num" }, String(track.last_step)), el("td", { class: "num" }, end(track, "loss")), el("td", { class: "num" }, end(track, "grad_norm"))));
  return [el("h2", {}, "Side by side"), el("div", { class: "scroll", tabindex: "0" }, el("table", { id: "ranks" }, el("thead", {}, el("tr", {},
    ["", "steps", "last step", "last loss", "last gradient norm"].map((name) => el("th", {}, name)))), el("tbody", {}, rows)))];
}

function events(data) {
  if (!data.events.length) return [];
  const rows = data.events.slice(0, 200).map((one) => el("tr", {}, el("td", { class: "num" }, one.step === null ? "" : `step ${one.step}`),
    el("td", {}, one.event), el("td", {}, one.text)));
  const left = Math.max(0, data.events.length - 200) + data.left_events;
  return [el("h2", {}, "Events"), el("div", { class: "scroll", tabindex: "0" }, el("table", { id: "events" }, el("tbody", {}, rows))),
    left ? el("p", { class: "soft" }, `and ${left} more`) : ""].filter(Boolean);
}

function notes(data) {
  return data.notes.length ? [el("h2", {}, "Notes of the record"), ...data.notes.map((note) => el("p", {}, note))] : [];
}
