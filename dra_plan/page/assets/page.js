// The page: the list of what was asked, the answers, addresses, and what is left of each model.

import { address, bar, el, makeDrawing } from "./draw.js";
import { makeFleet } from "./fleet.js";
import { entry, makeModel, number } from "./model.js";

const MOST_LISTED = 200;
const TONES = [
  ["", "All"],
  ["bad", "Failing"],
  ["other", "Other"],
  ["good", "Fine"],
];
/** Characters that would turn their neighbours round, or hide. */
const HIDDEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/g;

/** What an element holds as JSON; long ones are packed with gzip. */
async function contents(/** @type {HTMLScriptElement} */ element) {
  const held = element.textContent || "";
  if (element.type === "application/json") return JSON.parse(held);
  const bytes = Uint8Array.from(atob(held), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** @type {(name: string) => any} an element, or null */
const id = (name) => document.getElementById(name);
function decoded(/** @type {string} */ part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function start(/** @type {PageData} */ data) {
  const model = makeModel(data);
  const { scenes, picks } = model;
  const drawing = makeDrawing(model);
  const fleet = makeFleet(model, drawing, () => {
    drawLeft();
    drawStatus();
  });
  const answers = [...document.querySelectorAll(".answer:not(.always)")];
  /** By address what can be picked: by name, and what has the name of something before it by its key. */
  const byName = new Map();
  const addresses = picks.map(({ name, key }, at) => {
    const own = byName.has(address(name)) ? "#" + key : address(name);
    byName.set(own, at).set("#" + key, at);
    return own;
  });
  const slider = id("time");
  const blocks = (id("briefs")?.textContent.trim() || "").split("\n\n");
  const briefs = new Map(data.briefs.map((key, at) => [key, blocks[at].split("\n")]));
  let tone = "";
  let every = false;

  // -- the list of what was asked: those that fail first ---------------------------------------------------------------

  const rank = (/** @type {number} */ at) =>
    at === data.opens_on && !slider ? -1 : ["bad", "other", "good"].indexOf(picks[at].tone);
  const order = [...picks.keys()].sort((one, other) => rank(one) - rank(other) || one - other);

  function drawList() {
    if (!id("list")) return;
    const wanted = id("find").value.trim().toLowerCase();
    const said = (/** @type {Asked} */ { name, word, line }) => `${name} ${word} ${line}`.toLowerCase();
    const all = order.filter((at) => (!tone || picks[at].tone === tone) && said(picks[at]).includes(wanted));
    const shown = all.slice(0, MOST_LISTED);
    id("list").replaceChildren(
      ...shown.map((at) => {
        const { name, tone: of, word, line } = picks[at];
        return el(
          "li",
          {},
          el(
            "a",
            {
              class: "pick " + of,
              href: addresses[at],
              "data-pick": at,
              "aria-current": at === model.picked() && "true",
            },
            el("bdi", { class: "name" }, name),
            " ",
            el("span", { class: "word" }, word),
            " ",
            line && el("span", { class: "line" }, line),
          ),
        );
      }),
    );
    id("listed").textContent =
      all.length > shown.length
        ? `${number(shown.length)} of ${number(all.length)} are listed; find the others by name.`
        : all.length
          ? ""
          : "Nothing found.";
    id("choose").replaceChildren(
      el("option", { value: "" }, "Nothing picked"),
      ...shown.map((at) =>
        el("option", { value: at, selected: at === model.picked() }, `${picks[at].name}: ${picks[at].word}`),
      ),
    );
  }

  function drawTabs() {
    const tones = TONES.filter(([of]) => !of || picks.some((pick) => pick.tone === of));
    const tabs = tones.length > 2 ? tones : [];
    id("tabs")?.replaceChildren(
      ...tabs.map(([of, name]) => {
        const count = picks.filter((pick) => !of || pick.tone === of).length;
        const made = el(
          "button",
          { type: "button", "aria-pressed": tone === of ? "true" : "false" },
          `${name} ${number(count)}`,
        );
        made.addEventListener("click", () => {
          tone = of;
          drawTabs();
          drawList();
        });
        return made;
      }),
    );
  }

  // -- what is left of each model ---------------------------------------------------------------------------------------

  function drawLeft() {
    const scene = fleet.view.scene;
    /** @typedef {{ name: string, total: number, good: number, away: number, free: number, shared: number, by: string, leads: boolean, sizes: Map<number, [number, number]> }} Left */
    /** @type {Map<string, Left>} */
    const found = new Map();
    /** @type {Map<string, Map<string, number>>} */
    const parts = new Map();
    scenes[scene].places.forEach((place, at) => {
      const where = model.verdict(scene, at)?.tone === "good" ? "good" : place.away ? "away" : "free";
      for (const of of model.standing(scene, at)) {
        const all = entry(found, of.name, () => ({
          name: of.name,
          total: 0,
          good: 0,
          away: 0,
          free: 0,
          shared: 0,
          by: "",
          leads: of.leads,
          sizes: new Map(),
        }));
        all.total += of.total;
        all[where] += of.free;
        all.shared += of.shared;
      }
      for (const { model: name, profile } of model.largest(scene, at)) {
        const all = entry(parts, name, () => new Map());
        all.set(profile, (all.get(profile) || 0) + 1);
      }
      const together = model.together(scene, at);
      const all = together && found.get(together.model);
      if (!all) return;
      all.by ||= together.by;
      for (const free of together.free.filter(Boolean)) {
        const count = entry(all.sizes, free, () => [0, 0]);
        count[0] += 1;
        count[1] += place.away ? 1 : 0;
      }
    });
    const models = [...found.values()]
      .sort((one, other) => +other.leads - +one.leads || other.total - one.total)
      .map((of) => {
        const free = of.good + of.away + of.free;
        const sizes = [...of.sizes]
          .sort(([one], [other]) => other - one)
          .slice(0, 5)
          .map(
            ([size, [count, away]]) =>
              `${number(size)} free in ${number(count)}` +
              (away ? ` (${number(away)} of them on nodes that keep pods away)` : ""),
          );
        const said = [
          of.shared && `, ${number(of.shared)} shared`,
          of.away && `, ${number(of.away)} on nodes that keep pods away`,
          model.alone() && `, ${number(of.good)} on nodes where it fits`,
        ];
        const share = (/** @type {number} */ count) => (100 * count) / of.total;
        return el(
          "li",
          { class: "left-model" },
          el(
            "p",
            {},
            el("bdi", { class: "left-name" }, of.name),
            " ",
            el("b", {}, `${number(free)} of ${number(of.total)} free`),
            said.filter(Boolean).join(""),
          ),
          bar(
            [
              ["piece used", share(of.total - free)],
              ["piece good", share(of.good)],
              ["piece open", share(of.free)],
              ["piece gone", share(of.away)],
            ],
            "tall",
          ),
          of.by && sizes.length ? el("p", { class: "together" }, `By ${of.by}: ${sizes.join(", ")}`) : "",
        );
      });
    const cut = [...parts].map(([name, all]) =>
      el(
        "li",
        { class: "left-model" },
        el(
          "p",
          {},
          el("bdi", { class: "left-name" }, name),
          " ",
          "largest part free: ",
          [...all].map(([profile, count]) => `${profile || "none"} on ${number(count)}`).join(", "),
        ),
      ),
    );
    id("left").replaceChildren(...models, ...cut);
  }

  // -- picking, opening, addresses --------------------------------------------------------------------------------------

  function told(/** @type {number} */ at) {
    const { name, word, line } = picks[at];
    return `${name}: ${word}${slider && line ? ", " + line : ""}`;
  }

  function drawAnswers() {
    const chosen = model.chosen();
    const key = chosen?.key;
    const known = answers.some((answer) => answer.id === key) || briefs.size > 0;
    for (const answer of answers)
      answer.classList.toggle("aside", !every && key !== undefined && known && answer.id !== key);
    if (!id("brief")) return;
    const lines = briefs.get(key || "");
    id("brief").hidden = !lines;
    if (lines && chosen)
      id("brief").replaceChildren(
        el("h3", {}, el("span", { class: "badge" }, chosen.word), " ", el("bdi", {}, chosen.name)),
        ...lines.slice(1).map((/** @type {string} */ line) => el("p", { class: "told" }, line)),
      );
  }

  function pick(/** @type {number} */ at) {
    model.pick(at);
    fleet.draw();
    if (scenes.length) drawLeft();
    drawAnswers();
    id("list")?.querySelector("[aria-current]")?.removeAttribute("aria-current");
    id("list")?.querySelector(`[data-pick="${at}"]`)?.setAttribute("aria-current", "true");
    if (id("choose")) id("choose").value = at < 0 ? "" : String(at);
    const step = at < 0 ? 0 : Math.min(picks[at].step ?? at + 1, data.steps);
    if (slider) slider.value = String(step);
    slider?.setAttribute("aria-valuetext", at < 0 ? data.before : told(at));
    for (const line of id("curves")?.querySelectorAll(".curve-now") || [])
      line.setAttribute("transform", `translate(${data.at[step] ?? 0})`);
    drawStatus();
  }

  function drawStatus() {
    const [status, at] = [document.querySelector(".picked"), model.picked()];
    const { says } = scenes[fleet.view.scene] || { says: "" };
    const all = picks.length ? "Nothing is picked: " + says : says.charAt(0).toUpperCase() + says.slice(1);
    if (status) status.textContent = at >= 0 ? "Shown: " + told(at) : all + ".";
  }

  /** The panel: the node that is open, in each picture; of nodes that are drawn whole only one that was named is marked. */
  function openNode(/** @type {number} */ at, named = false) {
    fleet.open(fleet.small && !named ? -1 : at, named || Boolean(document.documentElement.dataset.ready));
    if (fleet.small) return;
    document.documentElement.classList.toggle("why", !named && model.chosen()?.tone === "bad");
    const places = scenes.map((_, of) => model.counterpart(fleet.view.scene, of, at));
    id("node").replaceChildren(
      ...places.flatMap((place, of) =>
        place < 0
          ? []
          : [
              el(
                "div",
                {},
                scenes.length > 1 ? el("p", { class: "scene-title" }, scenes[of].title) : "",
                drawing.card(of, place, "h3"),
              ),
            ],
      ),
    );
    if (named) reveal(id("node"));
  }

  /** Brings an element's beginning into view, unless it is there. */
  function reveal(/** @type {HTMLElement} */ element) {
    const around = element.closest(".answers");
    const [{ top }, from] = [element.getBoundingClientRect(), around ? around.getBoundingClientRect().top : 0];
    if (top < Math.max(0, from - 1) || top > window.innerHeight - 160) element.scrollIntoView({ block: "start" });
  }

  /** Shows what an address names: what was asked, a node, or both; says whether it names anything. */
  function go(/** @type {string} */ hash) {
    const parts = hash.replace(/^#/, "").split("&");
    const asked = parts.map((part) => byName.get("#" + part)).find((at) => at !== undefined);
    const named = parts.map((part) => placeOf(decoded(part))).find((at) => at >= 0);
    if (asked !== undefined && asked !== model.picked()) pick(asked);
    if (scenes.length && (named !== undefined || asked !== undefined))
      openNode(named ?? fleet.best(), named !== undefined);
    return asked !== undefined || named !== undefined;
  }
  /** The place of a name: node/NAME, or DRIVER/POOL. */
  function placeOf(/** @type {string} */ name) {
    const all = scenes.length ? model.numbers[fleet.view.scene] : new Map();
    return (
      (name.startsWith("node/") ? all.get(name.slice("node/".length)) : undefined) ??
      (name.includes("/") ? all.get(name) : undefined) ??
      -1
    );
  }

  function step(/** @type {number} */ at) {
    history.replaceState(null, "", at < 0 ? location.pathname : addresses[at]);
    pick(at);
    if (scenes.length) openNode(fleet.best());
  }

  function first() {
    const failing = picks.findIndex((each) => each.tone === "bad");
    pick(data.opens_on ?? (failing >= 0 ? failing : slider || !picks.length ? -1 : 0));
    if (scenes.length) openNode(fleet.best());
  }

  document.addEventListener("click", (event) => {
    const link = /** @type {Element} */ (event.target).closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const own = (link.getAttribute("href") || "").slice(1);
    const isPlace = placeOf(decoded(own)) >= 0;
    if (!byName.has("#" + own) && !isPlace) return;
    const chosen = isPlace && model.chosen();
    const both = "#" + own + (chosen ? "&" + addresses[model.picked()].slice(1) : "");
    event.preventDefault();
    if (location.hash !== both) history.pushState(null, "", both);
    go(both);
  });
  window.addEventListener("popstate", () => {
    if (!go(location.hash)) first();
  });
  document.addEventListener("keydown", (event) => {
    const field = scenes.length ? id("filter") : id("find");
    if (event.key !== "/" || !field || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "")) return;
    event.preventDefault();
    field.focus();
  });
  id("find")?.addEventListener("input", drawList);
  id("choose")?.addEventListener("change", () => step(id("choose").value === "" ? -1 : Number(id("choose").value)));
  id("nothing")?.addEventListener("click", () => step(-1));
  slider?.addEventListener("input", () =>
    step(picks.findIndex((each, at) => (each.step ?? at + 1) === Number(slider.value))),
  );
  id("every")?.addEventListener("click", () => {
    every = !every;
    id("every").setAttribute("aria-pressed", String(every));
    document.documentElement.classList.toggle("every", every);
    drawAnswers();
  });
  // The document, where it is too long to stand in the page as text.
  if (data.document_follows)
    id("document").addEventListener("toggle", async () => {
      const shown = document.querySelector(".document");
      if (!shown || shown.textContent) return;
      const written = JSON.stringify(await contents(id("document-data")), null, 2);
      shown.textContent = written.replace(HIDDEN, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
    });

  drawTabs();
  first();
  drawList();
  if (location.hash) go(location.hash);
  fleet.flush();
  document.documentElement.dataset.ready = "yes";
}

document.documentElement.classList.add("js");
contents(id("data")).then(start, (error) => {
  document.documentElement.classList.remove("js");
  document.documentElement.dataset.ready = "no";
  throw error;
});
