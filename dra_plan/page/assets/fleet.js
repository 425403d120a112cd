// The fleet: every node on one screen, grouped, told apart by what is said of it, filtered and searched.

import { bar, el, placeAddress, placeLink, svg, toggles } from "./draw.js";
import { leftOf } from "./left.js";
import { counted, entry, holds, number, sum } from "./model.js";
import { makeTiles } from "./tiles.js";

const MOST_CARDS = 24;
const MOST_BOXES = 320;
const MOST_HITS = 300;
const MOST_REASONS = 5;
const MOST_WAYS = 60;
const USES = ["wholly free", "partly free", "nothing free"];
const TONES = ["good", "bad", "other", "plain"];
const LOOKS = ["u0", "u1", "u2", "u3", "away"];

/** @param {Model} model @param {Drawing} drawing @param {{ turned: () => void, found: (place: Place) => void, changed: () => void }} told of the other picture, of the only node that is found, and of another view */
export function makeFleet(model, drawing, told) {
  const { scenes, text } = model;
  const root = /** @type {HTMLElement} */ (document.getElementById("fleet"));
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (root.querySelector("." + name));
  const boxes = (/** @type {Scene} */ { places }) => sum(places.map(({ layout }) => layout.devices.length));
  const small = scenes.every((scene) => scene.places.length <= MOST_CARDS && boxes(scene) <= MOST_BOXES);
  const view = { scene: scenes.length - 1, group: "model", within: "", reason: "", wanted: "" };
  const places = () => scenes[view.scene].places;
  /** @type {{ of: Reason[], all: Reason[] }} why nodes differ: of each place, and all of them, the commonest first */
  let now = { of: [], all: [] };
  /** @type {Map<Place, Hit> | undefined} what the search finds */
  let hits;
  /** @type {Place | undefined} */
  let opened;
  /** @type {Of<boolean>} */
  const kept = (place) =>
    (!hits || hits.has(place)) &&
    (!view.reason || now.of[place.at].key === view.reason) &&
    (!view.within || groupOf()(place) === view.within);
  const field = /** @type {HTMLInputElement} */ (document.getElementById("filter"));
  const tiles = root && makeTiles(part("groups"), { look, name: nameOf, href: placeAddress, list });

  // -- why nodes differ, and groups ---------------------------------------------------------------------------------------

  function reasons() {
    /** @type {Map<string, Reason>} */
    const found = new Map();
    const of = places().map((place) => {
      const [tone, label, why] = model.verdict(place) || ["plain", null, null];
      const more = (tone === "bad" || (tone === "other" && model.alone())) && text(why);
      const [key, look] = tone === "plain" ? usage(place) : [text(label) + (more ? ": " + more : ""), tone];
      const isNear = model.alone() && tone !== "good" && model.handles(place);
      const reason = entry(found, key, () => ({ key, tone, look, isNear, count: 0 }));
      reason.count += 1;
      return reason;
    });
    const rank = (/** @type {Reason} */ { tone, look, isNear }) =>
      isNear ? 0.5 : TONES.indexOf(tone) + (tone === "plain" ? LOOKS.indexOf(look) / 10 : 0);
    const all = [...found.values()].sort((one, other) => rank(one) - rank(other) || other.count - one.count);
    for (const [tone, most] of /** @type {[Tone, number][]} */ ([
      ["bad", 3],
      ["other", 2],
    ]))
      for (const [at, each] of all.filter((reason) => reason.tone === tone).entries())
        each.look = tone + Math.min(at, most);
    return { of, all };
  }

  /** How much of a place is used, in words, and the class of that: of the leading driver, where there are several. */
  function usage(/** @type {Place} */ place) {
    const { leads } = scenes[view.scene];
    if (place.away !== undefined) return ["keeps pods away", "away"];
    if (!place.layout.devices.length) return ["no devices", "u3"];
    if (!model.leading(place).length) return ["no " + leads, "u3"];
    const used = model.used(place);
    const step = used <= 0 ? 0 : used >= 1 ? 2 : 1;
    return [leads ? `${leads} ${USES[step]}` : USES[step], "u" + step];
  }

  /** @type {Of<string>} */
  const kind = ({ layout }) => text(layout.kind);
  /** @type {Of<string>} */
  function together(place) {
    const found = model.together(place);
    if (!found) return kind(place);
    const { most, by } = found;
    return `${found.model}: ${most || "none"} free${by && most > 1 ? " in one " + by : most === 1 ? ", each alone" : ""}`;
  }

  /** By what the fleet can be grouped: the name of a place's group, and the option's. @type {() => Record<string, [string, Of<string>]>} */
  const groupings = () => ({
    model: ["model", kind],
    said: [model.picked() < 0 ? "use" : "answer", (place) => now.of[place.at].key],
    together: ["free together", together],
    away: ["what keeps pods away", ({ away }) => text(away) || "takes pods"],
    ...Object.fromEntries(
      scenes[view.scene].labels.map((name, at) => [
        "label:" + name,
        [
          `${name.split("/").pop()} (${name})`,
          (/** @type {Place} */ { labels }) => text(labels?.[at]) || "without the label",
        ],
      ]),
    ),
  });

  const groupOf = () => (groupings()[view.group] || groupings().model)[1];

  /** Lists the nodes of a group, or those of all again. */
  function list(/** @type {string} */ name) {
    view.within = view.within === name ? "" : name;
    narrow();
    told.changed();
  }

  // -- tiles ----------------------------------------------------------------------------------------------------------------

  /** @type {Of<string>} */
  function nameOf(place) {
    const counts = model.standing(place).map((each) => `${each.free} of ${each.total} ${each.name} free`);
    return [place.name, now.of[place.at].key, counts.join(", "), text(place.away)].filter(Boolean).join("; ");
  }

  const fill = (/** @type {Place} */ place) => Math.ceil(model.used(place) * 8 - 0.001);
  function look(/** @type {Place} */ place) {
    const [away, touched] = [place.away !== undefined, model.touched(place)];
    return { look: now.of[place.at].look, fill: fill(place), away, touched, dim: !kept(place) };
  }

  function drawTiles(anew = false) {
    const of = groupOf();
    /** @type {Map<string, Place[]>} */
    const groups = new Map();
    /** @type {Place[][]} those of the first reason first, and of each reason those that are less full */
    const ranked = [];
    const rank = new Map(now.all.map((reason, at) => [reason, 10 * at]));
    for (const place of places()) {
      const at = (rank.get(now.of[place.at]) || 0) + fill(place);
      ranked[at] ??= [];
      ranked[at].push(place);
    }
    for (const place of ranked.flat()) entry(groups, of(place), () => []).push(place);
    if (!groups.has(view.within)) view.within = "";
    const good = now.all.filter(({ tone }) => tone === "good");
    const more = (/** @type {Place[]} */ own) => {
      const fits = own.filter((place) => now.of[place.at] === good[0]).length;
      const said = good.length === 1 && fits ? [`${good[0].key.replace(": ", ", ")}: ${number(fits)}`] : [];
      const away = view.group === "away" ? 0 : own.filter((place) => place.away !== undefined).length;
      if (away) said.push(`${number(away)} ${away === 1 ? "keeps" : "keep"} pods away`);
      return [counted(own.length, "node"), ...said, ...(view.group === "model" ? [] : free(own))].join(", ");
    };
    const most = (/** @type {Place[]} */ [first]) => {
      if (view.group === "away") return first.away === undefined ? 0 : 1;
      return (view.group === "together" && model.together(first)?.most) || 0;
    };
    const sorted = [...groups].sort(
      ([one, first], [other, second]) => most(second) - most(first) || (one < other ? -1 : 1),
    );
    tiles.draw(
      sorted.map(([name, own]) => ({ name, own, more: more(own) })),
      anew,
    );
  }

  /** What is free in a group: of all models of the leading driver, if they are several, and of each model. */
  function free(/** @type {Place[]} */ own) {
    const all = leftOf(model, own);
    const leading = all.filter(({ leads }) => leads);
    const [free, total] = [sum(leading.map((each) => each.free)), sum(leading.map((each) => each.total))];
    const named = (/** @type {string} */ name) => (view.group === "together" ? "" : name + " ");
    const parts = all.map((each) => `${number(each.free)} of ${number(each.total)} ${named(each.name)}free`);
    return leading.length > 1 ? [`${number(free)} of ${number(total)} devices free`, ...parts] : parts;
  }

  function drawCards() {
    const several = scenes.length > 1;
    const shown = scenes.map((scene) => {
      const cards = scene.places.map((place) => {
        const made = drawing.card(place, several ? "h4" : "h3");
        made.classList.toggle("touched", several && model.touched(place));
        if (place.scene === view.scene) made.classList.add("look", now.of[place.at].look);
        return made;
      });
      return el("div.scene", several && el("h3.scene-title", scene.title), cards);
    });
    part("groups").replaceChildren(el("div.scenes", shown));
  }

  const inNumber = (/** @type {string} */ key, /** @type {number} */ count) =>
    count === 1 ? key : key.replace(/^keeps /, "keep ");

  function drawReasons(all = now.all.findIndex(({ key }) => key === view.reason) >= MOST_REASONS) {
    const most = now.all.length === MOST_REASONS + 1 ? MOST_REASONS + 1 : MOST_REASONS;
    const rest = now.all.slice(most);
    const more = `${number(sum(rest.map(({ count }) => count)))} for ${counted(rest.length, "other reason")}`;
    const act = (/** @type {string} */ key) => {
      view.reason = view.reason === key ? "" : key;
      narrow();
      told.changed();
    };
    /** @type {[string, string, Part[]][]} */
    const chips = now.all
      .slice(0, all ? undefined : most)
      .map(({ key, look, count }) => [
        key,
        ".reason." + look,
        [el("b", number(count)), " · ", el("span", inNumber(key, count))],
      ]);
    toggles(part("reasons"), chips, (key) => key === view.reason, act);
    if (!all && rest.length) {
      const button = el("button.rest", { type: "button", "aria-expanded": "false" }, more);
      button.addEventListener("click", () => drawReasons(true));
      part("reasons").append(button);
    }
    /** @type {[string, number][]} */
    const pieces = now.all.map((each) => ["piece." + each.look, (100 * each.count) / places().length]);
    part("share").replaceChildren(bar(pieces, ".share-bar"));
  }

  // -- what the chips and the search leave: the others are dimmed, or of a few nodes not shown --------------------------------

  function find() {
    const wanted = view.wanted.trim().toLowerCase();
    hits = wanted ? model.search(scenes[view.scene], wanted) : undefined;
  }

  function narrow() {
    find();
    if (small) hideCards();
    else tiles.repaint();
    tell();
    const left = places().filter(kept);
    const isOut = opened && !kept(opened);
    if (left.length && (isOut || (hits && left.length === 1))) told.found(left[0]);
  }

  /** @type {() => Iterable<HTMLElement>} */
  const cards = () => root.querySelectorAll(".card");
  /** @type {(card: HTMLElement) => Place} */
  const placeOf = ({ dataset }) => scenes[Number(dataset.scene)].places[Number(dataset.place)];
  function hideCards() {
    for (const card of cards()) {
      const place = model.counterpart(placeOf(card), view.scene);
      card.hidden = place ? !kept(place) : Boolean(hits || view.reason);
    }
  }

  /** What keeps pods away, and how much is free there. @type {Of<string>} */
  function awayOf(place) {
    const free = model.standing(place).map((each) => `${each.free} of ${each.total} ${each.name} free`);
    return place.away === undefined ? "" : [text(place.away), ...free].join(", ");
  }

  /** How many are left, and their names, with the devices that the search finds. */
  function tell() {
    const left = places().filter(kept);
    const devices = sum(left.map((place) => hits?.get(place)?.devices.length || 0));
    const count = `${number(left.length)} of ${counted(places().length, "node")}`;
    const more = devices ? ", " + counted(devices, "device") : "";
    const cut = scenes[view.scene].keeps_ids ? "" : " Attributes such as UUIDs are left out of a page of this size.";
    const none = hits && !left.length && `Nothing found for “${view.wanted.trim()}”.${cut}`;
    part("count").textContent = none || count + more;
    /** Nodes that keep pods away by what does, the others first. */
    const rank = (/** @type {Place} */ place) => text(place.away) + " " + place.name;
    const listed =
      hits || view.reason || view.within ? left.sort((one, other) => (rank(one) < rank(other) ? -1 : 1)) : [];
    const lines = listed.slice(0, MOST_HITS).flatMap((place) => {
      const { named, devices } = hits?.get(place) || { named: true, devices: [] };
      const why = text(model.mark(place)?.[7]) || awayOf(place);
      if (named || !devices.length) return [el(why ? "li" : "li.only", placeLink(place), why && ": " + why)];
      return devices.map((device) => {
        const [, word, more] = drawing.said(model.device(place, device));
        const ids = (place.ids?.[device] || [])
          .map(text)
          .filter((id) => view.wanted && id.includes(view.wanted.trim()));
        const said = [word, more, ...ids].filter(Boolean).join(", ");
        return el("li", place.layout.devices[device] + " on ", placeLink(place), ": " + said);
      });
    });
    const isCut = Math.max(listed.length, lines.length) > MOST_HITS;
    const note = isCut ? [el("li", `The first ${number(MOST_HITS)} are listed.`)] : [];
    part("hits").replaceChildren(...lines.slice(0, MOST_HITS), ...note);
  }

  function draw(anew = false) {
    if (!root) return;
    now = reasons();
    if (!now.all.some(({ key }) => key === view.reason)) view.reason = "";
    const { leads } = scenes[view.scene];
    part("filled-by").textContent = leads ? `its ${leads} devices are` : "it is";
    find();
    const options = Object.entries(groupings()).map(([value, [name]]) =>
      el("option", { value, selected: value === view.group }, name),
    );
    part("group-by").replaceChildren(...options);
    drawReasons();
    tell(); // before the tiles, which take what is left of the screen
    if (small) drawCards();
    else drawTiles(anew);
    if (small) hideCards();
    drawWays();
  }

  // -- arrows: from each node to the one that its pods go to, where two pictures stand side by side from one to the other ----

  function drawWays() {
    const groups = part("groups");
    groups.querySelector(".ways")?.remove();
    const ways = (model.chosen()?.ways || []).slice(0, MOST_WAYS);
    if (!ways.length) return;
    const [from, to] = small ? [0, scenes.length - 1] : [view.scene, view.scene];
    const origin = groups.getBoundingClientRect();
    /** The box of a node, and its middle, on the ground of the groups. @type {(scene: number, name: Texts) => [number, number, number] | undefined} */
    const middle = (scene, name) => {
      const place = scenes[scene].byName.get(text(name));
      const drawn = place && (small ? [...cards()].find((card) => placeOf(card) === place) : tiles.link(place));
      const box = drawn?.getBoundingClientRect();
      if (!box) return undefined;
      return [box.left - origin.left + box.width / 2, box.top - origin.top + (small ? 20 : box.height / 2), box.width];
    };
    const lines = ways.flatMap(([one, other, count]) => {
      const [start, end] = [middle(from, one), middle(to, other)];
      if (!start || !end) return [];
      const [[x, y], [u, v, width]] = [start, end];
      const last = u + (small ? Math.sign(x - u) * width * 0.45 : 0);
      const bend = Math.max(14, Math.abs(last - x) / 5);
      const d = `M${x} ${y}Q${(x + last) / 2} ${Math.min(y, v) - bend} ${last} ${v}`;
      return [svg("path.way", { d, "stroke-width": Math.min(6, 1 + count), "marker-end": "url(#arrow)" })];
    });
    const size = { "aria-hidden": "true", width: groups.scrollWidth, height: groups.scrollHeight };
    groups.append(svg("svg.ways", size, lines));
  }

  // -- what one does ------------------------------------------------------------------------------------------------------

  /** The node that is open; of nodes that are drawn whole, the fleet scrolls to it. */
  function open(/** @type {Place | undefined} */ place, reveal = false) {
    if (!root) return;
    opened = place;
    if (!small) return tiles.mark(place);
    for (const card of cards()) {
      const isIt = placeOf(card).at === place?.at;
      card.toggleAttribute("aria-current", isIt);
      if (isIt) card.setAttribute("aria-current", "true");
      if (isIt && reveal && placeOf(card).scene === scenes.length - 1) card.scrollIntoView({ block: "nearest" });
    }
  }

  /** The node that is worth looking at first: one that the pick gets, that changes, that lacks least, or any. */
  function best() {
    const all = places();
    const tone = (/** @type {Place} */ place) => model.mark(place)?.[0];
    /** @type {(() => Place | undefined)[]} the likeliest first */
    const ways = [
      () => all.find((place) => model.handles(place) && (!model.alone() || tone(place) === "good")),
      () => all.find(({ differs }) => differs),
      () => (model.alone() ? undefined : all.find((place) => tone(place) === "bad")),
      () => all.find((place) => tone(place) === "good"),
      () => all.find(model.handles),
      () => nearest(all.filter((place) => tone(place) === "bad")),
      () => all.find((place) => place.layout.devices.length > 0 && model.used(place) < 1),
    ];
    for (const way of ways) {
      const found = way();
      if (found) return found;
    }
    return all[0];
  }

  /** Of nodes that are not good the one with the most free devices that the pick does not rule out. */
  function nearest(/** @type {Place[]} */ bad) {
    /** @type {Place | undefined} */
    let found;
    let most = -1;
    for (const place of bad) {
      const [, , , , notes, , others] = /** @type {Mark} */ (model.mark(place));
      const isOpen = (/** @type {string} */ letter, /** @type {number} */ at) =>
        letter === "f" && !(at in notes) && !(at in others);
      const left = holds(notes) || holds(others) ? model.letters(place).filter(isOpen).length : -0.5;
      if (left > most) [found, most] = [place, left];
    }
    return found;
  }

  function show(/** @type {number} */ scene) {
    view.scene = scene;
    draw(true);
    told.turned();
    told.changed();
  }

  /** What the view shows, as parts of an address; of the view as it opens none. */
  function parts() {
    const { group, within, scene, reason, wanted } = view;
    const picture = scene === scenes.length - 1 ? "" : String(scene);
    const all = { group: group === "model" ? "" : group, within, picture, only: reason, find: wanted.trim() };
    return Object.entries(all).filter(([, value]) => value);
  }
  /** Takes the view of an address; it is drawn next. */
  function become(/** @type {Map<string, string>} */ of) {
    const [scene, wanted] = [Number(of.get("picture") ?? scenes.length - 1), of.get("find") || ""];
    view.scene = scenes[scene] ? scene : scenes.length - 1;
    const within = of.get("within") || "";
    Object.assign(view, { group: of.get("group") || "model", within, reason: of.get("only") || "", wanted });
    if (root && field.value.trim() !== wanted) field.value = wanted;
    turns();
  }

  if (root) {
    document.documentElement.classList.toggle("few", small);
    part("group-label").hidden = small;
    part("group-by").addEventListener("change", (event) => {
      view.group = /** @type {HTMLSelectElement} */ (event.target).value;
      view.within = "";
      draw();
      told.changed();
    });
    field.addEventListener("input", () => {
      view.wanted = field.value;
      narrow();
      told.changed();
    });
    field.addEventListener("keydown", ({ key }) => {
      if (key === "Enter") /** @type {HTMLElement | null} */ (root.querySelector(".hits a"))?.click();
    });
    let wide = part("groups").clientWidth;
    new ResizeObserver(() => {
      if (part("groups").clientWidth === wide) return drawWays();
      wide = part("groups").clientWidth;
      requestAnimationFrame(() => (small ? drawWays() : draw(true)));
    }).observe(part("groups"));
  }
  /** The choice of a picture, where there are several and each fills the screen. */
  function turns() {
    /** @type {[number, string, Part[]][]} */
    const which = scenes.length > 1 && !small ? scenes.map(({ title }, at) => [at, "", [title]]) : [];
    if (root) toggles(part("which"), which, (at) => at === view.scene, show);
  }
  const found = (/** @type {Place} */ place) => hits?.get(place)?.devices || [];
  /** The tile that is open comes into view. */
  const reveal = () => opened && !small && tiles.link(opened)?.scrollIntoView({ block: "nearest" });
  return { draw, open, best, found, reveal, flush: () => root && !small && tiles.flush(), view, small, parts, become };
}
