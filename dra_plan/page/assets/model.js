// What the page knows, apart from how it is drawn: states at a moment, what a pick says of a node, counts, search.
/** @type {Record<string, string>} */
export const STATE = { f: "free", u: "used", s: "shared", t: "tainted", o: "out" };
export const number = new Intl.NumberFormat("en-US").format;
/** @type {(count: number, one: string) => string} */
export const counted = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;
export const sum = (/** @type {number[]} */ all) => all.reduce((total, each) => total + each, 0);
/** The devices of a pool that are not cut into parts. */
const whole = (/** @type {Pool} */ { frames }) => frames.flatMap(([, devices]) => devices);
export const holds = (/** @type {object} */ of) => Object.keys(of).length > 0;

/** @template K, V @param {Map<K, V>} map @param {K} key @param {() => V} make @returns {V} */
export function entry(map, key, make) {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/** @param {PageData} data */
export function makeModel(data) {
  const { scenes, picks, texts } = data;
  const inLower = texts.map((each) => each.toLowerCase());
  let picked = -1;
  /** Whether what is picked gets its devices on one node instead of on another one. */
  let isAlone = false;
  /** @type {Record<number, Mark>[]} what the pick says of each place, by scene */
  let marks = [];
  /** @type {Set<number>} the pictures in which the pick gives or takes devices */
  let acts = new Set();
  /** @type {Map<Place, Map<number, [string, string]>>} devices by place, as they are then */
  const changed = new Map();
  /** @type {Map<Place, Amount[]>} */
  const changedAmounts = new Map();
  const text = (/** @type {Texts | null | undefined} */ at) => (at === undefined || at === null ? "" : texts[at]);
  scenes.forEach((scene, number) => {
    for (const place of scene.places) Object.assign(place, { scene: number, layout: scene.layouts[place.kind] });
    scene.byName = new Map(scene.places.map((place, at) => [place.name, Object.assign(place, { at })]));
  });

  /** Goes to the moment of a pick: what is another than in the beginning, then or after the pods before. */
  function pick(/** @type {number} */ at) {
    picked = at;
    isAlone = Boolean(chosen()?.each_alone);
    marks = scenes.map((_, scene) => data.marks[picks[at]?.marks[scene]] || {});
    const acting = isAlone ? [] : scenes.filter((scene) => scene.places.some(handles));
    acts = new Set(acting.map((scene) => scenes.indexOf(scene)));
    changed.clear();
    changedAmounts.clear();
    const { moment, step } = picks[at] || { moment: null, step: 0 };
    const changes = moment === null ? picks.slice(0, step ?? at).map((each) => each.change) : [data.moments[moment]];
    const places = scenes[data.moments_in]?.places;
    for (const [devices, amounts] of changes.flatMap((each) => (each ? [each] : []))) {
      for (const [place, device, letter, said] of devices)
        entry(changed, places[place], () => new Map()).set(device, [letter, text(said)]);
      for (const [place, left] of Object.entries(amounts)) changedAmounts.set(places[Number(place)], left);
    }
  }

  const chosen = () => /** @type {Asked | undefined} */ (picks[picked]);
  const alone = () => isAlone;
  /** What the pick says of a place. @type {Of<Mark | undefined>} */
  const mark = (place) => marks[place.scene]?.[place.at];
  /** @type {Of<Amount[]>} */
  const amounts = (place) => changedAmounts.get(place) || place.amounts || [];

  /** A device now: its state, who has it, and what the pick says of it. @type {(place: Place, at: number) => DeviceNow} */
  function device(place, at) {
    const [letter, detail] = changed.get(place)?.get(at) || [place.states[at], text(place.details?.[at])];
    const [tone, , , ...said] = mark(place) || [];
    const parts = /** @type {ByDevice[]} */ (said.slice(0, 4));
    const [gets, note, harm, other] = parts.map((part) => (at in part ? text(part[at]) : undefined));
    const has = Boolean(chosen()?.has_devices);
    return { letter, detail, gets, note, harm, other, has, near: isAlone && tone !== "good" };
  }

  /** The states of all devices of a place, upper case for those that the pick gets; `gets` is false for those before. */
  function letters(/** @type {Place} */ place, gets = true) {
    const made = [...place.states];
    for (const [at, [letter]] of changed.get(place) || []) made[at] = letter;
    const said = gets && mark(place);
    if (said && (said[0] === "good" || !isAlone))
      for (const at of Object.keys(said[3]).map(Number)) made[at] = made[at].toUpperCase();
    return made;
  }

  /**
   * What is found of a place before the pick has its devices, if it gets them on one node alone, or else once it has
   * them; kept while neither a moment nor the pick says anything of it.
   * @template T @param {(place: Place, now: string[]) => T} find @returns {Of<T>}
   */
  function kept(find) {
    /** @type {T[][]} by scene */
    const known = scenes.map(() => []);
    return (place) => {
      if (changed.has(place) || changedAmounts.has(place) || (!isAlone && mark(place)))
        return find(place, letters(place, !isAlone));
      known[place.scene][place.at] ??= find(place, letters(place, !isAlone));
      return known[place.scene][place.at];
    };
  }

  /** The pools of a place that stand for it. @type {Of<Pool[]>} */
  const leading = (place) => place.layout.pools.filter(({ leads }) => leads);

  /** Of each model what is free, shared and there is; parts are not counted. @returns {ModelCount[]} */
  function models(/** @type {Place} */ place, now = letters(place)) {
    /** @type {Map<Texts, ModelCount>} */
    const found = new Map();
    const own = new Set(leading(place).flatMap(whole));
    for (const at of place.layout.whole) {
      const name = place.layout.models[at];
      const made = () => ({ name: text(name), total: 0, free: 0, shared: 0, gets: 0, leads: own.has(at) });
      const of = entry(found, name, made);
      of.total += 1;
      if ("FTO".includes(now[at])) of.gets += 1;
      if (now[at] === "f") of.free += 1;
      if (now[at].toLowerCase() === "s") of.shared += 1;
    }
    return [...found.values()];
  }

  /** How much of a place's devices of the leading driver is not free, from 0 to 1: whole devices, and slots or amounts of those that are cut into parts. */
  const used = kept((place, now) => {
    const left = [...amounts(place)];
    const own = leading(place);
    const shares = place.layout.pools.flatMap((pool) =>
      pool.physical.flatMap((of) => {
        const taken = left.splice(0, of.amounts.length).map((each) => each[2] / 100);
        if (!own.includes(pool)) return [];
        return of.covered ? slotsOf(of, now).size / of.columns : Math.max(0, ...taken);
      }),
    );
    const devices = own.flatMap(whole);
    const units = devices.length + shares.length;
    return units ? (devices.filter((at) => now[at] !== "f").length + sum(shares)) / units : 0;
  });

  /** The columns of a device that is cut into parts that parts in use, or those that the pick gets, lie over. */
  function slotsOf(/** @type {Physical} */ physical, /** @type {string[]} */ now) {
    const lying = physical.rows.flatMap(([, row]) => row).filter(([, , at]) => "usFSTOU".includes(now[at]));
    return new Map(lying.flatMap(([start, wide, at]) => [...Array(wide).keys()].map((n) => [start + n, at])));
  }

  /** How many devices of the first model are free in each frame, the most of them, and what frames them. */
  const together = kept(({ layout }, now) => {
    if (!layout.whole.length) return undefined;
    const first = layout.models[layout.whole[0]];
    const frames = layout.pools.flatMap((pool) => pool.frames);
    const own = frames.filter(([, devices]) => devices.some((at) => layout.models[at] === first));
    const isFree = (/** @type {number} */ at) => layout.models[at] === first && now[at] === "f";
    const free = own.map(([, devices]) => devices.filter(isFree).length);
    return { model: text(first), by: text(own[0][0]).split(" ")[0], most: Math.max(...free), free };
  });

  /** Of each device that is cut into parts its model, and the profile of the largest part that is free, or "". */
  const largest = kept(({ layout }, now) =>
    layout.pools
      .flatMap((pool) => pool.physical)
      .map(({ model, name, rows }) => {
        const row = rows.find(([, parts]) => parts.some(([, , at]) => now[at] === "f"));
        return { model: model || name, profile: row ? row[0] : "" };
      }),
  );

  const standing = kept(models);

  /** What the pick says of a place, if it tells it from others. @type {Of<Mark | undefined>} */
  function verdict(place) {
    const said = mark(place);
    return said && (text(said[1]) || text(said[2])) ? said : undefined;
  }

  /** The same node in another picture, if it is there. @type {(place: Place, scene: number) => Place | undefined} */
  const counterpart = (place, scene) => (place.scene === scene ? place : scenes[scene].byName.get(place.name));

  /** Whether the pick gives or takes devices of a place. @type {Of<boolean>} */
  function handles(place) {
    const said = mark(place);
    return said !== undefined && (holds(said[3]) || holds(said[5]));
  }
  /** Whether the pick does something to a place; if it does nothing in the picture, whether that is another than in the other one. @type {Of<boolean>} */
  const touched = (place) => (acts.has(place.scene) ? handles(place) : Boolean(place.differs));

  /**
   * Nodes in which all words are found, with the devices that some of them name: names, models, states, holders,
   * drivers, frames, attributes that name devices, labels, what keeps pods away. DRIVER/POOL/DEVICE is three words.
   */
  function search(/** @type {Scene} */ { places, labels, layouts }, /** @type {string} */ wanted) {
    const words = wanted.split(wanted.includes("=") ? /\s+/ : /[\s/]+/).filter(Boolean);
    const inState = Object.entries(STATE).flatMap(([letter, state]) =>
      words.map((word) => (data.words[state].split(" ").includes(word) ? letter : "")),
    );
    const has = (/** @type {string} */ of, /** @type {string} */ word) => of.toLowerCase().includes(word);
    const known = words.map((word) => inLower.map((each) => each.includes(word)));
    /** Whether a word is the whole name of a device: it is then no part of other names, nor of a UUID. */
    const names = new Set(layouts.flatMap((layout) => layout.devices.map((name) => name.toLowerCase())));
    const isDevice = words.map((word) => names.has(word));
    /** @type {Map<Place, Hit>} */
    const found = new Map();
    for (const place of places) {
      const { devices, models, pools } = place.layout;
      const now = changed.get(place);
      const said = [place.away ?? -1, ...(place.labels || [])];
      const inName = words.map((word) => has(place.name, word));
      const named = labels.map((label, at) => `${label}=${text(place.labels?.[at])}`.toLowerCase());
      const own = words.map(
        (each, word) =>
          inName[word] ||
          said.some((at) => known[word][at]) ||
          (each.includes("=") && named.some((of) => has(of, each))),
      );
      const frames = pools.flatMap((pool) => pool.frames);
      const around = words.map((_, word) => own[word] || pools.some((pool) => known[word][pool.driver]));
      const isNamed = (/** @type {number} */ at) => {
        const told = [models[at], place.details?.[at] ?? -1];
        const ids = place.ids?.[at] || [];
        const then = now?.get(at);
        if (then) told[1] = -1;
        for (const [frame, framed] of frames) if (framed.includes(at)) told.push(frame);
        const state = then ? then[0] : place.states[at];
        const by = words.map(
          (word, which) =>
            (isDevice[which] ? devices[at].toLowerCase() === word : has(devices[at], word)) ||
            told.some((each) => known[which][each]) ||
            (!isDevice[which] && ids.some((each) => known[which][each])) ||
            (then && has(then[1], word)) ||
            inState.some((letter, of) => letter === state && of % words.length === which),
        );
        return by.some(Boolean) && by.every((is, which) => is || around[which]);
      };
      const hit = [...devices.keys()].filter(isNamed);
      const all = own.every(Boolean);
      if (all || hit.length) found.set(place, { named: all && inName.some(Boolean), devices: hit });
    }
    return found;
  }

  return {
    ...{ data, scenes, picks, text, pick, chosen, picked: () => picked, alone, mark, verdict, handles, touched },
    ...{ device, letters, slotsOf, amounts, models, standing, used, together, largest, leading, counterpart, search },
  };
}
