// What the page knows, apart from how it is drawn: states at a moment, what a pick says of a node, counts, search.
/**
 * @typedef {{name: string, columns: number, model: string, covered: boolean, slots: [string, number[]][],
 *   rows: [string, [number, number, number][]][], amounts: [string, number][], whole: number[]}} Physical
 * @typedef {{driver: number, name: number|null, state: string, frames: [number, number[]][], physical: Physical[]}} Pool
 * @typedef {{pools: Pool[], devices: string[], models: number[], whole: number[]}} Layout
 * @typedef {{name: string, kind: number, states: string, details?: Object<string, number>, away?: number[],
 *   labels?: number[], new?: boolean, reached?: string[], slots?: number[][], amounts?: [number, number, number][],
 *   shared?: boolean}} Place
 * @typedef {{title: string, layouts: Layout[], places: Place[], labels: string[]}} Scene
 * @typedef {[string, number, number, Object<string, number>, Object<string, number>, Object<string, number>]} Mark
 * @typedef {{key: string, name: string, tone: string, word: string, line: string, marks: number[],
 *   change: any, moment: number|null, each_alone: boolean, step: number|null, ways: [number, number, number][]}} Pick
 * @typedef {{letter: string, detail: string, gets?: string, note?: string, harm?: string}} Device
 */
const STATE = { f: "free", u: "used", s: "shared", t: "tainted", o: "out" };
const number = (count) => count.toLocaleString("en-US");
const counted = (count, one, many = one + "s") => number(count) + " " + (count === 1 ? one : many);

/** @param {any} data what stands in the page */
function makeModel(data) {
  const { scenes, picks, texts } = data;
  const model = { picked: -1 };
  const then = { devices: new Map(), amounts: new Map() };
  const text = (at) => (at === undefined || at === null ? "" : texts[at]);
  const layoutOf = (scene, place) => scenes[scene].layouts[scenes[scene].places[place].kind];

  /** Goes to the moment of a pick: what is another than in the beginning, then or after the pods before. */
  function pick(at) {
    model.picked = at;
    then.devices.clear();
    then.amounts.clear();
    if (at < 0) return;
    const moment = picks[at].moment;
    const changes = moment === null ? picks.slice(0, picks[at].step ?? at).map((each) => each.change) : [data.moments[moment]];
    for (const [devices, amounts] of changes.filter((change) => change)) {
      for (const [place, device, letter, said] of devices) {
        if (!then.devices.has(place)) then.devices.set(place, new Map());
        then.devices.get(place).set(device, [letter, text(said)]);
      }
      for (const place of Object.keys(amounts)) then.amounts.set(Number(place), amounts[place]);
    }
  }

  /** @returns {Mark|undefined} what the pick says of a place */
  function mark(scene, place) {
    if (model.picked < 0) return undefined;
    const marks = data.marks[picks[model.picked].marks[scene]];
    return marks && marks[place];
  }

  /** Whether what is picked gets its devices on one node instead of on another one. */
  const alone = () => model.picked >= 0 && picks[model.picked].each_alone;
  const changes = (scene, place) => (scene === data.moments_in ? then.devices.get(place) : undefined);

  /** @returns {Device} a device now: its state, who has it, and what the pick says of it */
  function device(scene, place, at) {
    const of = scenes[scene].places[place];
    const changed = (changes(scene, place) || new Map()).get(at);
    const [letter, detail] = changed || [of.states[at], text((of.details || {})[at])];
    const said = mark(scene, place);
    if (!said) return { letter, detail };
    const told = (part) => (said[part][at] === undefined ? undefined : text(said[part][at]));
    return { letter, detail, gets: told(3), note: told(4), harm: told(5) };
  }

  /** The states of all devices of a place, upper case for those that the pick gets; `gets` is false for those before. */
  function letters(scene, place, gets = true) {
    const made = [...scenes[scene].places[place].states];
    for (const [at, [letter]] of changes(scene, place) || []) made[at] = letter;
    if (gets) for (const at of Object.keys((mark(scene, place) || [0, 0, 0, {}])[3])) made[at] = made[at].toUpperCase();
    return made;
  }

  const amounts = (scene, place) => (scene === data.moments_in && then.amounts.get(place)) || scenes[scene].places[place].amounts || [];

  /** What is found of a place, kept while neither a moment nor, if it counts, the pick says anything of it. */
  function kept(find, picksCount = () => true) {
    const known = scenes.map(() => new Map());
    return (scene, place) => {
      if (changes(scene, place) || (picksCount() && mark(scene, place))) return find(scene, place);
      if (!known[scene].has(place)) known[scene].set(place, find(scene, place));
      return known[scene].get(place);
    };
  }

  /** Of each model what is free, shared and there is, once the pick has its devices; parts are not counted. */
  function models(scene, place) {
    const layout = layoutOf(scene, place);
    const now = letters(scene, place);
    const found = new Map();
    for (const at of layout.whole) {
      const name = layout.models[at];
      let of = found.get(name);
      if (!of) found.set(name, (of = { name: text(name), total: 0, free: 0, shared: 0, gets: 0 }));
      of.total += 1;
      of.gets += now[at] === "F" ? 1 : 0;
      of.free += now[at] === "f" ? 1 : 0;
      of.shared += now[at] === "s" || now[at] === "S" ? 1 : 0;
    }
    return [...found.values()];
  }

  /** How much of a place is not free, from 0 to 1: whole devices, and slots or amounts of those that are cut into parts. */
  function used(scene, place) {
    const layout = layoutOf(scene, place);
    const now = letters(scene, place, !alone());
    let units = layout.whole.length;
    let taken = layout.whole.filter((at) => now[at] !== "f").length;
    const left = amounts(scene, place);
    let first = 0;
    for (const physical of layout.pools.flatMap((pool) => pool.physical)) {
      const own = left.slice(first, (first += physical.amounts.length));
      units += 1;
      taken += physical.covered ? slotsOf(physical, now).size / physical.columns : Math.max(0, ...own.map((each) => each[2])) / 100;
    }
    return units ? taken / units : 0;
  }

  /** The columns of a device that is cut into parts that parts in use, or those that the pick gets, lie over. */
  function slotsOf(physical, now) {
    const lying = physical.rows.flatMap(([, row]) => row).filter(([, , at]) => "usFSTOU".includes(now[at]));
    return new Map(lying.flatMap(([start, wide, at]) => [...Array(wide).keys()].map((n) => [start + n, at])));
  }

  /** How many devices of the first model are free in each frame, the most of them, and what frames them. */
  function together(scene, place) {
    const layout = layoutOf(scene, place);
    if (!layout.whole.length) return undefined;
    const now = letters(scene, place, !alone());
    const model = layout.models[layout.whole[0]];
    const own = layout.pools.flatMap((pool) => pool.frames)
      .map(([label, devices]) => ({ label: text(label), devices: devices.filter((at) => layout.models[at] === model) }))
      .filter(({ devices }) => devices.length);
    const free = own.map(({ devices }) => devices.filter((at) => now[at] === "f").length);
    const total = own.reduce((all, { devices }) => all + devices.length, 0);
    return { model: text(model), by: own[0].label.split(" ")[0], most: Math.max(...free), free, total };
  }

  /** Of each device that is cut into parts its model, and the profile of the largest part that is free, or "". */
  function largest(scene, place) {
    const layout = layoutOf(scene, place);
    const now = letters(scene, place, !alone());
    return layout.pools.flatMap((pool) => pool.physical).map((of) => {
      const row = of.rows.find(([, parts]) => parts.some(([, , at]) => now[at] === "f"));
      return { model: of.model || of.name, profile: row ? row[0] : "" };
    });
  }

  /** What is said of a place, as the reason by which the fleet is told apart: a tone, a word, and why. */
  function verdict(scene, place) {
    const said = mark(scene, place);
    if (said && (text(said[1]) || text(said[2]))) return { tone: said[0], label: text(said[1]), why: text(said[2]) };
    return undefined;
  }

  const away = (scene, place) => (scenes[scene].places[place].away || []).map(text).join(", ");
  const kindName = (scene, place) => models(scene, place).map((each) => number(each.total) + " × " + each.name).join(", ")
    || (layoutOf(scene, place).devices.length ? "cut into parts" : "no devices");

  /** The same node in another picture, or -1. */
  const numbers = scenes.map((scene) => new Map(scene.places.map((place, at) => [place.name, at])));
  function counterpart(from, to, place) {
    const found = from === to ? place : numbers[to].get(scenes[from].places[place].name);
    return found === undefined ? -1 : found;
  }

  /** Whether the answer does something to a place: gives, takes, or leaves it another than in the other picture. */
  function touched(scene, place) {
    const said = alone() ? undefined : mark(scene, place);
    return Boolean(said && (Object.keys(said[3]).length || Object.keys(said[5]).length)) || differs(scene, place);
  }

  function differs(scene, place) {
    if (scenes.length < 2) return false;
    const other = counterpart(scene, 1 - scene, place);
    const look = (of, at) => letters(of, at).join("").toLowerCase() + away(of, at);
    return other < 0 || look(scene, place) !== look(1 - scene, other);
  }

  /** Nodes, devices and holders that a text is found in, by place; the devices of a place that it names. */
  function search(scene, wanted) {
    const hits = texts.map((each) => each.toLowerCase().includes(wanted));
    const names = scenes[scene].layouts.map((layout) => layout.devices.map((name) => name.toLowerCase().includes(wanted)));
    const found = new Map();
    scenes[scene].places.forEach((place, at) => {
      const layout = layoutOf(scene, at);
      const devices = [];
      const now = changes(scene, at);
      layout.devices.forEach((_, each) => {
        const changed = now && now.get(each);
        const detail = (place.details || {})[each];
        const held = changed ? changed[1].toLowerCase().includes(wanted) : detail !== undefined && hits[detail];
        if (held || names[place.kind][each] || hits[layout.models[each]]) devices.push(each);
      });
      const away = (place.away || []).some((each) => hits[each]) || (place.labels || []).some((each) => hits[each]);
      const named = place.name.toLowerCase().includes(wanted);
      if (named || away || devices.length) found.set(at, { named, devices });
    });
    return found;
  }

  return Object.assign(model, { data, scenes, picks, text, pick, mark, device, letters, slotsOf, amounts, verdict, away, models: kept(models), used: kept(used, () => !alone()),
    together: kept(together, () => !alone()), largest: kept(largest, () => !alone()), kindName: kept(kindName, () => false), alone, touched, differs, counterpart, search, layoutOf, numbers });
}
