// The tiles: a node each, painted as a few shapes; over them lie links, which get their words once that is painted.

import { el, svg } from "./draw.js";
import { entry, sum } from "./model.js";

const SIZES = [44, 36, 30, 26, 24, 22, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6];
const BELOW_HEADING = 12;
const LEAST = 21;
const LEAST_SEEN = 10;
const MANY = 2000;
/** Runs once the browser is idle, or after a second; in Safari, which cannot say so, after what is due now. @type {(run: (deadline: IdleDeadline) => void) => number} */
const whenIdle =
  "requestIdleCallback" in window
    ? (run) => requestIdleCallback(run, { timeout: 1000 })
    : (run) => setTimeout(run, 0, { didTimeout: true, timeRemaining: () => 0 });
const cancel = "cancelIdleCallback" in window ? cancelIdleCallback : clearTimeout;
const gapOf = (/** @type {number} */ size) => (size > 14 ? 3 : size > 9 ? 2 : 1);

/** @param {HTMLElement} holder @param {{ look: Of<Look>, name: Of<string>, href: Of<string>, list: (group: string) => void }} of */
export function makeTiles(holder, of) {
  /** @type {DrawnGroup[]} */
  let groups = [];
  /** @type {Map<Place, HTMLElement>} */
  let links = new Map();
  let [size, columns, drawn, timer] = [0, 1, "", 0];
  /** @type {WeakMap<HTMLElement, string>} what links say already */
  const said = new WeakMap();
  /** @type {Place | undefined} */
  let current;
  /** @type {HTMLElement | undefined} its link */
  let open;
  /** A frame around it: a link that looks different would have all links painted again. */
  const spot = el("div.spot");
  /** @type {string[]} the outlines of tiles, each followed by those of eight fills */
  let outlines = [];
  /** @type {HTMLElement | undefined} the link at which the Tab key stops */
  let stop;

  function draw(/** @type {Group[]} */ wanted, anew = false) {
    const now = JSON.stringify(wanted.map(({ name, own }) => [name, own.length]));
    const other = anew || now !== drawn;
    drawn = now;
    if (other) groups = wanted.map(begin);
    if (other) holder.replaceChildren(...groups.map(({ section }) => section));
    links = new Map();
    for (const [at, { more, own }] of wanted.entries()) {
      groups[at].own = own;
      groups[at].more.textContent = more;
      for (const [slot, place] of own.entries()) links.set(place, groups[at].links[slot]);
    }
    if (other) fit(true);
    repaint();
  }

  /** @type {(group: Group, at: number) => DrawnGroup} */
  function begin({ name, own }, at) {
    const [more, paint] = [el("span.more"), svg("svg.paint", { "aria-hidden": "true" })];
    const links = own.map(() => el("a.tile", { tabindex: -1 }));
    const tiles = el("div.tiles", links);
    const button = el("button.list", { type: "button", title: "List these nodes" }, el("bdi", name));
    button.addEventListener("click", () => of.list(name));
    const title = el("h3", { id: "group-" + at }, button, " ", more);
    const drawn = el("div.drawn", paint, tiles);
    const section = el("section.group", { "aria-labelledby": title.id }, title, drawn);
    return { own, section, more, drawn, tiles, paint, links };
  }

  /** The largest tiles with which all groups are on the screen; those that there are stay while they fit; says whether they changed. */
  function fit(anew = false) {
    const wide = holder.clientWidth || 600;
    const hits = holder.parentElement?.querySelector(".hits")?.clientHeight || 0; // which come and go
    const top = holder.getBoundingClientRect().top - hits;
    const high = Math.max(200, window.innerHeight - top - window.scrollY - 32);
    const across = (/** @type {number} */ each) => Math.max(1, Math.floor((wide + gapOf(each)) / (each + gapOf(each))));
    const headings = sum(groups.map(({ section }) => section.children[0].clientHeight + BELOW_HEADING));
    const rows = (/** @type {number} */ each) => sum(groups.map(({ own }) => Math.ceil(own.length / across(each))));
    const fits = (/** @type {number} */ each) => headings + rows(each) * (each + gapOf(each)) <= high;
    if (!anew && across(size) === columns && fits(size)) return false;
    const least = links.size > MANY ? 0 : LEAST_SEEN;
    const best = SIZES.find((each) => each >= least && fits(each)) || 0;
    size = best && window.innerWidth >= 1080 ? best : Math.max(best, LEAST); // what has to be scrolled can be tapped
    columns = across(size);
    outlines = [];
    holder.classList.toggle("tiny", size < 10);
    for (const { tiles } of groups)
      Object.assign(tiles.style, {
        gridTemplateColumns: `repeat(${columns}, ${size}px)`,
        gridAutoRows: size + "px",
        gap: gapOf(size) + "px",
      });
    return true;
  }

  /** Paints all tiles as they look now. Whether they still fit, and what their links say, follows once that is seen. */
  function repaint(isSeen = false) {
    groups.forEach(paint);
    mark(current);
    holder.setAttribute("aria-busy", "true");
    cancel(timer);
    const work = words();
    timer = whenIdle((deadline) => {
      if (!isSeen && fit()) repaint(true);
      else go(work, deadline);
    });
  }

  /** Where a tile begins. */
  function corner(/** @type {number} */ slot) {
    const step = size + gapOf(size);
    return [(slot % columns) * step, Math.floor(slot / columns) * step];
  }

  /** The outline of a tile, or of the eighths of it that are filled. */
  function outline(/** @type {number} */ slot, /** @type {number} */ fill) {
    const known = outlines[9 * slot + fill];
    if (known) return known;
    const edge = fill || size < 10 ? 0 : 0.5;
    const [wide, high] = [size - 2 * edge, fill ? (size * fill) / 8 : size - 2 * edge];
    const [left, top] = corner(slot);
    const made = `M${left + edge} ${top + size - edge - high}h${wide}v${high}h-${wide}z`;
    outlines[9 * slot + fill] = made;
    return made;
  }

  /** One shape for all tiles that look alike: backs, what is full, hatches, rings. */
  function paint(/** @type {DrawnGroup} */ { own, paint }) {
    const step = size + gapOf(size);
    /** @type {Map<string, string[]>} */
    const shapes = new Map();
    const add = (/** @type {string} */ to, /** @type {string} */ d) => entry(shapes, to, () => []).push(d);
    for (const [slot, place] of own.entries()) {
      const { look, fill, away, touched, dim } = of.look(place);
      const more = dim ? ".dim" : "";
      const square = outline(slot, 0);
      add("0.back." + look + more, square);
      if (fill) add("1.full." + look + more, outline(slot, fill));
      if (away) add("2.hatched" + more, square);
      if (touched) add("3.ring" + more, square);
    }
    const [width, height] = [columns * step, Math.ceil(own.length / columns) * step];
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
      paint.setAttribute(name, String(value));
    const layers = [...shapes].sort(([one], [other]) => (one < other ? -1 : 1));
    paint.replaceChildren(...layers.map(([name, d]) => svg("path" + name.slice(1), { d: d.join("") })));
  }

  /** What each link says and where it leads, as far as that is another. */
  function* words() {
    for (const [place, link] of links) {
      const { look, away, touched, dim } = of.look(place);
      const name = of.name(place);
      const marks = [look, away && "away", touched && "touched", dim && "dim"].filter(Boolean).join(" ");
      const all = `${name}\n${marks}`;
      if (said.get(link) !== all) {
        link.setAttribute("href", of.href(place));
        link.setAttribute("aria-label", name);
        link.setAttribute("data-look", marks);
      }
      said.set(link, all);
      yield;
    }
    holder.removeAttribute("aria-busy");
  }

  /** @type {(work: Generator, deadline: IdleDeadline) => void} */
  function go(work, deadline) {
    while (deadline.timeRemaining() > 2 || deadline.didTimeout) if (work.next().done) return;
    timer = whenIdle((next) => go(work, next));
  }

  /** All words now, before anyone asks for them. */
  function flush() {
    cancel(timer);
    if (holder.hasAttribute("aria-busy")) for (const _ of words());
  }

  /** The place that is open; the Tab key stops at its link. */
  function mark(/** @type {Place | undefined} */ place) {
    open?.removeAttribute("aria-current");
    current = place;
    open = place && links.get(place);
    open?.setAttribute("aria-current", "true");
    const group = open && groups.find(({ own }) => place && own.includes(place));
    if (!group || !place) spot.remove();
    else {
      const [left, top] = corner(group.own.indexOf(place)).map((at) => at + "px");
      Object.assign(spot.style, { left, top, width: size + "px", height: size + "px" });
      if (spot.parentElement !== group.drawn) group.drawn.append(spot);
    }
    stopAt(open || (stop?.isConnected ? stop : groups[0]?.links[0]));
  }

  function stopAt(/** @type {HTMLElement | undefined} */ tile) {
    stop?.setAttribute("tabindex", "-1");
    stop = tile;
    stop?.setAttribute("tabindex", "0");
  }

  /** Arrows go from tile to tile, also from group to group. */
  function keys(/** @type {KeyboardEvent} */ event) {
    const from = /** @type {HTMLElement} */ (event.target);
    const rows = groups.flatMap(({ links }) =>
      [...Array(Math.ceil(links.length / columns)).keys()].map((row) =>
        links.slice(row * columns, (row + 1) * columns),
      ),
    );
    const row = rows.findIndex((each) => each.includes(from));
    if (row < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const isShown = (/** @type {HTMLElement} */ link) => link === from || !link.dataset.look?.includes("dim");
    const all = rows.flat().filter(isShown);
    const [at, slot] = [all.indexOf(from), rows[row].indexOf(from)];
    /** The nearest link of the first of these rows that has one. */
    const across = (/** @type {HTMLElement[][]} */ others) => {
      const other = others.find((each) => each.some(isShown)) || [];
      const far = (/** @type {HTMLElement} */ link) => Math.abs(other.indexOf(link) - slot);
      return other.filter(isShown).sort((one, two) => far(one) - far(two))[0];
    };
    /** @type {Record<string, HTMLElement | undefined>} */
    const ways = {
      ...{ ArrowRight: all[at + 1], ArrowLeft: all[at - 1], Home: all[0], End: all[all.length - 1] },
      ...{ ArrowDown: across(rows.slice(row + 1)), ArrowUp: across(rows.slice(0, row).reverse()) },
    };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const to = ways[event.key];
    if (to) stopAt(to);
    to?.focus();
  }

  /** What a link says is seen while the pointer is on it. */
  holder.addEventListener("pointerover", ({ target }) => {
    if (target instanceof HTMLElement && target.matches(".tile"))
      target.title = target.getAttribute("aria-label") || "";
  });
  for (const name of ["pointerdown", "pointerover", "keydown", "focusin"]) holder.addEventListener(name, flush, true);
  window.addEventListener("beforeprint", flush);
  holder.addEventListener("keydown", keys);
  return { draw, repaint, flush, mark, link: (/** @type {Place} */ place) => links.get(place) };
}
