// What stands beside a run's plots: ranks side by side, where time and memory go, events, notes.

import { Axis } from "./axis.js";
import { bytes, el, figure } from "./dom.js";
import { Plot } from "./plot.js";

export function ranks(data) {
  if (new Set(data.tracks.map((track) => track.label)).size < 2) return [];
  const end = (track, name) => { const one = track.series[name]; return one ? figure((one.high || one.low).findLast((value) => value !== null) ?? null) : "–"; };
  const rows = data.tracks.map((track) => el("tr", {}, el("td", {}, track.label), el("td", { class: "num" }, String(track.rows)),
    el("td", { class: "num" }, String(track.last_step)), el("td", { class: "num" }, end(track, "loss")), el("td", { class: "num" }, end(track, "grad_norm"))));
  return [el("h2", {}, "Side by side"), el("div", { class: "scroll", tabindex: "0" }, el("table", { id: "ranks" }, el("thead", {}, el("tr", {},
    ["", "steps", "last step", "last loss", "last gradient norm"].map((name) => el("th", {}, name)))), el("tbody", {}, rows)))];
}

export function events(data) {
  if (!data.events.length) return [];
  const rows = data.events.slice(0, 200).map((one) => el("tr", {}, el("td", { class: "num" }, one.step === null ? "" : `step ${one.step}`),
    el("td", {}, one.event), el("td", {}, one.text)));
  const left = Math.max(0, data.events.length - 200) + data.left_events;
  return [el("h2", {}, "Events"), el("div", { class: "scroll", tabindex: "0" }, el("table", { id: "events" }, el("tbody", {}, rows))),
    left ? el("p", { class: "soft" }, `and ${left} more`) : ""].filter(Boolean);
}

export function notes(data) {
  return data.notes.length ? [el("h2", {}, "Notes of the record"), ...data.notes.map((note) => el("p", {}, note))] : [];
}

export function split(profile) {
  if (!profile) return [];
  const bars = profile.parts.map(([name, share]) => {
    const bar = el("i");
    bar.style.width = `${Math.round(100 * (share || 0))}%`;
    return el("div", { class: "share" }, el("span", {}, name), el("span", { class: "bar" }, bar), el("span", { class: "num" }, `${Math.round(100 * (share || 0))} %`));
  });
  const lines = profile.lines.map(([text, share]) => el("tr", {}, el("td", { class: "num" }, `${Math.round(100 * (share || 0))} %`), el("td", {}, el("code", {}, text))));
  return [el("h2", {}, "Where a step's time goes"),
    el("p", {}, `${profile.steps} steps, ${figure(profile.step_ms)} ms of processor time each, measured again in a sealed copy${profile.kind ? `; ${profile.kind}` : ""}`),
    el("div", { id: "split" }, bars),
    lines.length ? el("div", { class: "scroll", tabindex: "0" }, el("table", {}, el("tbody", {}, lines))) : ""].filter(Boolean);
}

const KNOWN = new Map([[true, ["✓", "good"]], [false, ["✗", "soft"]], [null, ["?", "open"]]]);

// The numbers of the six at the steps that they were looked at, those of one step together: 1–4.
function numbered(steps) {
  const at = new Map();
  steps.forEach((one, number) => { if (one.at !== null) at.set(one.at, [...(at.get(one.at) || []), number + 1]); });
  return [...at].map(([step, [first, ...more]]) => ({ step, color: "orange", label: more.length ? `${first}–${more.at(-1)}` : `${first}` }));
}

export function memory(look) {
  if (!look) return [];
  const { samples, after } = look;
  const shown = [el("h2", {}, "Memory, in six steps")];
  if (samples.step.length > 1) {
    const axis = new Axis(samples.step[0], Math.max(...samples.step, ...after.step, look.released_at || 0));
    const line = (label, one, name) => ({ label, steps: one.step, low: one[name], high: null, bad: [] });
    const lines = [line("tensors", samples, "bytes"), line("the process", samples, "resident")];
    if (after.step.length) lines.push(line("tensors, let go of", after, "bytes"));
    const marks = () => numbered(look.steps);
    shown.push(new Plot("In the sealed copy", axis, lines, { wide: true, marks, format: (value) => (value === null ? "–" : bytes(value)) }).root);
    axis.redraw();
  }
  shown.push(el("ol", { id: "six" }, look.steps.map((one) => {
    const [glyph, kind] = KNOWN.get(one.known);
    return el("li", {}, el("span", { class: kind, "aria-hidden": "true" }, glyph), " ", el("strong", {}, one.title), " ", one.text, one.at === null ? "" : el("span", { class: "soft" }, ` (step ${one.at})`));
  })));
  return shown;
}
