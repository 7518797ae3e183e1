// Lines over steps on a canvas. All plots of a run share one axis: a zoom or a hover in one is one in all.

import { el, figure, ink } from "./dom.js";

export const COLORS = ["blue", "orange", "green", "purple", "red", "yellow"];
const LEFT = 58, RIGHT = 8, TOP = 8, BOTTOM = 20;

export class Axis {
  constructor(first, last) {
    this.whole = [first, Math.max(last, first + 1)];
    this.range = [...this.whole];
    this.at = null;
    this.plots = [];
    this.told = () => {};
    this.unit = "step";
    this.due = false;
  }
  add(plot) { this.plots.push(plot); }
  extend(first, last) {
    const followed = this.range[1] >= this.whole[1] && this.range[0] <= this.whole[0];
    this.whole = [first, Math.max(last, first + 1)];
    if (followed) this.range = [...this.whole];
    this.redraw();
  }
  zoom(first, last) {
    const least = Math.min(2, this.whole[1] - this.whole[0]);
    if (last - first < least) { const middle = (first + last) / 2; first = middle - least / 2; last = middle + least / 2; }
    this.range = [Math.max(this.whole[0], first), Math.min(this.whole[1], last)];
    this.redraw();
    this.told(this.range);
  }
  scale(factor, around = (this.range[0] + this.range[1]) / 2) {
    this.zoom(around + (this.range[0] - around) * factor, around + (this.range[1] - around) * factor);
  }
  shift(share) {
    const wide = this.range[1] - this.range[0];
    const by = Math.max(this.whole[0] - this.range[0], Math.min(this.whole[1] - this.range[1], share * wide));
    this.zoom(this.range[0] + by, this.range[1] + by);
  }
  reset() { this.zoom(...this.whole); }
  point(step) { this.at = step; this.redraw(); }
  redraw() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => { this.due = false; for (const plot of this.plots) plot.draw(); });
  }
}

export function listen(canvas, axis) {
  let from = null;
  const step = (event) => {
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    return axis.range[0] + Math.max(0, Math.min(1, share)) * (axis.range[1] - axis.range[0]);
  };
  canvas.addEventListener("pointerdown", (event) => { from = step(event); canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => axis.point(step(event)));
  canvas.addEventListener("pointerleave", () => axis.point(null));
  canvas.addEventListener("pointerup", (event) => {
    const to = step(event);
    const moved = from !== null && Math.abs(to - from) > (axis.range[1] - axis.range[0]) / 60;
    if (moved) axis.zoom(Math.min(from, to), Math.max(from, to));
    from = null;
  });
  canvas.addEventListener("dblclick", () => axis.reset());
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    axis.scale(event.deltaY > 0 || event.deltaX > 0 ? 1.25 : 0.8, step(event));
  }, { passive: false });
}

export function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const wide = canvas.clientWidth, high = canvas.clientHeight;
  if (!wide) return null;
  if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  pen.font = "11px ui-monospace, Menlo, Consolas, monospace";
  return { pen, wide, high, left: LEFT, right: wide - RIGHT, top: TOP, bottom: high - BOTTOM };
}

export function drawSteps(area, axis) {
  const { pen, left, right, bottom, high } = area;
  pen.fillStyle = ink("soft");
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.fillText(String(Math.round(axis.range[0])), left, high - 5);
  pen.textAlign = "right";
  pen.fillText(`${axis.unit} ${Math.round(axis.range[1])}`, right, high - 5);
  pen.strokeStyle = ink("line");
  pen.strokeRect(left + .5, area.top + .5, right - left - 1, bottom - area.top - 1);
}

export function drawPointer(area, axis) {
  if (axis.at === null) return;
  const x = area.left + ((axis.at - axis.range[0]) / (axis.range[1] - axis.range[0])) * (area.right - area.left);
  area.pen.strokeStyle = ink("soft");
  area.pen.beginPath();
  area.pen.moveTo(x, area.top);
  area.pen.lineTo(x, area.bottom);
  area.pen.stroke();
}

function lower(steps, value) {
  let low = 0, high = steps.length;
  while (low < high) { const middle = (low + high) >> 1; if (steps[middle] < value) low = middle + 1; else high = middle; }
  return low;
}

// One line from lowest to highest for each column of pixels, whatever number of values lies in it.
function trace(pen, line, begin, end, x, y, log) {
  let down = false, column = null, low = 0, high = 0;
  const put = () => {
    if (column === null) return;
    if (down) pen.lineTo(column, y(low)); else pen.moveTo(column, y(low));
    if (high !== low) pen.lineTo(column, y(high));
    down = true;
    column = null;
  };
  const dense = end - begin > 1 && x(line.steps[end - 1]) - x(line.steps[begin]) < end - begin;
  for (let at = begin; at < end; at += 1) {
    const a = line.low[at], b = line.high ? line.high[at] : a;
    if (a === null || (log && a <= 0)) { put(); down = false; continue; }
    const across = dense ? Math.round(x(line.steps[at])) : x(line.steps[at]);
    if (across === column) { low = Math.min(low, a); high = Math.max(high, b); continue; }
    put();
    column = across; low = a; high = b;
  }
  put();
}

export class Plot {
  // lines: [{ label, steps, low, high, bad, dash }]; format: how a value is written.
  constructor(title, axis, lines, { wide = false, log = false, format = figure, marks = () => [] } = {}) {
    Object.assign(this, { title, axis, lines, log, format, marks });
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
    this.canvas.setAttribute("aria-label", `${this.title} by step. ${said.join("; ")}`);
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
      pen.strokeStyle = color;
      pen.lineWidth = 1.5;
      pen.beginPath();
      trace(pen, line, begin, end, x, y, log);
      pen.stroke();
      if (end - begin < 3 || line.steps.length === 1) {
        pen.fillStyle = color;
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
    pen.restore();
    pen.lineWidth = 1;
    drawPointer(area, this.axis);
    this.now.textContent = said.slice(0, 3).join(" · ");
  }
}
