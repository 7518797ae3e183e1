// A failing step: the ops that made bad values, the rows of the batch that did it, and the modules in which it happened.

import { el, facts, figure } from "./dom.js";

export function failure(one) {
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
      el("td", {}, birth.rows && birth.phase !== "backward" ? `${birth.rows} row${birth.rows > 1 ? "s" : ""}: ${birth.first_rows.join(", ")}` : ""),
      el("td", { class: "num" }, birth.element ? `[${birth.element.join(", ")}]${(birth.from || []).some((value) => value !== null) ? ` from ${birth.from.map((value) => figure(value)).join(", ")}` : ""}` : "")));
    shown.push(el("h3", {}, "Where bad values were made, in the order of the step"), el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "births" },
      el("thead", {}, el("tr", {}, ["", "op", "module or phase", "line", "rows of the batch", "element"].map((name) => el("th", {}, name)))), el("tbody", {}, lines))));
    if (one.left_births) shown.push(el("p", { class: "soft" }, `and ${one.left_births} more`));
  }
  if (one.batch_rows.length) shown.push(...batch(one.batch_rows));
  if (one.tree.length) shown.push(...tree(one.tree, one.births));
  return shown;
}

function range(one) {
  if (!one) return "–";
  const lost = one.not_finite ? `${one.not_finite} not finite` : "";
  return [one.min === undefined ? "" : `${figure(one.min)} … ${figure(one.max)}`, lost].filter(Boolean).join(", ") || "–";
}

function table(id, titles, rows) {
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { id }, el("thead", {}, el("tr", {}, titles.map((name) => el("th", {}, name)))), el("tbody", {}, rows)));
}

function batch(inputs) {
  const rows = inputs.flatMap((input) => input.bad.map((bad, at) => el("tr", {},
    el("td", {}, at === 0 ? el("code", {}, input.name) : "", at === 0 ? ` ${input.dtype} [${input.shape.join(", ")}]` : ""),
    el("td", { class: "num" }, String(bad.row)),
    el("td", { class: "num" }, range(bad)), el("td", { class: "num" }, at === 0 ? range(input.others) : ""),
    el("td", { class: "mono" }, bad.values.map((value) => figure(value)).join(", "), input.shape.slice(1).reduce((product, size) => product * size, 1) > bad.values.length ? ", …" : ""))));
  return [el("h3", {}, "The rows of the batch, beside the others"), table("batch", ["input", "row", "range of the row", "range of the other rows", "its first values"], rows)];
}

function tree(modules, births) {
  const rows = modules.map((one) => {
    const first = one.births.includes(0);
    const name = el("span", {}, one.path ? one.name : "outside of modules");
    name.style.paddingLeft = `${one.path ? one.depth * 16 : 0}px`;
    const made = one.births.map((at) => el("span", { class: at === 0 ? "tag bad" : "tag open" }, `${at === 0 ? "first bad op" : `bad op ${at + 1}`}: ${births[at].op} → ${births[at].kind}`));
    const lost = one.bad_gradients ? `${one.bad_gradients} of ${one.parameters} gradients not finite` : "";
    const seen = one.output;
    const zeros = seen && seen.shape ? seen.shape.reduce((product, size) => product * size, 1) : 0;
    return el("tr", { class: first ? "first" : "" }, el("td", { class: "name", title: one.path }, name, one.left ? el("span", { class: "soft" }, ` and ${one.left} below`) : ""),
      el("td", {}, made.flatMap((tag) => [tag, " "]), lost),
      el("td", { class: "num" }, seen ? range({ ...seen, not_finite: (seen.nan || 0) + (seen.inf || 0) + (seen["-inf"] || 0) }) : ""),
      el("td", { class: "num" }, zeros ? `${Math.round(100 * (seen.zeros || 0) / zeros)} %` : ""),
      el("td", { class: "num" }, seen && seen.shape ? seen.shape.join(" × ") : ""));
  });
  return [el("h3", {}, "In the modules of the model"), table("modules", ["module", "bad values", "what it gave out", "zeros", "shape"], rows)];
}
