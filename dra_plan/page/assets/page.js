// The page: the list of what was asked, the answers, and addresses.

import { bdi, el, makeDrawing, placeAddress, placeLink, toggles } from "./draw.js";
import { makeFleet } from "./fleet.js";
import { drawnLeft } from "./left.js";
import { makeModel, number } from "./model.js";

const MOST_LISTED = 200;
const MOST_TOLD = 60;
const WHOLE = "whole";
const IN_COLUMNS = matchMedia("(min-width: 1080px)");
/** @type {[string, string][]} */
const TABS = [
  ["", "All"],
  ["bad", "Failing"],
  ["other", "Other"],
  ["good", "Fine"],
  ["plain", "The rest"],
];

/** The text that an element holds; if it is long, it is packed with gzip. */
async function contents(/** @type {HTMLScriptElement} */ { textContent, type }) {
  if (type === "application/json") return textContent || "";
  const bytes = Uint8Array.from(atob(textContent || ""), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
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
  const turned = () => {
    drawLeft();
    drawStatus();
  };
  const found = (/** @type {Place} */ place) => {
    openNode(place);
    reveal();
  };
  const fleet = makeFleet(model, drawing, { turned, found, changed: () => write() });
  const shownScene = () => scenes[fleet.view.scene];
  const answers = [...document.querySelectorAll(".answer:not(.always)")];
  const byAddress = new Map(picks.map(({ address }, at) => [address, at]));
  const slider = id("time");
  const blocks = (id("briefs")?.textContent.trim() || "").split("\n\n");
  const briefs = new Map(data.briefs.map((key, at) => [key, blocks[at].split("\n")]));
  let tone = "";
  /** @type {Place | undefined} the node that the address names */
  let named;
  let [started, writing] = [false, false];

  // -- the list of what was asked: those that fail first ---------------------------------------------------------------

  function drawList() {
    if (!id("list")) return;
    const wanted = id("find")?.value.trim().toLowerCase() || "";
    const said = (/** @type {Asked} */ { name, word, line }) => `${name} ${word} ${line}`.toLowerCase();
    const all = data.order.filter((at) => (!tone || picks[at].tone === tone) && said(picks[at]).includes(wanted));
    const shown = all.slice(0, MOST_LISTED);
    const picked = model.picked();
    if (all.includes(picked) && !shown.includes(picked)) shown.push(picked);
    const lines = shown.map((at) => {
      const { name, tone: of, word, line, address } = picks[at];
      const link = { href: address, "data-pick": at, "aria-current": at === model.picked() && "true" };
      const parts = [el("bdi.name", name), " ", el("span.word", word), " ", line && el("span.line", line)];
      return el("li", el("a.pick." + of, link, parts));
    });
    id("list").replaceChildren(...lines);
    const cut = `${number(shown.length)} of ${number(all.length)} are listed; find the others by name.`;
    id("listed").textContent = all.length > shown.length ? cut : all.length ? "" : "Nothing found.";
    const options = shown.map((at) => el("option", { value: at }, `${picks[at].name}: ${picks[at].word}`));
    id("choose").replaceChildren(el("option", { value: "" }, "Nothing picked"), ...options);
    choose();
  }
  function choose() {
    if (id("choose")) id("choose").value = model.picked() < 0 ? "" : String(model.picked());
  }

  function drawTabs() {
    const count = (/** @type {string} */ of) => picks.filter((pick) => !of || pick.tone === of).length;
    const tones = TABS.filter(([of]) => count(of));
    /** @type {[string, string, Part[]][]} */
    const tabs = tones.map(([of, name]) => [of, "", [`${name} ${number(count(of))}`]]);
    const act = (/** @type {string} */ of) => {
      tone = of;
      drawList();
      write();
    };
    toggles(id("tabs"), tabs.length > 2 ? tabs : [], (of) => of === tone, act);
  }

  // -- picking, opening, addresses --------------------------------------------------------------------------------------

  const drawLeft = () => scenes.length && id("left").replaceChildren(...drawnLeft(model, shownScene()));

  function told(/** @type {Asked} */ { name, word, line }) {
    return `${name}: ${word}${slider && line && line.length <= MOST_TOLD ? ", " + line : ""}`;
  }

  function drawStatus() {
    const [status, chosen] = [document.querySelector(".picked"), model.chosen()];
    const says = shownScene()?.says || "";
    const all = picks.length ? "Nothing is picked: " + says : says.charAt(0).toUpperCase() + says.slice(1);
    if (status) status.textContent = chosen ? "Shown: " + told(chosen) : all + ".";
  }

  function drawAnswers() {
    const chosen = model.chosen();
    const shown = answers.find(({ id }) => id === chosen?.key);
    const known = shown || briefs.size > 0;
    for (const answer of answers)
      answer.classList.toggle("aside", chosen !== undefined && Boolean(known) && answer !== shown);
    if (shown) linkNodes(shown);
    if (!id("brief")) return;
    const lines = briefs.get(chosen?.key || "");
    id("brief").hidden = !lines;
    id("brief").className = "answer-brief js-only " + chosen?.tone;
    if (!lines || !chosen) return;
    const title = el("h3", el("span.badge", chosen.word), " ", bdi(chosen.name));
    id("brief").replaceChildren(title, ...lines.slice(1).map((/** @type {string} */ line) => el("p.told", line)));
    linkNodes(id("brief"));
  }

  const devices = new Set(scenes.flatMap(({ layouts }) => layouts.flatMap((layout) => layout.devices)));
  /** Makes links of the names of nodes in an answer; not of those that are names of devices, too. */
  function linkNodes(/** @type {Element} */ answer) {
    if (!scenes.length || answer.hasAttribute("data-linked")) return;
    answer.setAttribute("data-linked", "");
    const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
    const texts = /** @type {Text[]} */ ([]);
    while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
    for (const text of texts.filter((each) => !each.parentElement?.closest("a, pre, code, summary, h3"))) {
      const words = text.data.split(/([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)/);
      const named = words.map((word) => (devices.has(word) ? undefined : shownScene().byName.get(word)));
      if (!named.some(Boolean)) continue;
      text.replaceWith(
        ...words.map((word, at) => {
          const place = words[at - 1]?.endsWith("/") || words[at + 1]?.startsWith("/") ? undefined : named[at];
          return place ? placeLink(place) : word;
        }),
      );
    }
  }

  function pick(/** @type {number} */ at) {
    model.pick(at);
    fleet.draw();
    drawLeft();
    drawAnswers();
    id("list")?.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const row = id("list")?.querySelector(`[data-pick="${at}"]`);
    row?.setAttribute("aria-current", "true");
    if (started && !row && at >= 0) drawList();
    choose();
    const chosen = model.chosen();
    const step = chosen ? Math.min(chosen.step ?? at + 1, data.steps) : 0;
    if (slider) slider.value = String(step);
    slider?.setAttribute("aria-valuetext", chosen ? told(chosen) : data.before);
    if (id("now")) id("now").textContent = chosen ? chosen.name : data.before;
    for (const line of id("curves")?.querySelectorAll(".curve-now") || [])
      line.setAttribute("transform", `translate(${data.at[step] ?? 0})`);
    drawStatus();
  }

  /** The panel: the node that is open, in each picture; of nodes that are drawn whole only one that was named is marked. */
  function openNode(/** @type {Place} */ place, named = false) {
    fleet.open(fleet.small && !named ? undefined : place, named || Boolean(document.documentElement.dataset.ready));
    if (fleet.small) return;
    const isAnswerFirst = picks.length > 0 && (model.chosen()?.tone ?? "bad") === "bad";
    document.documentElement.classList.toggle("why", !named && isAnswerFirst);
    const cards = scenes.flatMap(({ title }, at) => {
      const there = model.counterpart(place, at);
      const head = scenes.length > 1 && el("p.scene-title", title);
      return there ? [el("div", head, drawing.card(there, "h3", fleet.found(there)))] : [];
    });
    id("node").replaceChildren(...cards);
    if (!named) return;
    const from = /** @type {HTMLElement | null} */ (document.activeElement);
    if (!IN_COLUMNS.matches && from?.matches(".answers a")) {
      const back = el("button.back", { type: "button" }, "Back to the answer");
      back.addEventListener("click", () => {
        from.scrollIntoView({ block: "center" });
        from.focus({ preventScroll: true });
      });
      id("node").prepend(back);
    }
    id("node").scrollIntoView();
  }
  /** The row that is picked and the tile that is open come into view, once everything is drawn. */
  function reveal() {
    if (!IN_COLUMNS.matches) return;
    id("list")?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    fleet.reveal();
  }

  /**
   * Shows what the address names: what was asked, a node, the view of the fleet. The address of a link names only one
   * of them, and leaves the others as they are; those that were written here, or name a view, name everything.
   */
  function go() {
    const parts = location.hash.slice(1).split("&");
    const asked = parts.map((part) => byAddress.get("#" + part)).find((at) => at !== undefined);
    const node = parts.map((part) => placeOf(decoded(part))).find(Boolean);
    const pairs = parts.map((part) => part.split("=")).filter((pair) => pair.length === 2);
    const isWhole = history.state === WHOLE || !started || pairs.length > 0;
    if (!isWhole && asked === undefined && !node) return;
    if (isWhole) become(new Map(pairs.map(([name, value]) => [name, decoded(value)])));
    const at = asked ?? (isWhole ? (parts.includes("pick=") ? -1 : data.opens_on) : model.picked());
    if (at !== model.picked() || !started) pick(at);
    else if (isWhole) fleet.draw();
    named = node;
    if (scenes.length) openNode(node || fleet.best(), Boolean(node));
    reveal();
    if (!isWhole) write();
  }
  function become(/** @type {Map<string, string>} */ view) {
    fleet.become(view);
    const [wanted, tab] = [view.get("list") || "", view.get("tab") || ""];
    const isSame = tone === tab && (id("find")?.value.trim() ?? "") === wanted;
    if (isSame) return;
    tone = tab;
    if (id("find")) id("find").value = wanted;
    drawTabs();
    drawList();
  }
  /** Writes into the address what is shown, once that is painted: a browser takes milliseconds for it. */
  function write() {
    if (!writing) requestAnimationFrame(() => setTimeout(written));
    writing = true;
  }
  /** Nothing is written if that is how the page opens. */
  function written() {
    writing = false;
    const node = named ? [placeAddress(named).slice(1)] : [];
    const own = [
      ["list", id("find")?.value.trim()],
      ["tab", tone],
    ].filter(([, value]) => value);
    const view = [...own, ...fleet.parts()].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const isOpening = model.picked() === data.opens_on && !node.length && !view.length && !location.hash;
    const asked = model.chosen()?.address.slice(1) ?? (picks.length ? "pick=" : "");
    const all = isOpening ? "" : [...node, asked, ...view].filter(Boolean).join("&");
    history.replaceState(WHOLE, "", all ? "#" + all : location.pathname + location.search);
  }
  /** The place of a name: node/NAME, or DRIVER/POOL. */
  function placeOf(/** @type {string} */ name) {
    const all = shownScene()?.byName;
    const own = name.startsWith("node/") ? all?.get(name.slice("node/".length)) : undefined;
    return own ?? (name.includes("/") ? all?.get(name) : undefined);
  }

  function step(/** @type {number} */ at) {
    named = undefined;
    pick(at);
    if (scenes.length) openNode(fleet.best());
    reveal();
    write();
  }

  window.addEventListener("hashchange", go);
  document.addEventListener("keydown", (event) => {
    const field = scenes.length ? id("filter") : id("find");
    if (event.key !== "/" || !field || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "")) return;
    event.preventDefault();
    field.focus();
  });
  id("find")?.addEventListener("input", () => {
    drawList();
    write();
  });
  id("choose")?.addEventListener("change", () => step(id("choose").value === "" ? -1 : Number(id("choose").value)));
  id("every")?.addEventListener("change", () =>
    document.documentElement.classList.toggle("every", id("every").checked),
  );
  id("nothing")?.addEventListener("click", () => step(-1));
  slider?.addEventListener("input", () =>
    step(picks.findIndex((each, at) => (each.step ?? at + 1) === Number(slider.value))),
  );
  // The document, where it is too long to stand in the page as text.
  if (data.document_follows)
    id("document").addEventListener("toggle", async () => {
      const shown = document.querySelector(".document");
      if (!shown || shown.textContent) return;
      shown.textContent = await contents(id("document-data"));
    });

  drawTabs();
  go();
  started = true;
  history.replaceState(WHOLE, "", location.href);
  drawList();
  reveal();
  fleet.flush();
  document.documentElement.dataset.ready = "yes";
}

document.documentElement.classList.add("js");
contents(id("data")).then(
  (text) => start(JSON.parse(text)),
  (error) => {
    document.documentElement.classList.remove("js");
    document.documentElement.dataset.ready = "no";
    throw error;
  },
);
