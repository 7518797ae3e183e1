// A case: symptom, hypotheses with what speaks for and against each, source, patch, and the gate.

import { Axis } from "./axis.js";
import { el, facts } from "./dom.js";
import { Plot } from "./plot.js";

const STATUS = { confirmed: ["✓", "good"], refuted: ["✗", "soft"], inconclusive: ["?", "open"], open: ["·", "open"] };
const STATES = { verified: "good", closed: "good", stopped: "bad" };

export function casePage(root, data, source) {
  const parts = el("div"), gate = el("div", { id: "gate" }), after = el("div");
  let asked = null;
  const draw = (data) => {
    parts.replaceChildren(...before(data));
    after.replaceChildren(...behind(data));
    // What a person is typing stays, unless what it is about has changed.
    const key = JSON.stringify([data.state, data.diagnosis_hash, data.diff_hash, data.gate && data.gate.code]);
    if (key !== asked) { asked = key; gate.replaceChildren(...approval(data, source, draw)); }
  };
  root.replaceChildren(parts, gate, after);
  draw(data);
  return { title: data.id, update: draw };
}

function before(data) {
  const diagnosis = data.diagnosis;
  const cause = diagnosis && diagnosis.cause;
  const where = cause && diagnosis.site ? ` at ${diagnosis.site.file}:${diagnosis.site.line}` : "";
  return [
    el("h1", { id: "cause" }, cause ? `${cause}${where}` : "Cause not established"),
    el("p", {}, el("span", { class: `tag ${STATES[data.state] || "open"}`, id: "state" }, data.state), " ", data.meaning),
    ...data.symptoms.map((one) => el("div", { class: `box ${one.outcome === "gone" ? "good" : "bad"} symptom` }, one.text, " ", el("span", { class: "soft" }, one.outcome === "open" ? "" : one.outcome))),
    facts([["run", el("a", { href: `#run/${encodeURIComponent(data.run)}` }, data.run)], ["opened", data.opened], ["updated", data.updated],
      ["strikes", el("span", { id: "strikes" }, `${data.strikes} of ${data.limit}`)],
      ["approved", data.approval ? `by ${data.approval.by}, ${data.approval.time}` : ""],
      ["verified", data.verification], ["lesson", data.lesson], ["next", el("code", {}, data.next)]]),
    ...(diagnosis && diagnosis.missing ? [el("div", { class: "box open" }, el("strong", {}, "Not enough evidence: "), diagnosis.missing)] : []),
    ...(data.counsel.length ? [el("div", { class: "box open" }, data.counsel.map((line) => el("p", {}, line)))] : []),
    ...(data.source ? [el("h2", {}, "The line"), code(data.source)] : []),
    ...(data.ordered_sections.length ? [el("h2", {}, "Diagnosis"), ...data.ordered_sections.flatMap((one) => [el("h3", {}, one.title), el("p", {}, one.text)])] : []),
    ...(data.patch.length ? [el("h2", {}, "The change"), ...data.patch.map(patch)] : []),
    ...(data.by_hand ? [el("h2", {}, "The change, by hand"), el("p", {}, data.by_hand)] : []),
    ...(data.rows.length ? [el("h2", {}, `Hypotheses: ${data.rows.length}`), el("div", { id: "hypotheses" }, data.rows.map(hypothesis))] : []),
  ];
}

function code(source) {
  return el("div", { class: "code", id: "source", tabindex: "0" }, el("span", { class: "file" }, `${source.file}, ${source.when}`), source.lines.map((line, at) => {
    const number = source.first + at, here = number === source.line;
    return el("div", { class: here ? "here" : "" }, el("span", { class: "n" }, String(number)), el("span", { class: "t" }, here ? "▸" : " "), el("span", {}, line));
  }));
}

function patch(one) {
  const kinds = { "+": "add", "-": "del", " ": "" };
  return el("div", { class: "code diff", tabindex: "0" }, el("span", { class: "file" }, one.path), one.rows.map((row) =>
    el("div", { class: kinds[row.tag] }, el("span", { class: "n" }, String(row.number)), el("span", { class: "t" }, row.tag), el("span", {}, row.text))));
}

function hypothesis(one) {
  const [glyph, kind] = STATUS[one.status];
  const made = el("details", { open: one.status === "confirmed" }, el("summary", {},
    el("span", { class: kind, "aria-hidden": "true" }, glyph),
    el("span", { class: "name" }, one.cause, one.site ? ` at ${one.site}` : ""), el("span", { class: `tag ${kind}` }, one.status),
    el("span", { class: "more" }, one.decision)));
  const facts = one.evidence.map((fact) => {
    const box = el("div", { class: `evidence ${fact.supports ? "for" : "against"}` },
      el("p", {}, el("strong", {}, `${fact.kind}, ${fact.supports ? "for" : "against"}: `), fact.text, fact.site ? el("code", {}, ` ${fact.site}`) : ""));
    for (const group of grouped(fact.plots)) box.append(curves(group, made));
    return box;
  });
  made.append(...facts);
  if (one.missing) made.append(el("p", { class: "evidence" }, `missing: ${one.missing}`));
  return made;
}

// Lists of one length are one experiment's arms: they belong on one plot.
function grouped(plots) {
  const by = new Map();
  for (const plot of plots) by.set(plot.values.length, [...(by.get(plot.values.length) || []), plot]);
  return by.values();
}

function curves(group, details) {
  const steps = group[0].values.map((_, at) => at);
  const axis = new Axis(0, steps.length - 1);
  // What is counted differs from experiment to experiment: steps, epochs, elements.
  axis.unit = "number";
  const lines = group.map((plot) => ({ label: plot.name, steps, low: plot.values, high: null, bad: plot.values.flatMap((value, at) => (value === null ? [at] : [])) }));
  const filled = group.every((one) => one.name.startsWith("counts"));
  const plot = new Plot(filled ? "How often each was chosen, the most used first" : group.length > 1 ? "Side by side" : group[0].name, axis, lines, { filled });
  plot.root.classList.add("spark");
  details.addEventListener("toggle", () => axis.redraw());
  axis.redraw();
  return plot.root;
}

function approval(data, source, draw) {
  if (data.state !== "diagnosed" || !data.questions.length) return [];
  const title = el("h2", {}, "Approval");
  if (!data.gate) return [title, el("p", {}, "Approve at a terminal, in the project's folder: ", el("code", {}, `firstcause case approve ${data.id}`))];
  if (!data.gate.able) return [title, el("p", { id: "unable" }, data.gate.why)];
  const said = el("p", { role: "alert", id: "said" });
  const asked = data.questions.map((question, at) => el("fieldset", {}, el("legend", {}, `${at + 1} of ${data.questions.length}`), el("p", {}, question.text),
    choices(question).map(([value, text]) => el("label", {}, el("input", { type: "radio", name: question.key, value, required: true }), text))));
  const typed = el("input", { type: "text", name: "code", id: "code", autocomplete: "off", spellcheck: "false", size: 10, required: true, "aria-describedby": "bound" });
  const because = el("textarea", { name: "because", id: "because", rows: 2, required: true });
  const send = async (act, body, form) => {
    said.textContent = "";
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    try { draw(await source.send(data.id, act, body)); } catch (error) { said.textContent = error.message; }
    for (const button of form.querySelectorAll("button")) button.disabled = false;
  };
  const yes = el("form", { id: "approve", onsubmit: (event) => {
    event.preventDefault();
    const answers = Object.fromEntries(data.questions.map((question) => [question.key, new FormData(yes).get(question.key) || ""]));
    send("approve", { answers, code: typed.value, diagnosis_hash: data.diagnosis_hash, diff_hash: data.diff_hash }, yes);
  } }, asked, el("p", { id: "bound" }, "Type ", el("strong", { class: "mono", id: "shown" }, data.gate.code), data.patch.length ? " to approve this diff for these files, once." : " to approve this change, to be made by hand, once."),
  el("div", { class: "tools" }, el("label", { class: "hidden", for: "code" }, "The code"), typed, el("button", { class: "go", type: "submit" }, "Approve")));
  const no = el("form", { id: "reject", onsubmit: (event) => { event.preventDefault(); send("reject", { because: because.value }, no); } },
    el("label", { for: "because" }, "Or send it back, with the reason, which is kept as evidence:"), because, el("div", { class: "tools" }, el("button", { type: "submit" }, "Reject")));
  return [title, ...(data.gate.changed || []).map((line) => el("div", { class: "box bad" }, line)), yes, said, no];
}

function choices(question) {
  return question.accepts === "t" ? [["t", "Targeted, as shown"], ["b", "Broader"]] : [["y", "Yes"], ["n", "No"]];
}

function behind(data) {
  const attempts = [...data.inherited, ...data.attempts].map((one) => el("tr", {}, el("td", {}, one.time), el("td", {}, one.approach.cause), el("td", {}, one.summary),
    el("td", {}, one.passed === true ? "passed" : one.passed === false ? "did not pass" : "not verified"), el("td", {}, one.lesson)));
  const remarks = [...data.rejections, ...data.declined, ...data.tries].map((one) => el("tr", {}, el("td", {}, one.time), el("td", {}, one.by), el("td", {}, one.text)));
  const table = (id, rows) => el("div", { class: "scroll", tabindex: "0" }, el("table", { id }, el("tbody", {}, rows)));
  return [
    ...(attempts.length ? [el("h2", {}, "Attempts"), table("attempts", attempts)] : []),
    ...(remarks.length ? [el("h2", {}, "Rejected, kept back, tried"), table("remarks", remarks)] : []),
    el("h2", {}, "History"), table("history", data.history.map((one) => el("tr", {}, el("td", { class: "num" }, one.time), el("td", {}, one.event), el("td", {}, one.text)))),
    ...(data.retrospective ? [el("h2", {}, "Retrospective"), el("pre", { id: "retrospective" }, data.retrospective)] : []),
  ];
}
