// Where the pages' data come from: the server that sent the page, or the file that the page is.

async function unpacked(text) {
  const raw = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

export class Filed {
  constructor(block) { this.block = block; this.live = false; }
  async page(kind, name) {
    this.all ??= await unpacked(this.block.textContent);
    const found = this.all.pages.find((page) => page.kind === kind && (!name || page.id === name));
    if (!found) throw new Error(`this file does not hold ${kind} ${name}; it was made of ${this.start()}`);
    return found;
  }
  async first() {
    this.all ??= await unpacked(this.block.textContent);
    const page = this.all.pages[0];
    return `#${page.kind}/${encodeURIComponent(page.id)}`;
  }
  start() { return this.all.pages.map((page) => page.id).join(" and "); }
  left() { return this.all.left_out; }
  follow() { return () => {}; }
}

export class Served {
  constructor() { this.live = true; }
  async first() { return "#home"; }
  left() { return null; }
  async get(path) {
    const answer = await fetch(path, { headers: { Accept: "application/json" } });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.message || answer.statusText);
    return said;
  }
  page(kind, name) {
    return this.get(kind === "home" ? "api/home" : `api/${kind}s/${encodeURIComponent(name)}`);
  }
  window(name, first, last) {
    return this.get(`api/runs/${encodeURIComponent(name)}/window?first=${Math.floor(first)}&last=${Math.ceil(last)}`);
  }
  async send(name, act, body) {
    const answer = await fetch(`api/cases/${encodeURIComponent(name)}/${act}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.message || answer.statusText);
    return said;
  }
  follow(kind, name, changed, state) {
    const events = new EventSource(`api/live?kind=${kind}&name=${encodeURIComponent(name || "")}`);
    events.addEventListener("page", (event) => { state(true); changed(JSON.parse(event.data)); });
    events.onopen = () => state(true);
    events.onerror = () => state(false);
    return () => events.close();
  }
}
