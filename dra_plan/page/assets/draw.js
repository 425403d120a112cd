// Elements, and a node with its devices, drawn from the model. Text only ever becomes text.
import { number, STATE } from "./model.js";

/** An element with attributes (those that are false are left out) and children: elements or texts. */
export function el(
  /** @type {string} */ tag,
  /** @type {Attributes} */ attributes = {},
  /** @type {(Child | Child[])[]} */ ...children
) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  for (const child of children.flat()) if (child && child !== true) made.append(child);
  return made;
}
const SVG = "http://www.w3.org/2000/svg";
export function svg(
  /** @type {string} */ tag,
  /** @type {Attributes} */ attributes,
  /** @type {Node[]} */ ...children
) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}
export const address = (/** @type {string} */ name) => "#" + name.split("/").map(encodeURIComponent).join("/");
/** The address of a place: a node, or a pool that nodes share. */
export const placeAddress = (/** @type {Place} */ of) => address(of.shared ? of.name : "node/" + of.name);

/** A bar of 100; each piece has a class and a width. */
export function bar(/** @type {[string, number][]} */ pieces, classes = "") {
  let from = 0;
  const drawn = pieces.map(([name, width]) => {
    from += width;
    return svg("rect", { class: name, x: from - width, width, height: 6 });
  });
  const frame = { class: "bar " + classes, viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", frame, svg("rect", { class: "bar-all", width: 100, height: 6 }), ...drawn);
}

/** @param {Model} model */
export function makeDrawing(model) {
  const { data, scenes, text } = model;
  const { words } = data;

  /** What a box says of a device: its class, its state in words, and more. */
  function said(/** @type {DeviceNow} */ now) {
    const state = STATE[now.letter];
    if (now.gets !== undefined) return ["gets", data.gets, now.gets || now.detail];
    if (now.harm !== undefined) return ["no", data.harm, [now.harm, now.detail].filter(Boolean).join("; ")];
    if (now.note === undefined) return [state, words[state], now.detail];
    const offered = now.letter === "f" || now.letter === "s";
    const more = now.letter === "u" ? [now.detail || now.note] : [now.note, now.detail];
    const told = more.filter((each, at) => each && !more.slice(0, at).some((other) => other.includes(each)));
    return [offered ? "no" : state, words[state] + (offered ? ", " + words.no : ""), told.join("; ")];
  }

  /** A node, or a pool that nodes share, with its devices; `heading` is the tag of its name. @type {(scene: number, place: number, heading: string) => HTMLElement} */
  function card(scene, place, heading) {
    const of = scenes[scene].places[place];
    const layout = model.layoutOf(scene, place);
    const letters = model.letters(scene, place);

    /** @type {(at: number, classes?: string, hidden?: string) => HTMLElement} */
    function device(at, classes = "", hidden = "") {
      const [state, word, more] = said(model.device(scene, place, at));
      const title = `${layout.devices[at]}: ${word}${more ? ", " + more : ""}`;
      return el(
        "li",
        { class: "dev " + state + classes, "data-at": at, title },
        el("bdi", { class: "n" + hidden }, layout.devices[at]),
        " ",
        el("span", { class: "s" }, word),
        " ",
        el("span", { class: "d" + hidden }, more),
      );
    }
    const boxes = (/** @type {number[]} */ devices) =>
      el(
        "ul",
        { class: "devs" },
        devices.map((at) => device(at)),
      );

    /** @type {(frame: [Texts, number[]]) => HTMLElement} */
    function frame([name, devices]) {
      const label = text(name);
      const alone = devices.length > 1 && devices.filter((at) => letters[at].toLowerCase() === "f").length === 1;
      return el(
        "div",
        { class: "frame" + (label && " labelled") },
        label && el("p", { class: "label" }, el("bdi", {}, label), alone ? ": one free, alone" : ""),
        boxes(devices),
      );
    }

    const lane = (/** @type {string} */ name, /** @type {string} */ more, /** @type {HTMLElement} */ row) =>
      el(
        "div",
        { class: "lane" },
        el("p", { class: "lane-name" }, el("bdi", {}, name), " ", more && el("span", { class: "lane-count" }, more)),
        row,
      );

    /** Slots of one kind, with what is taken. @type {(physical: Physical, number: number, fixed: number[] | undefined) => HTMLElement} */
    function ruler(physical, at, fixed) {
      const [name, slots] = physical.slots[at];
      const lies = at === 0 && physical.covered;
      /** @type {Map<number, number>} */
      const over = lies
        ? model.slotsOf(physical, letters)
        : new Map(
            (fixed || [])
              .map((by, slot) => /** @type {[number, number]} */ ([slot + 1, by]))
              .filter(([, by]) => by >= 0),
          );
      const states = slots.map((_, slot) => {
        const by = over.get(slot + 1);
        if (by === undefined) return ["open", " free"];
        if (lies && letters[by] !== letters[by].toLowerCase()) return ["would", " " + data.gets];
        const holder = lies ? layout.devices[by] : text(by);
        return ["taken", " taken" + (holder && " by " + holder)];
      });
      const count = (/** @type {string} */ wanted) => states.filter(([state]) => state === wanted).length;
      const told = `${count("taken")} of ${slots.length} taken${count("would") ? `, ${count("would")} ${data.gets}` : ""}`;
      return lane(
        name,
        told,
        el(
          "ul",
          { class: "row c" + slots.length },
          slots.map((slot, column) =>
            el(
              "li",
              { class: `slot ${states[column][0]} x${column + 1}` },
              el("span", {}, String(slot)),
              el("span", { class: "hidden" }, states[column][1]),
            ),
          ),
        ),
      );
    }

    /** @type {(amount: [string, number], now: Amount | undefined) => Child} */
    function amount([name, pips], now) {
      if (!now) return "";
      const pip = (/** @type {number} */ at) => el("span", { class: "pip" + (at < now[1] ? " taken" : "") });
      const picture = pips
        ? el("span", { class: "pips", "aria-hidden": "true" }, [...Array(pips).keys()].map(pip))
        : bar(
            [
              ["bar-used", now[2]],
              ["bar-part", 100 - now[2]],
            ],
            "small",
          );
      return el(
        "li",
        { class: "amount" },
        el("bdi", { class: "amount-name" }, name),
        " ",
        el("span", { class: "left" }, text(now[0])),
        " ",
        picture,
      );
    }

    /** @type {(physical: Physical, fixed: number[][], left: Amount[]) => HTMLElement} */
    function physical(each, fixed, left) {
      const parts = (/** @type {[number, number, number][]} */ row) =>
        row.map(([start, wide, at]) => device(at, ` part x${start} w${wide}`, " hidden"));
      return el(
        "div",
        { class: "physical" },
        el("p", { class: "label" }, el("bdi", {}, each.name), " ", el("bdi", {}, each.model)),
        each.slots.map((_, at) => ruler(each, at, fixed[at])),
        each.rows.map(([profile, row]) => lane(profile, "", el("ul", { class: "row c" + each.columns }, parts(row)))),
        each.whole.length ? boxes(each.whole) : "",
        left.length
          ? el(
              "ul",
              { class: "amounts" },
              each.amounts.map((one, at) => amount(one, left[at])),
            )
          : "",
      );
    }

    const [slots, left] = [[...(of.slots || [])], [...model.amounts(scene, place)]];
    const pools = layout.pools.map((pool) =>
      el(
        "div",
        { class: "pool" },
        el(
          "p",
          { class: "pool-name" },
          el("bdi", {}, text(pool.driver)),
          " pool ",
          el("bdi", {}, pool.name === null ? of.name : text(pool.name)),
          pool.state && " ",
          pool.state && el("strong", { class: "pool-state" }, pool.state),
        ),
        el("div", { class: "frames" }, pool.frames.map(frame)),
        pool.physical.map((each) =>
          physical(each, slots.splice(0, each.slots.length), left.splice(0, each.amounts.length)),
        ),
      ),
    );
    const counts = model
      .models(scene, place)
      .map((each) =>
        el(
          "p",
          { class: "fill" },
          el("bdi", {}, each.name),
          ": ",
          el(
            "b",
            {},
            `${number(each.free)} of ${number(each.total)} free${each.gets ? `, ${number(each.gets)} given` : ""}${each.shared ? `, ${each.shared} shared` : ""}`,
          ),
          bar([["bar-part", (100 * each.free) / each.total]]),
        ),
      );
    const verdict = model.verdict(scene, place);
    const labels = scenes[scene].labels
      .flatMap((name, at) => (text(of.labels?.[at]) ? [`${name}=${text(of.labels?.[at])}`] : []))
      .join(", ");
    const reached = of.reached || [];
    const by = reached.slice(0, 6).join(", ") + (reached.length > 6 ? ` and ${reached.length - 6} more` : "");
    return el(
      "article",
      { class: "card" + (verdict?.label ? " verdict-" + verdict.tone : ""), "data-scene": scene, "data-place": place },
      el(
        "header",
        {},
        el(
          heading,
          { class: "card-title" },
          el("a", { class: "title", href: placeAddress(of) }, el("bdi", {}, of.name)),
          of.new ? [" ", el("span", { class: "badge new" }, "new")] : "",
        ),
        of.away && el("p", { class: "kept" }, "Keeps pods away: " + model.away(scene, place)),
        labels && el("p", { class: "labels" }, labels),
        verdict &&
          el("p", { class: "verdict" }, verdict.label, verdict.why && el("span", { class: "message" }, verdict.why)),
        layout.devices.length ? counts : el("p", { class: "fill" }, "no devices"),
        of.shared && el("p", { class: "fill" }, "Reached by " + (by || "no node of the input")),
      ),
      pools,
    );
  }

  return { card, said };
}
