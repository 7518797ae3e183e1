// Lines over steps on a canvas.

import { drawPointer, drawSteps, listen, prepare } from "./axis.js";
import { el, figure, ink, tell } from "./dom.js";

export const COLORS = ["blue", "orange", "green", "purple", "red", "yellow"];

function lower(steps, value) {
  let low = 0, high = steps.length;
  while (low < high) { const middle = (low + high) >> 1; if (steps[middle] < value) low = middle + 1; else high = middle; }
  return low;
}

// Where values are denser than pixels, one bar a column from lowest to highest, which meets the bar before; else a line.
function trace(pen, line, begin, end, x, y, log) {
  const dense = end - begin > 1 && x(line.steps[end - 1]) - x(line.steps[begin]) < end - begin;
  (dense ? bars : joined)(pen, line, begin, end, x, y, log);
}

function joined(pen, line, begin, end, x, y, log) {
  let down = false;
  pen.beginPath();
  for (let at = begin; at < end; at += 1) {
    const a = line.low[at], b = line.high ? line.high[at] : a;
    if (a === null || (log && a <= 0)) { down = false; continue; }
    const across = x(line.steps[at]);
    if (down) pen.lineTo(across, y(a)); else pen.moveTo(across, y(a));
    if (b !== a) pen.lineTo(across, y(b));
    down = true;
  }
  pen.stroke();
}

function bars(pen, line, begin, end, x, y, log) {
  let column = null, top = 0, bottom = 0, before = null;
  const put = () => {
    if (column === null) return;
    let from = top, to = bottom;
    if (before && before.to < from) from = before.to;
    if (before && before.from > to) to = before.from;
    // On whole pixels, which are filled several times as fast.
    const high = Math.round(from) - 1;
    pen.fillRect(column, high, 2, Math.round(to) + 1 - high);
    // A column without a step of its own lies between them.
    if (before && column - before.column > 2) pen.fillRect(before.column, Math.round(to) - 1, column - before.column, 2);
    before = { column, from: top, to: bottom };
    column = null;
  };
  for (let at = begin; at < end; at += 1) {
    const a = line.low[at], b = line.high ? line.high[at] : a;
    if (a === null || (log && a <= 0)) { put(); before = null; continue; }
    const across = Math.round(x(line.steps[at])), low = y(a), high = y(b);
    if (across === column) { top = Math.min(top, high); bottom = Math.max(bottom, low); continue; }
    put();
    column = across; top = high; bottom = low;
  }
  put();
}

// A bar a value from zero, as a histogram has them; those behind shine through.
function columns(pen, line, begin, end, x, y) {
  const half = Math.max(.5, (x(1) - x(0)) * .42);
  pen.globalAlpha = .6;
  for (let at = begin; at < end; at += 1) if (line.low[at] !== null) pen.fillRect(x(line.steps[at]) - half, y(line.low[at]), 2 * half, y(0) - y(line.low[at]));
  pen.globalAlpha = 1;
}

export class Plot {
  // lines: [{ label, steps, low, high, bad, dash }]; format: how a value is written.
  constructor(title, axis, lines, { wide = false, log = false, filled = false, format = figure, marks = () => [] } = {}) {
    Object.assign(this, { title, axis, lines, log, filled, format, marks });
    this.now = el("span", { class: "now" });
    this.canvas = el("canvas", { role: "img" });
    this.legend = el("div", { class: "legend" });
    this.root = el("section", { class: wide ? "plot wide" : "plot" }, el("h3", {}, title, this.now), this.canvas, this.legend);
    listen(this.canvas, axis);
    axis.add(this);
    this.show(lines);
  }
  scaled(log) {
    this.log = log;
    this.axis.redraw();
  }
  show(lines) {
    this.lines = lines;
    const chips = lines.slice(0, 8).map((line, at) => {
      const chip = el("i");
      chip.style.background = `var(--${COLORS[at % COLORS.length]})`;
      return el("span", {}, chip, line.label);
    });
    const wrong = lines.reduce((sum, line) => sum + line.bad.length, 0);
    const notes = lines.length > 8 ? [el("span", {}, `and ${lines.length - 8} more`)] : [];
    if (wrong) notes.push(el("span", { class: "bad" }, `▲ not finite in ${wrong} place${wrong > 1 ? "s" : ""}`));
    this.legend.replaceChildren(...(lines.length > 1 ? chips : []), ...notes);
    const said = lines.map((line) => {
      const last = (line.high || line.low).findLast((value) => value !== null);
      return `${line.label}: last ${this.format(last ?? null)}${line.bad.length ? `, not finite in ${line.bad.length} places` : ""}`;
    });
    this.canvas.setAttribute("aria-label", `${this.title} by ${this.axis.unit}. ${said.join("; ")}`);
  }
  bounds() {
    let low = Infinity, high = -Infinity;
    const [first, last] = this.axis.range;
    for (const line of this.lines) {
      const to = Math.min(line.steps.length, lower(line.steps, last) + 1);
      for (let at = Math.max(0, lower(line.steps, first) - 1); at < to; at += 1) {
        const a = line.low[at], b = line.high ? line.high[at] : a;
        if (a !== null && (!this.log || a > 0) && a < low) low = a;
        if (b !== null && b > high) high = b;
      }
    }
    if (low > high) return [0, 1];
    if (this.filled) return [0, high || 1];
    if (low === high) { const by = Math.abs(low) * .1 || 1; return this.log && low > 0 ? [low / 2, high * 2] : [low - by, high + by]; }
    return [low, high];
  }
  draw() {
    const area = prepare(this.canvas);
    if (!area) return;
    const { pen, left, right, top, bottom } = area;
    const [first, last] = this.axis.range;
    let [low, high] = this.bounds();
    const log = this.log && low > 0;
    const raise = log ? Math.log10 : (value) => value;
    const x = (step) => left + ((step - first) / (last - first)) * (right - left);
    const from = raise(low), wide = raise(high) - from || 1;
    const y = (value) => bottom - 6 - ((raise(value) - from) / wide) * (bottom - top - 12);
    drawSteps(area, this.axis);
    pen.fillStyle = ink("soft");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const value of [low, log ? 10 ** (from + wide / 2) : (low + high) / 2, high]) {
      pen.fillText(this.format(value), left - 6, y(value));
      pen.strokeStyle = ink("line");
      pen.beginPath(); pen.moveTo(left, y(value)); pen.lineTo(right, y(value)); pen.stroke();
    }
    pen.save();
    pen.beginPath(); pen.rect(left, top, right - left, bottom - top); pen.clip();
    for (const mark of this.marks()) {
      pen.strokeStyle = ink(mark.color);
      pen.setLineDash([3, 3]);
      pen.beginPath(); pen.moveTo(x(mark.step), top); pen.lineTo(x(mark.step), bottom); pen.stroke();
      pen.setLineDash([]);
    }
    const said = [];
    this.lines.forEach((line, number) => {
      const color = ink(COLORS[number % COLORS.length]);
      const begin = Math.max(0, lower(line.steps, first) - 1), end = Math.min(line.steps.length, lower(line.steps, last) + 1);
      pen.strokeStyle = pen.fillStyle = color;
      pen.lineWidth = 1.5;
      if (this.filled) columns(pen, line, begin, end, x, y);
      else trace(pen, line, begin, end, x, y, log);
      if (end - begin < 3 || line.steps.length === 1) {
        for (let at = begin; at < end; at += 1) if (line.low[at] !== null) pen.fillRect(x(line.steps[at]) - 2, y(line.low[at]) - 2, 4, 4);
      }
      pen.fillStyle = ink("red");
      for (const at of line.bad) {
        const across = x(line.steps[at]);
        pen.beginPath(); pen.moveTo(across - 4, bottom); pen.lineTo(across + 4, bottom); pen.lineTo(across, bottom - 8); pen.fill();
      }
      if (this.axis.at !== null && line.steps.length) {
        let at = Math.min(line.steps.length - 1, lower(line.steps, this.axis.at));
        if (at > 0 && this.axis.at - line.steps[at - 1] < line.steps[at] - this.axis.at) at -= 1;
        const a = line.low[at], b = line.high ? line.high[at] : a;
        const text = line.bad.includes(at) && a === null ? "not finite" : a === b ? this.format(a) : `${this.format(a)} … ${this.format(b)}`;
        said.push(`${this.axis.unit} ${line.steps[at]}: ${text}`);
      }
    });
    for (const mark of this.marks().filter((one) => one.label)) {
      // Over the lines, on ground of its own.
      const wide = pen.measureText(mark.label).width + 8, from = x(mark.step) > right - wide - 4 ? x(mark.step) - wide - 3 : x(mark.step) + 3;
      pen.fillStyle = ink("raised");
      pen.fillRect(from, (top + bottom) / 2 - 20, wide, 16);
      pen.fillStyle = ink(mark.color);
      pen.textAlign = "left";
      pen.fillText(mark.label, from + 4, (top + bottom) / 2 - 12);
    }
    pen.restore();
    pen.lineWidth = 1;
    drawPointer(area, this.axis);
    tell(this.now, said.slice(0, 3).join(" · "));
  }
}
