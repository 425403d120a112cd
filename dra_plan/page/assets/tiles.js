// The tiles: a node each, painted as a few shapes; over them lie links, which get their words once that is painted.

import { el, svg } from "./draw.js";
import { entry, sum } from "./model.js";

const SIZES = [26, 24, 22, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6];
const BELOW_HEADING = 9;
const LEAST = 14;
const AT_ONCE = 500;
const gapOf = (/** @type {number} */ size) => (size > 14 ? 3 : size > 9 ? 2 : 1);

/** @param {HTMLElement} holder @param {{ look: (at: number) => Look, name: (at: number) => string, href: (at: number) => string }} of */
export function makeTiles(holder, of) {
  /** @type {DrawnGroup[]} */
  let groups = [];
  let [size, columns, drawn, timer, current] = [0, 1, "", 0, -1];
  /** @type {HTMLElement | undefined} */
  let open;
  /** @type {HTMLElement | undefined} */
  let stop;

  function draw(/** @type {Group[]} */ wanted, anew = false) {
    const now = JSON.stringify(wanted.map(({ name, own }) => [name, own.length]));
    const other = anew || now !== drawn;
    drawn = now;
    if (other) groups = wanted.map(begin);
    if (other) holder.replaceChildren(...groups.map(({ section }) => section));
    wanted.forEach(({ more, own }, at) => {
      groups[at].own = own;
      groups[at].more.textContent = more;
    });
    fit(other);
    repaint();
  }

  /** @type {(group: Group, at: number) => DrawnGroup} */
  function begin({ name, own }, at) {
    const more = el("span", { class: "more" });
    const paint = svg("svg", { class: "paint", "aria-hidden": "true" });
    const links = own.map(() => el("a", { class: "tile", tabindex: -1 }));
    const tiles = el("div", { class: "tiles" }, paint, links);
    const title = el("h3", { id: "group-" + at }, el("bdi", {}, name), " ", more);
    return {
      own,
      section: el("section", { class: "group", "aria-labelledby": title.id }, title, tiles),
      more,
      tiles,
      paint,
      links,
      said: [],
    };
  }

  /** The largest tiles with which all groups are on the screen; those that there are stay while they fit. */
  function fit(/** @type {boolean} */ anew) {
    const wide = holder.clientWidth || 600;
    const high = Math.max(200, window.innerHeight - holder.getBoundingClientRect().top - window.scrollY - 24);
    const across = (/** @type {number} */ each) => Math.max(1, Math.floor((wide + gapOf(each)) / (each + gapOf(each))));
    const headings = sum(groups.map(({ section }) => section.children[0].clientHeight + BELOW_HEADING));
    const rows = (/** @type {number} */ each) => sum(groups.map(({ own }) => Math.ceil(own.length / across(each))));
    const fits = (/** @type {number} */ each) => headings + rows(each) * (each + gapOf(each)) <= high;
    if (!anew && across(size) === columns && fits(size)) return;
    const best = SIZES.find(fits) || 0;
    size = best && window.innerWidth >= 1080 ? best : Math.max(best, LEAST); // what has to be scrolled can be tapped
    columns = across(size);
    holder.classList.toggle("tiny", size < 10);
    for (const { tiles } of groups)
      Object.assign(tiles.style, {
        gridTemplateColumns: `repeat(${columns}, ${size}px)`,
        gridAutoRows: size + "px",
        gap: gapOf(size) + "px",
      });
  }

  /** Paints all tiles as they look now; what their links say follows. */
  function repaint() {
    groups.forEach(paint);
    mark(current);
    holder.setAttribute("aria-busy", "true");
    clearTimeout(timer);
    timer = setTimeout(() =>
      requestAnimationFrame(() => {
        timer = setTimeout(go, 0, words());
      }),
    );
  }

  /** One shape for all tiles that look alike: backs, what is full, hatches, rings. */
  function paint(/** @type {DrawnGroup} */ { own, paint }) {
    const step = size + gapOf(size);
    const edge = size < 10 ? 0 : 0.5;
    const layers = ["back", "full", "hatched", "ring"].map((name) => ({
      name,
      shapes: /** @type {Map<string, string[]>} */ (new Map()),
    }));
    own.forEach((at, slot) => {
      const { look, fill, away, touched, dim } = of.look(at);
      const [x, y, inner, high] = [
        (slot % columns) * step,
        Math.floor(slot / columns) * step,
        size - 2 * edge,
        (size * fill) / 8,
      ];
      const square = `M${x + edge} ${y + edge}h${inner}v${inner}h-${inner}z`;
      const full = fill ? `M${x} ${y + size - high}h${size}v${high}h-${size}z` : "";
      [square, full, away && square, touched && square].forEach((shape, layer) => {
        if (shape) entry(layers[layer].shapes, (layer < 2 ? look : "") + (dim ? " dim" : ""), () => []).push(shape);
      });
    });
    const [width, height] = [columns * step, Math.ceil(own.length / columns) * step];
    paint.setAttribute("width", String(width));
    paint.setAttribute("height", String(height));
    paint.setAttribute("viewBox", `0 0 ${width} ${height}`);
    paint.replaceChildren(
      ...layers.flatMap(({ name, shapes }) =>
        [...shapes].map(([look, d]) => svg("path", { class: name + " " + look, d: d.join("") })),
      ),
    );
  }

  /** What each link says and where it leads, as far as that is another. */
  function* words() {
    for (const { own, links, said } of groups)
      for (const [slot, at] of own.entries()) {
        const { look, away, touched, dim } = of.look(at);
        const now = {
          href: of.href(at),
          name: of.name(at),
          look: [look, away && "away", touched && "touched", dim && "dim"].filter(Boolean).join(" "),
        };
        const [before, link] = [said[slot], links[slot]];
        if (before?.href !== now.href) link.setAttribute("href", now.href);
        if (before?.look !== now.look) link.dataset.look = now.look;
        if (before?.name !== now.name) link.title = now.name;
        if (before?.name !== now.name) link.setAttribute("aria-label", now.name);
        said[slot] = now;
        yield;
      }
    holder.removeAttribute("aria-busy");
  }

  function go(/** @type {Generator} */ work) {
    for (let done = 0; done < AT_ONCE; done += 1) if (work.next().done) return;
    timer = setTimeout(go, 0, work);
  }

  /** All words now, before anyone asks for them. */
  function flush() {
    clearTimeout(timer);
    if (holder.hasAttribute("aria-busy")) for (const _ of words());
  }

  /** The link of a place. */
  function link(/** @type {number} */ at) {
    const group = groups.find(({ own }) => own.includes(at));
    return group?.links[group.own.indexOf(at)];
  }

  /** The place that is open; the Tab key stops at its link. */
  function mark(/** @type {number} */ at) {
    current = at;
    open?.removeAttribute("aria-current");
    open = link(at);
    open?.setAttribute("aria-current", "true");
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
    const own = groups.findIndex(({ links }) => links.includes(from));
    if (own < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = groups.flatMap(({ links }) => links);
    const [at, slot, { links }] = [all.indexOf(from), groups[own].links.indexOf(from), groups[own]];
    const inRow = (/** @type {HTMLElement[]} */ others, /** @type {number} */ row) =>
      others[Math.min(row + (slot % columns), others.length - 1)];
    const lastRow = Math.floor((links.length - 1) / columns) * columns;
    const above = groups[own - 1]?.links || [];
    const below = groups[own + 1]?.links || [];
    /** @type {Record<string, () => HTMLElement | undefined>} */
    const ways = {
      ArrowRight: () => all[at + 1],
      ArrowLeft: () => all[at - 1],
      ArrowDown: () => links[slot + columns] || (slot < lastRow ? links[links.length - 1] : inRow(below, 0)),
      ArrowUp: () => links[slot - columns] || inRow(above, Math.floor((above.length - 1) / columns) * columns),
      Home: () => all[0],
      End: () => all[all.length - 1],
    };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const to = ways[event.key]();
    if (to) stopAt(to);
    to?.focus();
  }

  for (const name of ["pointerdown", "pointerover", "keydown", "focusin"]) holder.addEventListener(name, flush, true);
  window.addEventListener("beforeprint", flush);
  holder.addEventListener("keydown", keys);
  return { draw, repaint, flush, mark, link };
}
