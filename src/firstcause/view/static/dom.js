// Elements from text: nothing that a record says is ever read as markup.

export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

// An element's text is set only where it differs: to set it means to lay out the page again.
export function tell(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return el("dl", { class: "facts" }, shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function figure(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (value === 0) return "0";
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) { value /= 1024; at += 1; }
  return `${value >= 100 || at === 0 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

export function duration(value) {
  if (value === null || value === undefined) return "";
  if (value < 120) return `${value.toFixed(1)} s`;
  return value < 7200 ? `${(value / 60).toFixed(1)} min` : `${(value / 3600).toFixed(1)} h`;
}

// A command as one types it: the program by its name.
export function typed(command) {
  return command.map((word, at) => (at === 0 ? word.split("/").pop() : word)).join(" ");
}

export function ended(run) {
  if (run.live) return "being recorded";
  if (run.signal) return `ended by signal ${run.signal}`;
  return run.exit_code === null ? "end not recorded" : `exit code ${run.exit_code}`;
}

// Asked for many times a frame: the browser would work its styles out anew each time.
const inks = new Map();

export function ink(name) {
  if (!inks.has(name)) inks.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return inks.get(name);
}

export function themed() {
  inks.clear();
}
