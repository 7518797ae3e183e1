// Gradient norms of a model's parts over steps: one row a part, colour by the logarithm of the norm.

import { FONT, drawPointer, drawSteps, listen, prepare } from "./axis.js";
import { el, figure, ink, tell } from "./dom.js";

// Cividis, from low to high: made to look alike with and without colour blindness.
const SCALE = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];

function shade(share) {
  const at = Math.max(0, Math.min(.9999, share)) * (SCALE.length - 1);
  const low = SCALE[Math.floor(at)], high = SCALE[Math.floor(at) + 1], part = at - Math.floor(at);
  return `rgb(${low.map((value, n) => Math.round(value + (high[n] - value) * part)).join(",")})`;
}

export class Heat {
  constructor(title, axis, heat) {
    this.axis = axis;
    this.title = title;
    this.row = null;
    this.now = el("span", { class: "now" });
    this.canvas = el("canvas", { role: "img" });
    this.legend = el("div", { class: "legend" });
    this.root = el("section", { class: "plot wide" }, el("h3", {}, title, this.now), this.canvas, this.legend);
    listen(this.canvas, axis);
    this.canvas.addEventListener("pointermove", (event) => {
      const box = this.canvas.getBoundingClientRect();
      this.row = Math.floor(((event.clientY - box.top - 8) / (box.height - 28)) * this.heat.rows.length);
    });
    axis.add(this);
    this.show(heat);
  }
  show(heat) {
    this.heat = heat;
    this.canvas.box = null;
    this.canvas.style.height = `${Math.max(90, Math.min(560, heat.rows.length * 18 + 28))}px`;
    const values = heat.rows.flatMap((row) => row.values.filter((value) => value > 0)).map(Math.log10);
    this.from = values.reduce((a, b) => Math.min(a, b), Infinity);
    this.to = values.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!values.length) { this.from = 0; this.to = 1; }
    this.painted = this.lettered = null;
    // Equal intervals are one picture to be stretched; where steps are missing, each interval is put in its place.
    const by = heat.steps[1] - heat.steps[0];
    this.even = heat.steps.every((step, at) => step === heat.steps[0] + at * by);
    const wrong = heat.rows.filter((row) => row.bad.length);
    const scale = el("span", {}, `dark ${figure(10 ** this.from)} to bright ${figure(10 ** this.to)}, by logarithm`);
    const bad = wrong.length ? el("span", { class: "bad" }, `■ not finite: ${wrong.length} of ${heat.rows.length} rows`) : null;
    this.legend.replaceChildren(...[scale, bad].filter(Boolean));
    this.canvas.setAttribute("aria-label", `${this.title}: ${heat.rows.length} rows over ${heat.steps.length} intervals of steps; `
      + `not finite in ${wrong.map((row) => row.name).slice(0, 8).join(", ") || "none"}`);
  }
  // Over the cells: names are longer than the margin that all plots share, and outlined they stay readable on any colour.
  // Drawn once for each size, as letters are what takes longest.
  names({ left, right, top, bottom, wide, high }) {
    const ratio = window.devicePixelRatio || 1, key = [ink("ink"), wide, high, ratio].join();
    if (this.lettered === key) return this.letters;
    this.lettered = key;
    this.letters = el("canvas", { width: Math.round(wide * ratio), height: Math.round(high * ratio) });
    const pen = this.letters.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = FONT;
    const { rows } = this.heat, tall = (bottom - top) / rows.length;
    const most = Math.floor((right - left) / 18);
    const every = Math.max(1, Math.ceil(12 / tall));
    pen.fillStyle = ink("back");
    if (tall > 4) for (let number = 1; number < rows.length; number += 1) pen.fillRect(left, Math.round(top + number * tall) - .5, right - left, 1);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    rows.forEach((row, number) => {
      if (number % every) return;
      const short = row.name.length > most ? `…${row.name.slice(1 - most)}` : row.name;
      const y = top + (number + .5) * tall;
      pen.strokeStyle = ink("back");
      pen.strokeText(short, left + 6, y);
      pen.fillStyle = ink("ink");
      pen.fillText(short, left + 6, y);
    });
    return this.letters;
  }
  // A pixel a cell, painted once: thousands of rectangles a frame would be too slow to zoom by.
  cells() {
    const red = ink("red");
    if (this.painted === red) return this.image;
    this.painted = red;
    this.image = el("canvas", { width: Math.max(1, this.heat.steps.length), height: this.heat.rows.length });
    const pen = this.image.getContext("2d");
    this.heat.rows.forEach((row, y) => {
      const bad = new Set(row.bad);
      row.values.forEach((value, x) => {
        pen.fillStyle = bad.has(x) ? red : value > 0 ? shade((Math.log10(value) - this.from) / (this.to - this.from || 1)) : ink("raised");
        pen.fillRect(x, y, 1, 1);
      });
    });
    return this.image;
  }
  draw() {
    const area = prepare(this.canvas);
    if (!area) return;
    const { pen, left, right, top, bottom } = area;
    const { steps, rows } = this.heat;
    const [first, last] = this.axis.range;
    const x = (step) => left + ((step - first) / (last - first)) * (right - left);
    const width = steps.length > 1 ? steps[1] - steps[0] : 1;
    drawSteps(area, this.axis);
    pen.save();
    pen.beginPath(); pen.rect(left, top, right - left, bottom - top); pen.clip();
    const image = this.cells();
    pen.imageSmoothingEnabled = false;
    if (this.even) {
      const begin = x(steps[0]);
      pen.drawImage(image, 0, 0, steps.length, rows.length, begin, top, x(steps[0] + steps.length * width) - begin, bottom - top);
    } else {
      for (let at = 0; at < steps.length; at += 1) {
        if (steps[at] > last || steps[at] + width < first) continue;
        // Whole pixels: between parts of pixels the background would shine through.
        const from = Math.floor(x(steps[at]));
        pen.drawImage(image, at, 0, 1, rows.length, from, top, Math.max(1, Math.ceil(x(steps[at] + width)) - from), bottom - top);
      }
    }
    pen.restore();
    pen.drawImage(this.names(area), 0, 0, area.wide, area.high);
    drawPointer(area, this.axis);
    const row = rows[this.row];
    let at = steps.length - 1;
    while (at > 0 && steps[at] > this.axis.at) at -= 1;
    tell(this.now, row && this.axis.at !== null
      ? `${row.name}: ${row.bad.includes(at) ? "not finite" : figure(row.values[at])} at step ${steps[at]}${width > 1 ? ` to ${steps[at] + width - 1}` : ""}` : "");
  }
}
