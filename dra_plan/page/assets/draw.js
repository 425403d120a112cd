// Elements, and a node with its devices, drawn from the model. Text only ever becomes text.
import { number, STATE } from "./model.js";

/** @template {Element} T @param {T} made @param {string[]} classes @param {Part[]} parts @returns {T} */
function filled(made, classes, parts) {
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const part of parts.flat())
    if (typeof part === "string" || part instanceof Node) part && made.append(part);
    else
      for (const [name, value] of Object.entries(part || {}))
        if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  return made;
}

/** An element, written TAG.CLASS, with attributes and children; those that are false or "" are left out. */
export function el(/** @type {string} */ of, /** @type {Part[]} */ ...parts) {
  const [tag, ...classes] = of.split(".");
  return filled(document.createElement(tag), classes, parts);
}
export function svg(/** @type {string} */ of, /** @type {Part[]} */ ...parts) {
  const [tag, ...classes] = of.split(".");
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), classes, parts);
}
/** A text that may go on in the next line after a sign between words: a name is not broken inside of a word. */
const breakable = (/** @type {string} */ said) =>
  said.split(/(?<=[/=:])(?! )/).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));
export const bdi = (/** @type {string} */ name) => el("bdi", name);
/**
 * Puts buttons into an element; those whose value is chosen are pressed.
 * @template T @param {HTMLElement | null} holder @param {[value: T, classes: string, parts: Part[]][]} all @param {(value: T) => boolean} isChosen @param {(value: T) => void} act
 */
export function toggles(holder, all, isChosen, act) {
  const buttons = all.map(([, classes, parts]) => el("button" + classes, { type: "button" }, ...parts));
  const press = () => {
    for (const [at, each] of buttons.entries()) each.setAttribute("aria-pressed", String(isChosen(all[at][0])));
  };
  for (const [at, each] of buttons.entries())
    each.addEventListener("click", () => {
      act(all[at][0]);
      press();
    });
  press();
  holder?.replaceChildren(...buttons);
}
export const address = (/** @type {string} */ name) => "#" + name.split("/").map(encodeURIComponent).join("/");
/** The address of a place: a node, or a pool that nodes share. */
export const placeAddress = (/** @type {Place} */ of) => address(of.shared ? of.name : "node/" + of.name);
export const placeLink = (/** @type {Place} */ of) => el("a", { href: placeAddress(of) }, bdi(of.name));

/** A bar of 100; each piece has a class and a width. */
export function bar(/** @type {[string, number][]} */ pieces, classes = "") {
  let from = 0;
  const drawn = pieces.map(([name, width]) => {
    from += width;
    return svg("rect." + name, { x: from - width, width, height: 6 });
  });
  const frame = { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg.bar" + classes, frame, svg("rect.bar-all", { width: 100, height: 6 }), ...drawn);
}

/** @param {Model} model */
export function makeDrawing(model) {
  const { data, scenes, text } = model;

  /** What a box says of a device: its class, its state in words, and more. */
  function said(/** @type {DeviceNow} */ { letter, detail, gets, note, harm, other, has, near }) {
    const [state, word] = [STATE[letter], data.words[STATE[letter]]];
    if (gets !== undefined && near) return ["gets", data.words.fits, gets];
    if (gets !== undefined && has) return ["gets", word, detail];
    if (gets !== undefined) return ["gets", data.gets, gets || detail];
    if (harm !== undefined) return ["no", data.harm, [harm, detail].filter(Boolean).join("; ")];
    if (other !== undefined) return [state + ".aside", word, [detail, other].filter(Boolean).join("; ")];
    if (note === undefined) return [state, word, detail];
    const more = letter === "u" ? [detail || note] : [note, detail];
    const told = more.filter((each, at) => each && !more.slice(0, at).some((before) => before.includes(each)));
    const offered = letter === "f" || letter === "s";
    return [offered ? "no" : state, word + (offered ? ", " + data.words.no : ""), told.join("; ")];
  }

  /** A node, or a pool that nodes share, with its devices; `heading` is the tag of its name; `found` are told apart. @type {(place: Place, heading: string, found?: number[]) => HTMLElement} */
  function card(place, heading, found = []) {
    const { layout } = place;
    const letters = model.letters(place);

    function device(/** @type {number} */ at, classes = "", hidden = "") {
      const [state, word, more] = said(model.device(place, at));
      const name = layout.devices[at];
      const ids = (place.ids?.[at] || []).map(text).join(", ");
      const title = `${name}: ${word}${more && ", " + more}${ids && "; " + ids}`;
      const parts = [el("bdi.n" + hidden, name), " ", el("span.s", word), " ", el("span.d" + hidden, breakable(more))];
      if (found.length < layout.devices.length && found.includes(at)) {
        classes += ".found";
        parts.push(el("span.d" + hidden, ids));
      }
      return el(`li.dev.${state}${classes}`, { "data-at": at, title }, parts);
    }
    /** @type {(devices: number[]) => HTMLElement} */
    const boxes = (devices) => el("ul.devs", ...devices.map((at) => device(at)));

    /** @type {(frame: [Texts, number[]]) => HTMLElement} */
    function frame([name, devices]) {
      const label = text(name);
      const now = devices.map((at) => letters[at]).join("");
      const only = now.length > 1 && /^[^fA-Z]*f[^fA-Z]*$/.test(now) && ": only one is free";
      return el("div.frame" + (label && ".labelled"), label && el("p.label", bdi(label), only), boxes(devices));
    }

    /** @type {(name: string, more: string, columns: number, children: HTMLElement[]) => HTMLElement} */
    const lane = (name, more, columns, children) => {
      const title = el("p.lane-name", bdi(name), " ", more && el("span.lane-count", more));
      return el("div.lane", title, el("ul.row.c" + columns, children));
    };

    /** Slots of one kind, with what is taken; those of the first kind below the parts that lie over them. @type {(physical: Physical, at: number, fixed: number[] | undefined) => HTMLElement} */
    function ruler(physical, at, fixed = []) {
      const [name, slots] = physical.slots[at];
      const lies = at === 0 && physical.covered;
      const under = lies ? model.slotsOf(physical, letters) : undefined;
      const states = slots.map((_, slot) => {
        const by = under ? (under.get(slot + 1) ?? -1) : (fixed[slot] ?? -1);
        if (by < 0) return ["open", "free"];
        if (under && letters[by] !== letters[by].toLowerCase()) return ["would", data.gets];
        const holder = under ? layout.devices[by] : text(by);
        return ["taken", "taken" + (holder && " by " + holder)];
      });
      const count = (/** @type {string} */ wanted) => states.filter(([state]) => state === wanted).length;
      const would = count("would") && `, ${count("would")} ${data.gets}`;
      const drawn = slots.map((slot, column) => {
        const [state, word] = states[column];
        return el(`li.slot.${state}.x${column + 1}`, el("span", String(slot)), el("span.hidden", " " + word));
      });
      return lane(name, `${count("taken")} of ${slots.length} taken${would || ""}`, slots.length, drawn);
    }

    /** @type {(amount: [string, number], now: Amount | undefined) => Part} */
    function amount([name, pips], now) {
      if (!now) return "";
      const [left, taken, share] = now;
      const all = [...Array(pips).keys()].map((at) => el("span.pip" + (at < taken ? ".taken" : "")));
      const pieces = /** @type {[string, number][]} */ ([
        ["bar-used", share],
        ["bar-part", 100 - share],
      ]);
      const picture = pips ? el("span.pips", { "aria-hidden": "true" }, all) : bar(pieces, ".small");
      return el("li.amount", el("bdi.amount-name", name), " ", el("span.left", text(left)), " ", picture);
    }

    /** @type {(physical: Physical, fixed: number[][], left: Amount[]) => HTMLElement} */
    function physical(each, fixed, left) {
      const rows = each.rows.map(([profile, row]) => {
        const parts = row.map(([start, wide, at]) => device(at, `.part.x${start}.w${wide}`, ".hidden"));
        return lane(profile, "", each.columns, parts);
      });
      const amounts = el("ul.amounts", ...each.amounts.map((one, at) => amount(one, left[at])));
      const title = el("p.label", bdi(each.name), " ", bdi(each.model));
      const rulers = each.slots.map((_, at) => ruler(each, at, fixed[at]));
      return el(
        "div.physical",
        title,
        rulers,
        rows,
        each.whole.length > 0 && boxes(each.whole),
        left.length > 0 && amounts,
      );
    }

    const [slots, left] = [[...(place.slots || [])], [...model.amounts(place)]];
    const pools = layout.pools.map((pool) => {
      const state = pool.state && el("strong.pool-state", pool.state);
      const name = pool.name === null ? place.name : text(pool.name);
      return el(
        "div.pool",
        el("p.pool-name", bdi(text(pool.driver)), " pool ", bdi(name), state && " ", state),
        el("div.frames", ...pool.frames.map(frame)),
        pool.physical.map((each) =>
          physical(each, slots.splice(0, each.slots.length), left.splice(0, each.amounts.length)),
        ),
      );
    });
    const counts = model.models(place).map(({ name, free, total, gets, shared }) => {
      const more = [gets && `, ${number(gets)} given`, shared && `, ${number(shared)} shared`].filter(Boolean).join("");
      const said = el("b", `${number(free)} of ${number(total)} free${more}`);
      return el("p.fill", bdi(name), ": ", said, bar([["bar-part", (100 * free) / total]]));
    });
    const [tone, label, message, , , , , own] = model.verdict(place) || ["", null, null];
    const why = text(own) || text(message);
    const named = scenes[place.scene].labels.map((name, at) => [name, text(place.labels?.[at])]);
    const labels = named.flatMap(([name, value]) => (value ? [`${name}=${value}`] : [])).join(", ");
    const title = el("a.title", { href: placeAddress(place) }, bdi(place.name));
    return el(
      "article.card" + (text(label) && ".verdict-" + tone),
      { "data-scene": place.scene, "data-place": place.at },
      el(
        "header",
        el(heading + ".card-title", title, place.new && " ", place.new && el("span.badge.new", "new")),
        place.away !== undefined && el("p.kept", "Keeps pods away: " + text(place.away)),
        labels && el("p.labels", labels),
        tone && el("p.verdict", text(label), why && el("span.message", why)),
        layout.devices.length ? counts : el("p.fill", "no devices"),
        place.reached && el("p.fill", "Reached by " + place.reached),
      ),
      pools,
    );
  }

  return { card, said };
}
