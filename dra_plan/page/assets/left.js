// What is left of each model: free, shared, kept from pods, how much of it together, and the largest free parts.

import { bar, el } from "./draw.js";
import { entry, number } from "./model.js";

const MOST_SIZES = 5;

/** Of each model what there is of it on these nodes, of the leading driver's models first. @type {(model: Model, places: Place[]) => Left[]} */
export function leftOf(model, places) {
  /** @type {Map<string, Left>} */
  const found = new Map();
  for (const place of places) {
    const isAway = place.away !== undefined;
    const isGood = model.verdict(place)?.[0] === "good";
    for (const of of model.standing(place)) {
      const { total, free, shared } = of;
      const made = () => ({ ...of, total: 0, free: 0, good: 0, away: 0, shared: 0, by: "", sizes: new Map() });
      const all = entry(found, of.name, made);
      all.total += total;
      all.free += free;
      all.shared += shared;
      if (isGood) all.good += free;
      else if (isAway) all.away += free;
    }
    const together = model.together(place);
    const all = together && found.get(together.model);
    if (!all) continue;
    all.by ||= together.by;
    for (const free of together.free) {
      const count = entry(all.sizes, free, () => [0, 0]);
      count[0] += 1;
      if (isAway) count[1] += 1;
    }
  }
  return [...found.values()].sort((one, other) => +other.leads - +one.leads || other.total - one.total);
}

/** @type {(of: Left, alone: boolean) => HTMLElement} */
function drawn({ name, total, free, good, away, shared, by, sizes }, alone) {
  const said = [
    shared && `, ${number(shared)} shared`,
    away && `, ${number(away)} on nodes that keep pods away`,
    alone && good > 0 && `, ${number(good)} on nodes where it fits`,
  ];
  const frames = [...sizes].filter(([size]) => size).sort(([one], [other]) => other - one);
  const framed = frames.slice(0, MOST_SIZES).map(([size, [count, kept]]) => {
    const more = kept ? ` (${number(kept)} of them on nodes that keep pods away)` : "";
    return `${number(size)} free in ${number(count)}${more}`;
  });
  /** @type {[string, number][]} */
  const pieces = [
    ["piece.used", total - free],
    ["piece.good", good],
    ["piece.open", free - good - away],
    ["piece.gone", away],
  ];
  const counts = el("b", `${number(free)} of ${number(total)} free`);
  return el(
    "li.left-model",
    el("p", el("bdi.left-name", name), " ", counts, said.filter(Boolean).join("")),
    bar(
      pieces.map(([piece, count]) => [piece, (100 * count) / total]),
      ".tall",
    ),
    by && framed.length > 0 && el("p.together", `By ${by}: ${framed.join(", ")}`),
  );
}

/** Of each model that is cut into parts the largest part that is free, and on how many devices. @type {(model: Model, scene: Scene) => HTMLElement[]} */
function drawnParts(model, { layouts, places }) {
  if (!layouts.some(({ pools }) => pools.some(({ physical }) => physical.length))) return [];
  /** @type {Map<string, Map<string, number>>} */
  const found = new Map();
  for (const { model: name, profile } of places.flatMap(model.largest)) {
    const all = entry(found, name, () => new Map());
    all.set(profile, (all.get(profile) || 0) + 1);
  }
  return [...found].map(([name, all]) => {
    const sizes = [...all].map(([profile, count]) => `${profile || "none"} on ${number(count)}`).join(", ");
    return el("li.left-model", el("p", el("bdi.left-name", name), " largest part free: ", sizes));
  });
}

/** @type {(model: Model, scene: Scene) => HTMLElement[]} */
export const drawnLeft = (model, scene) => [
  ...leftOf(model, scene.places).map((each) => drawn(each, model.alone())),
  ...drawnParts(model, scene),
];
