// The fleet: every node on one screen, grouped, told apart by what is said of it, filtered and searched.

import { bar, el, placeAddress, svg } from "./draw.js";
import { counted, entry, number, sum } from "./model.js";
import { makeTiles } from "./tiles.js";

const MOST_CARDS = 24;
const MOST_BOXES = 320;
const MOST_HITS = 12;
const MOST_REASONS = 5;
const MOST_WAYS = 60;
const TAKES = "takes pods";
const USES = ["wholly free", "partly free", "nothing free"];
const AWAY = "keeps pods away";

/** @param {Model} model @param {Drawing} drawing @param {() => void} turned is called when the other picture is shown */
export function makeFleet(model, drawing, turned) {
  const { scenes, text } = model;
  const root = /** @type {HTMLElement} */ (document.getElementById("fleet"));
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (root.querySelector("." + name));
  const boxes = (/** @type {Scene} */ scene) =>
    sum(scene.places.map((place) => scene.layouts[place.kind].devices.length));
  const small = scenes.every((scene) => scene.places.length <= MOST_CARDS && boxes(scene) <= MOST_BOXES);
  const view = { scene: scenes.length - 1, group: "model", reason: "", wanted: "" };
  const everywhere = scenes.map((scene) => [...scene.places.keys()]);
  const places = () => everywhere[view.scene];
  const place = (/** @type {number} */ at) => scenes[view.scene].places[at];
  /** @type {{ of: Reason[], all: Reason[] }} why nodes differ: of each place, and all of them, the commonest first */
  let now = { of: [], all: [] };
  /** @type {Map<number, Hit> | undefined} what the search finds */
  let hits;
  const kept = (/** @type {number} */ at) =>
    (!hits || hits.has(at)) && (!view.reason || now.of[at].key === view.reason);
  const tiles = root && makeTiles(part("groups"), { look, name: told, href: (at) => placeAddress(place(at)) });

  // -- why nodes differ, and groups ---------------------------------------------------------------------------------------

  function reasons() {
    /** @type {Map<string, Reason>} */
    const found = new Map();
    const of = places().map((at) => {
      const verdict = model.verdict(view.scene, at);
      const used = usage(at);
      const key = !verdict
        ? used[0]
        : verdict.label + (verdict.tone === "bad" && verdict.why ? ": " + verdict.why : "");
      const reason = entry(found, key, () => ({
        key,
        tone: verdict?.tone || "plain",
        count: 0,
        look: verdict?.tone || used[1],
      }));
      reason.count += 1;
      return reason;
    });
    const order = ["good", "bad", "other", "plain"];
    const all = [...found.values()].sort(
      (one, other) => order.indexOf(one.tone) - order.indexOf(other.tone) || other.count - one.count,
    );
    all
      .filter(({ tone }) => tone === "bad")
      .forEach((each, at) => {
        each.look = "bad" + Math.min(at, 3);
      });
    return { of, all };
  }

  /** How much of a place is used, in words, and the class of that: of the leading driver, where there are several. */
  function usage(/** @type {number} */ at) {
    const [layout, lead] = [model.layoutOf(view.scene, at), model.leads[view.scene]];
    if (place(at).away) return [AWAY, "away"];
    if (!layout.devices.length) return ["no devices", "u3"];
    if (!layout.pools.some(({ driver }) => driver === lead.driver)) return ["no " + text(lead.driver), "u3"];
    const used = model.used(view.scene, at);
    const step = used <= 0 ? 0 : used >= 1 ? 2 : 1;
    return [lead.alone ? USES[step] : `${text(lead.driver)} ${USES[step]}`, "u" + step];
  }

  const kind = (/** @type {number} */ at) => model.kind(view.scene, at);
  function together(/** @type {number} */ at) {
    const found = model.together(view.scene, at);
    if (!found) return kind(at);
    const { most, by } = found;
    return `${found.model}: ${most || "none"} free${by && most > 1 ? " in one " + by : most === 1 ? ", each alone" : ""}`;
  }

  /** The name of a place's group. @type {Record<string, (at: number) => string>} */
  const groupings = {
    model: kind,
    said: (at) => now.of[at].key,
    together,
    away: (at) => model.away(view.scene, at) || TAKES,
  };
  function groupOf(/** @type {number} */ at) {
    const label = scenes[view.scene].labels.indexOf(view.group.slice("label:".length));
    return view.group in groupings ? groupings[view.group](at) : text(place(at).labels?.[label]) || "without the label";
  }

  function drawOptions() {
    const labels = scenes[view.scene].labels.map((name) => ["label:" + name, "label " + name]);
    const options = [
      ["model", "model"],
      ["said", model.picked() < 0 ? "use" : "what is said"],
      ["together", "free together"],
      ["away", "what keeps pods away"],
      ...labels,
    ];
    part("group-by").replaceChildren(
      ...options.map(([value, name]) => el("option", { value, selected: value === view.group }, name)),
    );
  }

  // -- tiles ----------------------------------------------------------------------------------------------------------------

  function told(/** @type {number} */ at) {
    const counts = model
      .standing(view.scene, at)
      .map((each) => `${each.free} of ${each.total} ${each.name} free`)
      .join(", ");
    return [place(at).name, now.of[at].key, counts, model.away(view.scene, at)].filter(Boolean).join("; ");
  }

  const fill = (/** @type {number} */ at) => Math.ceil(model.used(view.scene, at) * 8 - 0.001);
  function look(/** @type {number} */ at) {
    return {
      look: now.of[at].look,
      fill: fill(at),
      away: Boolean(place(at).away),
      touched: model.touched(view.scene, at),
      dim: !kept(at),
    };
  }

  function drawTiles(anew = false) {
    /** @type {Map<string, number[]>} */
    const groups = new Map();
    for (const at of places()) entry(groups, groupOf(at), () => []).push(at);
    const rank = new Map(now.all.map((reason, at) => [reason, 10 * at]));
    const ranks = places().map((at) => (rank.get(now.of[at]) || 0) + fill(at));
    const good = now.all.filter(({ tone }) => tone === "good");
    const more = (/** @type {number[]} */ own) => {
      const fits =
        good.length === 1 && `${good[0].key} on ${number(own.filter((at) => now.of[at] === good[0]).length)}`;
      return [counted(own.length, "node"), fits, ...(view.group === "model" ? [] : free(own))]
        .filter(Boolean)
        .join(", ");
    };
    const sorted = [...groups].sort(([one], [other]) => (one < other ? -1 : 1));
    tiles.draw(
      sorted.map(([name, own]) => ({
        name,
        own: own.sort((one, other) => ranks[one] - ranks[other] || one - other),
        more: more(own),
      })),
      anew,
    );
  }

  /** What is free in a group: of the leading driver's models first. */
  function free(/** @type {number[]} */ own) {
    /** @type {Map<string, ModelCount>} */
    const found = new Map();
    for (const each of own.flatMap((at) => model.standing(view.scene, at))) {
      const all = entry(found, each.name, () => ({ ...each, total: 0, free: 0 }));
      all.total += each.total;
      all.free += each.free;
    }
    const all = [...found.values()].sort((one, other) => +other.leads - +one.leads || other.total - one.total);
    return all.map((each) => `${number(each.free)} of ${number(each.total)} ${each.name} free`);
  }

  function drawCards() {
    const shown = scenes.map((scene, at) =>
      el(
        "div",
        { class: "scene" },
        scenes.length > 1 ? el("h3", { class: "scene-title" }, scene.title) : "",
        scene.places.map((_, each) => {
          const made = drawing.card(at, each, scenes.length > 1 ? "h4" : "h3");
          made.classList.toggle("touched", scenes.length > 1 && model.touched(at, each));
          return made;
        }),
      ),
    );
    part("groups").replaceChildren(el("div", { class: "scenes" }, shown));
  }

  function drawReasons() {
    const rest = now.all.slice(MOST_REASONS);
    const more = `${number(sum(rest.map(({ count }) => count)))} for ${counted(rest.length, "other reason")}`;
    part("reasons").replaceChildren(
      ...now.all.slice(0, MOST_REASONS).map((each) => {
        const made = el(
          "button",
          { type: "button", class: "reason " + each.look, "aria-pressed": view.reason === each.key ? "true" : "false" },
          el("b", {}, number(each.count)),
          " · ",
          el("span", {}, each.key),
        );
        made.addEventListener("click", () => {
          view.reason = view.reason === each.key ? "" : each.key;
          drawReasons();
          narrow();
        });
        return made;
      }),
      ...(rest.length ? [el("span", { class: "rest" }, more)] : []),
    );
    part("share").replaceChildren(
      bar(
        now.all.map((each) => ["piece " + each.look, (100 * each.count) / places().length]),
        "share-bar",
      ),
    );
  }

  // -- what the chips and the search leave: the others are dimmed, or of a few nodes not shown --------------------------------

  function find() {
    const wanted = view.wanted.trim().toLowerCase();
    hits = wanted ? model.search(view.scene, wanted) : undefined;
  }

  function narrow() {
    find();
    if (small) hideCards();
    else tiles.repaint();
    tell();
  }

  function hideCards() {
    for (const each of root.querySelectorAll(".card")) {
      const card = /** @type {HTMLElement} */ (each);
      const at = model.counterpart(Number(card.dataset.scene), view.scene, Number(card.dataset.place));
      card.hidden = at >= 0 ? !kept(at) : Boolean(hits || view.reason);
    }
  }

  /** How many are left, and the first of what the search finds. */
  function tell() {
    const left = places().filter(kept);
    const devices = hits && sum([...hits.values()].map((each) => each.devices.length));
    part("count").textContent =
      hits && !left.length
        ? `Nothing found for “${view.wanted.trim()}”.`
        : `${number(left.length)} of ${counted(places().length, "node")}${devices === undefined ? "" : ", " + counted(devices, "device")}`;
    /** @type {HTMLElement[]} */
    const lines = [];
    for (const [at, { named, devices }] of hits || []) {
      if (!kept(at)) continue;
      const link = () => el("a", { href: placeAddress(place(at)) }, el("bdi", {}, place(at).name));
      if (named || !devices.length) lines.push(el("li", {}, link()));
      else
        for (const device of devices.slice(0, MOST_HITS)) {
          const [, word, more] = drawing.said(model.device(view.scene, at, device));
          lines.push(
            el(
              "li",
              {},
              model.layoutOf(view.scene, at).devices[device] + " on ",
              link(),
              ": " + word + (more ? ", " + more : ""),
            ),
          );
        }
      if (lines.length > MOST_HITS) break;
    }
    part("hits").replaceChildren(...lines.slice(0, MOST_HITS));
  }

  function draw(anew = false) {
    if (!root) return;
    now = reasons();
    const { driver, alone } = model.leads[view.scene];
    part("filled-by").textContent = alone ? "it is" : `its ${text(driver)} devices are`;
    find();
    drawOptions();
    drawReasons();
    if (small) drawCards();
    else drawTiles(anew);
    if (small) hideCards();
    tell();
    drawWays();
  }

  // -- arrows: from each node to the one that its pods go to, where two pictures stand side by side from one to the other ----

  function drawWays() {
    const groups = part("groups");
    groups.querySelector(".ways")?.remove();
    const [from, to] = small ? [0, scenes.length - 1] : [view.scene, view.scene];
    /** @type {(scene: number, name: Texts) => Element | null | undefined} */
    const drawn = (scene, name) => {
      const at = model.numbers[scene].get(text(name)) ?? -1;
      return small ? root.querySelector(`.card[data-scene="${scene}"][data-place="${at}"]`) : tiles.link(at);
    };
    const origin = groups.getBoundingClientRect();
    const lines = (model.chosen()?.ways || []).slice(0, MOST_WAYS).flatMap(([one, other, count]) => {
      const [start, end] = [drawn(from, one)?.getBoundingClientRect(), drawn(to, other)?.getBoundingClientRect()];
      if (!start || !end) return [];
      const middle = (/** @type {DOMRect} */ box) => [
        box.left - origin.left + box.width / 2,
        box.top - origin.top + (small ? 20 : box.height / 2),
      ];
      const [[x, y], [u, v]] = [middle(start), middle(end)];
      const last = u + (small ? Math.sign(x - u) * end.width * 0.45 : 0);
      const bend = Math.max(14, Math.abs(last - x) / 5);
      const d = `M${x} ${y}Q${(x + last) / 2} ${Math.min(y, v) - bend} ${last} ${v}`;
      return [svg("path", { class: "way", d, "stroke-width": Math.min(6, 1 + count), "marker-end": "url(#arrow)" })];
    });
    if (lines.length)
      groups.append(
        svg(
          "svg",
          { class: "ways", "aria-hidden": "true", width: groups.scrollWidth, height: groups.scrollHeight },
          ...lines,
        ),
      );
  }

  // -- what one does ------------------------------------------------------------------------------------------------------

  /** The node that is open; of nodes that are drawn whole, the fleet scrolls to it. */
  function open(/** @type {number} */ at, reveal = false) {
    if (!root) return;
    if (!small) tiles.mark(at);
    for (const each of root.querySelectorAll(".card[aria-current]")) each.removeAttribute("aria-current");
    for (const each of small ? root.querySelectorAll(`.card[data-place="${at}"]`) : [])
      each.setAttribute("aria-current", "true");
    const last = small && reveal && root.querySelector(`.scene:last-child .card[data-place="${at}"]`);
    if (last) last.scrollIntoView({ block: "nearest" });
  }

  /** The node that is worth looking at first: one that changes, that the pick gets, or the first that is not good, or any. */
  function best() {
    const all = places();
    const said = all.map((at) => model.mark(view.scene, at));
    const find = (/** @type {(mark: Mark) => unknown} */ test) =>
      all.find((at) => {
        const mark = said[at];
        return mark && test(mark);
      });
    const holds = (/** @type {object} */ of) => Object.keys(of).length > 0;
    const changed = scenes.length > 1 ? all.find((at) => model.touched(view.scene, at)) : undefined;
    const goes = model.alone() ? undefined : find((mark) => holds(mark[3]));
    if (changed !== undefined) return goes ?? changed;
    return (
      find((mark) => holds(mark[3]) || holds(mark[5])) ??
      (model.alone() ? undefined : find((mark) => mark[0] === "bad")) ??
      find((mark) => mark[0] === "good") ??
      find((mark) => mark[0] === "bad" && holds(mark[4])) ??
      find((mark) => mark[0] === "bad") ??
      all.find((at) => model.layoutOf(view.scene, at).devices.length) ??
      all[0]
    );
  }

  function show(/** @type {number} */ scene) {
    view.scene = scene;
    for (const each of root.querySelectorAll(".which button"))
      each.setAttribute("aria-pressed", String(each.textContent === scenes[scene].title));
    draw(true);
    turned();
  }

  if (root) {
    document.documentElement.classList.toggle("few", small);
    part("group-label").hidden = small;
    part("group-by").addEventListener("change", (event) => {
      view.group = /** @type {HTMLSelectElement} */ (event.target).value;
      draw();
    });
    const filter = /** @type {HTMLInputElement} */ (document.getElementById("filter"));
    filter.addEventListener("input", () => {
      view.wanted = filter.value;
      narrow();
    });
    filter.addEventListener("keydown", ({ key }) => {
      if (key === "Enter") /** @type {HTMLElement | null} */ (root.querySelector(".hits a"))?.click();
    });
    let wide = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth === wide) return;
      wide = window.innerWidth;
      if (small) drawWays();
      else draw(true);
    });
    if (scenes.length > 1 && !small)
      part("which").replaceChildren(
        ...scenes.map((scene, at) => {
          const made = el(
            "button",
            { type: "button", "aria-pressed": at === view.scene ? "true" : "false" },
            scene.title,
          );
          made.addEventListener("click", () => show(at));
          return made;
        }),
      );
  }
  return {
    draw,
    open,
    best,
    flush: () => {
      if (root && !small) tiles.flush();
    },
    view,
    small,
  };
}
