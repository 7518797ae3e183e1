// The list of runs and cases.

import { bytes, duration, el, ended, typed } from "./dom.js";

const STATES = { verified: "good", closed: "good", stopped: "bad", damaged: "bad" };

export function homePage(root, data) {
  const draw = (data) => {
    const cases = data.cases.map((one) => el("li", {}, el("a", { href: `#case/${encodeURIComponent(one.id)}` },
      el("span", { class: `tag ${STATES[one.state] || "open"}` }, one.state),
      el("span", { class: "name" }, one.cause ? `${one.cause}${one.site ? ` at ${one.site}` : ""}` : "no cause established"),
      el("span", { class: "time" }, one.opened ? one.opened.slice(0, 16).replace("T", " ") : ""),
      el("span", { class: "more" }, one.problem || one.symptom))));
    const runs = data.runs.map((one) => {
      const bad = one.problem || one.symptoms.length || one.signal || one.exit_code;
      const tag = one.problem ? "damaged" : one.live ? "going" : bad ? "failed" : one.command.length ? "no symptom" : "imported";
      return el("li", {}, el("a", { href: `#run/${encodeURIComponent(one.id)}` },
        el("span", { class: `tag ${one.live ? "going" : bad ? "bad" : "good"}` }, tag),
        el("span", { class: "name" }, typed(one.command) || one.id),
        el("span", { class: "time" }, one.started.slice(0, 16).replace("T", " ")),
        el("span", { class: "more" }, one.problem || [...one.symptoms.slice(0, 1), one.command.length ? ended(one) : "imported", duration(one.seconds), bytes(one.bytes)]
          .filter(Boolean).join(" · "))));
    });
    root.replaceChildren(
      el("h1", {}, "Cases"),
      cases.length ? el("ul", { class: "rows", id: "cases" }, cases)
        : el("p", { class: "soft" }, "No case yet: ", el("code", {}, "firstcause diagnose last"), " opens one for a run that failed."),
      el("h2", {}, "Runs"),
      runs.length ? el("ul", { class: "rows", id: "runs" }, runs)
        : el("p", { class: "soft" }, "No run yet: ", el("code", {}, "firstcause run python train.py"), " records one."));
  };
  draw(data);
  return { title: data.folder, update: draw };
}
