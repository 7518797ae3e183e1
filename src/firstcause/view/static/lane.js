// Events over the steps: a row a kind, a mark each; what one says is told where the pointer is near.

import { drawPointer, drawSteps, listen, prepare } from "./axis.js";
import { el, ink, tell } from "./dom.js";

const ROWS = 6;

export class Lane {
  constructor(title, axis, events) {
    this.axis = axis;
    this.now = el("span", { class: "now" });
    this.canvas = el("canvas", { role: "img" });
    this.title = title;
    this.root = el("section", { class: "plot wide lane" }, el("h3", {}, title, this.now), this.canvas);
    listen(this.canvas, axis);
    axis.add(this);
    this.show(events);
  }
  show(events) {
    this.events = events;
    // The kinds that come least often say most.
    const counts = new Map();
    for (const one of events) counts.set(one.event, (counts.get(one.event) || 0) + 1);
    this.kinds = [...counts.keys()].sort((a, b) => counts.get(a) - counts.get(b)).slice(0, ROWS);
    const high = `${this.kinds.length * 20 + 28}px`;
    if (this.canvas.style.height !== high) { this.canvas.style.height = high; this.canvas.box = null; }
    this.canvas.setAttribute("aria-label", `${this.title} by step: ${this.kinds.map((kind) => `${kind}, ${counts.get(kind)} times`).join("; ")}`);
  }
  draw() {
    const area = prepare(this.canvas);
    if (!area) return;
    const { pen, left, right, top } = area;
    const [first, last] = this.axis.range;
    const x = (step) => left + ((step - first) / (last - first)) * (right - left);
    drawSteps(area, this.axis);
    let near = null, least = 12;
    for (const one of this.events) {
      const row = this.kinds.indexOf(one.event);
      if (row < 0 || one.step < first || one.step > last) continue;
      const across = x(one.step), y = top + row * 20 + 10;
      pen.fillStyle = ink("orange");
      pen.beginPath(); pen.moveTo(across, y - 5); pen.lineTo(across + 5, y); pen.lineTo(across, y + 5); pen.lineTo(across - 5, y); pen.fill();
      const far = this.axis.at === null ? Infinity : Math.abs(across - x(this.axis.at));
      if (far < least) { least = far; near = one; }
    }
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.lineWidth = 4;
    this.kinds.forEach((kind, row) => {
      pen.strokeStyle = ink("back");
      pen.strokeText(kind.slice(0, 40), left + 6, top + row * 20 + 10);
      pen.fillStyle = ink("ink");
      pen.fillText(kind.slice(0, 40), left + 6, top + row * 20 + 10);
    });
    pen.lineWidth = 1;
    drawPointer(area, this.axis);
    tell(this.now, near ? `step ${near.step}: ${near.event} ${near.text}`.slice(0, 120) : "");
  }
}
