// The axis of steps that all plots of a run share: a zoom or a hover in one is one in all.

import { ink } from "./dom.js";

export const FONT = "11px ui-monospace, Menlo, Consolas, monospace";
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
    this.later = 0;
  }
  add(plot) { this.plots.push(plot); watch(plot, this); }
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
    for (const plot of this.plots) plot.stale = true;
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => { this.due = false; this.paint(); });
  }
  // What is out of sight waits until nothing moves, one plot a frame: a zoom costs what is seen of it.
  paint() {
    clearTimeout(this.later);
    for (const plot of this.plots) if (plot.stale && plot.canvas.inSight !== false) renew(plot);
    const next = () => {
      const plot = this.plots.find((one) => one.stale);
      if (plot) { renew(plot); this.later = setTimeout(() => requestAnimationFrame(next)); }
    };
    this.later = setTimeout(next, 150);
  }
}

function renew(plot) {
  plot.stale = false;
  plot.draw();
}

const sizes = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    if (target.box && target.box[0] === contentRect.width && target.box[1] === contentRect.height) continue;
    target.box = [contentRect.width, contentRect.height];
    target.axis.redraw();
  }
});
const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    target.inSight = isIntersecting;
    if (isIntersecting) target.axis.paint();
  }
}, { rootMargin: "50px" });

function watch({ canvas }, axis) {
  canvas.axis = axis;
  sizes.observe(canvas);
  sight.observe(canvas);
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
  // Asked of the page, a size would have it laid out once for each plot of a frame.
  const [wide, high] = canvas.box || [canvas.clientWidth, canvas.clientHeight];
  if (!wide) return null;
  if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  pen.font = FONT;
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
