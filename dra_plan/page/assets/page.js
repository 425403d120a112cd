// The page: the list of what was asked, the answers, addresses, and what is left of each model.
const MOST_LISTED = 200;
const packed = (element) => element.type !== "application/json";

/** What an element holds as JSON; long ones are packed with gzip. */
async function contents(element) {
  if (!packed(element)) return JSON.parse(element.textContent);
  const bytes = Uint8Array.from(atob(element.textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function start(data) {
  const model = makeModel(data);
  const { scenes, picks } = model;
  const drawing = makeDrawing(model);
  const fleet = makeFleet(model, drawing);
  const id = (name) => document.getElementById(name);
  const answers = [...document.querySelectorAll(".answer:not(.always)")];
  const byName = new Map(picks.map((pick, at) => [address(pick.name).slice(1), at]));
  const slider = id("time");
  let tone = "";
  let every = false;

  // -- the list of what was asked: those that fail first ---------------------------------------------------------------

  const TONES = [["", "All"], ["bad", "Failing"], ["other", "Other"], ["good", "Fine"]];
  const order = picks.map((_, at) => at).sort((one, other) => rank(one) - rank(other) || one - other);
  function rank(at) {
    return at === data.opens_on ? -1 : ["bad", "other", "good"].indexOf(picks[at].tone);
  }

  function listed() {
    const wanted = id("find").value.trim().toLowerCase();
    return order.filter((at) => (!tone || picks[at].tone === tone) && (!wanted || (picks[at].name + " " + picks[at].word + " " + picks[at].line).toLowerCase().includes(wanted)));
  }

  function drawList() {
    if (!id("list")) return;
    const all = listed();
    const shown = all.slice(0, MOST_LISTED);
    id("list").replaceChildren(...shown.map((at) => {
      const { name, tone: of, word, line } = picks[at];
      return el("li", {}, el("a", { class: "pick " + of, href: address(name), "data-pick": at, "aria-current": at === model.picked && "true" },
        el("bdi", { class: "name" }, name), " ", el("span", { class: "word" }, word), " ", line ? el("span", { class: "line" }, line) : ""));
    }));
    id("listed").textContent = all.length > shown.length ? number(shown.length) + " of " + number(all.length) + " are listed; find the others by name."
      : all.length ? "" : "Nothing found.";
    id("choose").replaceChildren(el("option", { value: "" }, "Nothing picked"), ...shown.map((at) => el("option", { value: at, selected: at === model.picked }, picks[at].name + ": " + picks[at].word)));
  }

  function drawTabs() {
    if (!id("tabs")) return;
    id("tabs").replaceChildren(...TONES.filter(([of]) => !of || picks.some((pick) => pick.tone === of)).map(([of, name]) => {
      const count = picks.filter((pick) => !of || pick.tone === of).length;
      const made = el("button", { type: "button", "aria-pressed": String(tone === of) }, name + " " + number(count));
      made.addEventListener("click", () => { tone = of; drawTabs(); drawList(); });
      return made;
    }));
  }

  // -- what is left of each model ---------------------------------------------------------------------------------------

  function drawLeft() {
    if (!id("left")) return;
    const scene = fleet.view.scene;
    const found = new Map();
    const parts = new Map();
    scenes[scene].places.forEach((place, at) => {
      const verdict = model.verdict(scene, at);
      const where = verdict && verdict.tone === "good" ? "good" : place.away ? "away" : "free";
      for (const of of model.models(scene, at)) {
        const all = found.get(of.name) || { name: of.name, total: 0, good: 0, away: 0, free: 0, shared: 0, together: new Map(), by: "" };
        found.set(of.name, all);
        all.total += of.total;
        all[where] += of.free + (model.alone() ? of.gets : 0);
        all.shared += of.shared;
      }
      for (const largest of model.largest(scene, at)) {
        const all = parts.get(largest.model) || new Map();
        parts.set(largest.model, all.set(largest.profile, (all.get(largest.profile) || 0) + 1));
      }
      const together = model.together(scene, at);
      if (!together) return;
      const of = found.get(together.model);
      of.by = of.by || together.by;
      for (const free of together.free) if (free) of.together.set(free, (of.together.get(free) || 0) + 1);
    });
    id("left").replaceChildren(...[...found.values()].sort((one, other) => other.total - one.total).map((of) => {
      const free = of.good + of.away + of.free;
      const sizes = [...of.together].sort(([one], [other]) => other - one).map(([size, count]) => number(size) + " free in " + number(count));
      const said = (of.shared ? ", " + number(of.shared) + " shared" : "") + (of.away ? ", " + number(of.away) + " on nodes kept away" : "") + (model.alone() ? ", " + number(of.good) + " on nodes where it fits" : "");
      return el("li", { class: "left-model" }, el("p", {}, el("bdi", { class: "left-name" }, of.name), " ", el("b", {}, number(free) + " of " + number(of.total) + " free"), said),
        of.total ? bar([["piece used", (100 * (of.total - free)) / of.total], ["piece good", (100 * of.good) / of.total], ["piece open", (100 * of.free) / of.total], ["piece gone", (100 * of.away) / of.total]], "tall") : "",
        of.by && sizes.length ? el("p", { class: "together" }, "By " + of.by + ": " + sizes.slice(0, 5).join(", ")) : "");
    }), ...[...parts].map(([name, all]) => el("li", { class: "left-model" }, el("p", {}, el("bdi", { class: "left-name" }, name), " ",
      "largest part free: ", [...all].map(([profile, count]) => (profile || "none") + " on " + number(count)).join(", ")))));
  }

  // -- picking, opening, addresses --------------------------------------------------------------------------------------

  function told(at) {
    return picks[at].name + ": " + picks[at].word + (slider && picks[at].line ? ", " + picks[at].line : "");
  }

  function drawAnswers() {
    const key = model.picked < 0 ? null : picks[model.picked].key;
    const known = key !== null && answers.some((answer) => answer.id === key);
    for (const answer of answers) answer.classList.toggle("aside", !every && key !== null && answer.id !== key && (known || Boolean(briefs.size)));
    if (!id("brief")) return;
    const lines = key === null ? undefined : briefs.get(key);
    id("brief").hidden = !lines;
    if (lines) id("brief").replaceChildren(el("h3", {}, el("span", { class: "badge" }, picks[model.picked].word), " ", el("bdi", {}, picks[model.picked].name)),
      ...lines.slice(1).map((line) => el("p", { class: "told" }, line)));
  }

  function pick(at) {
    model.pick(at);
    fleet.draw();
    drawLeft();
    drawAnswers();
    for (const link of document.querySelectorAll(".pick")) if (Number(link.dataset.pick) === at) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    if (id("choose")) id("choose").value = at < 0 ? "" : String(at);
    if (slider) slider.value = String(Math.min(picks[at]?.step ?? at + 1, data.steps));
    if (slider) slider.setAttribute("aria-valuetext", at < 0 ? data.before : told(at));
    const status = document.querySelector(".picked");
    if (status) status.textContent = at < 0 ? (picks.length ? "Nothing is picked: the cluster as it is." : "The cluster as it is.") : "Shown: " + told(at);
  }

  /** The panel: the node that is open, in each picture. */
  function openNode(at, byName_ = false) {
    fleet.open(fleet.small && !byName_ ? -1 : at);
    if (document.documentElement.dataset.ready) fleet.reveal(at);
    if (fleet.small || !id("node")) return;
    const shown = scenes.map((scene, number_) => [scene, number_, model.counterpart(fleet.view.scene, number_, at)]).filter(([, , place]) => place >= 0);
    id("node").replaceChildren(...shown.map(([scene, number_, place]) => el("div", {}, scenes.length > 1 ? el("p", { class: "scene-title" }, scene.title) : "", drawing.card(number_, place, "h3"))));
  }

  /** Shows what an address names: what was asked, a node, or both; says whether it names anything. */
  function go(hash) {
    const parts = hash.replace(/^#/, "").split("&");
    const asked = parts.map((part) => byName.get(part) ?? picks.findIndex((each) => each.key === part)).find((at) => at >= 0);
    const named = parts.map((part) => decoded(part)).find((name) => name !== undefined && place(name) >= 0);
    if (asked !== undefined && asked !== model.picked) pick(asked);
    if (named !== undefined || asked !== undefined) openNode(named === undefined ? fleet.best() : place(named), named !== undefined);
    return asked !== undefined || named !== undefined;
  }
  function decoded(part) {
    try { return decodeURIComponent(part); } catch { return undefined; }
  }
  function place(name) {
    if (!scenes.length) return -1;
    const of = model.numbers[fleet.view.scene];
    return (name.startsWith("node/") ? of.get(name.slice(5)) : undefined) ?? (name.includes("/") ? of.get(name) : undefined) ?? -1;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const own = link.getAttribute("href");
    const names = decoded(own.slice(1)) || "";
    const both = place(names) >= 0 && model.picked >= 0 ? own + "&" + address(picks[model.picked].name).slice(1) : own;
    if (!byName.has(own.slice(1)) && place(names) < 0) return;
    event.preventDefault();
    if (location.hash !== both) history.pushState(null, "", both);
    go(both);
  });
  window.addEventListener("popstate", () => { if (!go(location.hash)) first(); });

  if (id("find")) id("find").addEventListener("input", drawList);
  if (id("choose")) id("choose").addEventListener("change", (event) => step(event.target.value === "" ? -1 : Number(event.target.value)));
  function step(at) {
    history.replaceState(null, "", at < 0 ? location.pathname : address(picks[at].name));
    pick(at);
    if (scenes.length) openNode(fleet.best());
  }
  if (id("nothing")) id("nothing").addEventListener("click", () => step(-1));
  if (slider) slider.addEventListener("input", () => step(Number(slider.value) - 1));
  if (id("every")) id("every").addEventListener("click", () => {
    every = !every;
    id("every").setAttribute("aria-pressed", String(every));
    document.documentElement.classList.toggle("every", every);
    drawAnswers();
  });
  document.addEventListener("keydown", (event) => {
    const field = scenes.length ? id("filter") : id("find");
    if (event.key !== "/" || !field || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    field.focus();
  });

  const briefs = new Map();
  if (id("briefs")) id("briefs").textContent.trim().split("\n\n").forEach((block, at) => briefs.set(data.briefs[at], block.split("\n")));

  // -- the document, where it is too long to stand in the page as text -----------------------------------------------------

  const whole = id("document");
  if (whole && data.document_follows) whole.addEventListener("toggle", async () => {
    const shown = whole.querySelector(".document");
    if (!whole.open || shown.dataset.filled) return;
    shown.dataset.filled = "yes";
    shown.textContent = JSON.stringify(await contents(id("document-data")), null, 2)
      .replace(/[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/g,
        (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
  });

  function first() {
    const failing = picks.findIndex((each) => each.tone === "bad");
    const usual = failing >= 0 ? failing : slider || !picks.length ? -1 : 0;
    pick(data.opens_on === null ? usual : data.opens_on);
    if (scenes.length) openNode(fleet.best());
  }
  drawTabs();
  first();
  drawList();
  if (location.hash) go(location.hash);
  document.documentElement.dataset.ready = "yes";
}

document.documentElement.classList.add("js");
contents(document.getElementById("data")).then(start, (error) => {
  document.documentElement.classList.remove("js");
  document.documentElement.dataset.ready = "no";
  throw error;
});
