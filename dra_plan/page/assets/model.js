// What the page knows, apart from how it is drawn: states at a moment, what a pick says of a node, counts, search.
/** @type {Record<string, string>} */
export const STATE = { f: "free", u: "used", s: "shared", t: "tainted", o: "out" };
export const number = new Intl.NumberFormat("en-US").format;
export const counted = (/** @type {number} */ count, /** @type {string} */ one) =>
  `${number(count)} ${one}${count === 1 ? "" : "s"}`;
export const sum = (/** @type {number[]} */ all) => all.reduce((total, each) => total + each, 0);

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
  let picked = -1;
  const leads = scenes.map(leadOf);
  /** @type {Map<number, Map<number, [string, string]>>} devices by place, as they are then */
  const changed = new Map();
  /** @type {Map<number, Amount[]>} */
  const changedAmounts = new Map();
  const text = (/** @type {Texts | null | undefined} */ at) => (at === undefined || at === null ? "" : texts[at]);
  /** @typedef {(scene: number, place: number) => Layout} LayoutOf @type {LayoutOf} */
  const layoutOf = (scene, place) => scenes[scene].layouts[scenes[scene].places[place].kind];

  /** Goes to the moment of a pick: what is another than in the beginning, then or after the pods before. */
  function pick(/** @type {number} */ at) {
    picked = at;
    changed.clear();
    changedAmounts.clear();
    if (at < 0) return;
    const { moment, step } = picks[at];
    const changes = moment === null ? picks.slice(0, step ?? at).map((each) => each.change) : [data.moments[moment]];
    for (const change of changes) {
      for (const [place, device, letter, said] of change ? change[0] : [])
        entry(changed, place, () => new Map()).set(device, [letter, text(said)]);
      for (const [place, amounts] of Object.entries(change ? change[1] : {}))
        changedAmounts.set(Number(place), amounts);
    }
  }

  /** @type {(scene: number, place: number) => Mark | undefined} what the pick says of a place */
  const mark = (scene, place) => (picked < 0 ? undefined : data.marks[picks[picked].marks[scene]]?.[place]);
  /** Whether what is picked gets its devices on one node instead of on another one. */
  const alone = () => picked >= 0 && picks[picked].each_alone;
  /** @type {(scene: number, place: number) => Map<number, [string, string]> | undefined} */
  const changes = (scene, place) => (scene === data.moments_in ? changed.get(place) : undefined);
  /** @type {(scene: number, place: number) => Amount[]} */
  const amounts = (scene, place) =>
    (scene === data.moments_in && changedAmounts.get(place)) || scenes[scene].places[place].amounts || [];

  /** A device now: its state, who has it, and what the pick says of it. @type {(scene: number, place: number, at: number) => DeviceNow} */
  function device(scene, place, at) {
    const of = scenes[scene].places[place];
    const [letter, detail] = changes(scene, place)?.get(at) || [of.states[at], text(of.details?.[at])];
    const said = mark(scene, place);
    if (!said) return { letter, detail };
    const [gets, note, harm] = [said[3], said[4], said[5]].map((part) => (at in part ? text(part[at]) : undefined));
    return { letter, detail, gets, note, harm };
  }

  /** The states of all devices of a place, upper case for those that the pick gets; `gets` is false for those before. */
  function letters(/** @type {number} */ scene, /** @type {number} */ place, gets = true) {
    const made = [...scenes[scene].places[place].states];
    for (const [at, [letter]] of changes(scene, place) || []) made[at] = letter;
    const said = gets && mark(scene, place);
    if (said) for (const at of Object.keys(said[3]).map(Number)) made[at] = made[at].toUpperCase();
    return made;
  }

  /**
   * What is found of a place before the pick has its devices, if it gets them on one node alone, or else once it has
   * them; kept while neither a moment nor the pick says anything of it.
   * @template T @param {(scene: number, place: number, now: string[]) => T} find @returns {(scene: number, place: number) => T}
   */
  function kept(find) {
    /** @type {Map<number, T>[]} */
    const known = scenes.map(() => new Map());
    return (scene, place) => {
      const found = () => find(scene, place, letters(scene, place, !alone()));
      if (changes(scene, place) || changedAmounts.has(place) || (!alone() && mark(scene, place))) return found();
      return entry(known[scene], place, found);
    };
  }

  /** Of each model what is free, shared and there is; parts are not counted. @returns {ModelCount[]} */
  function models(/** @type {number} */ scene, /** @type {number} */ place, now = letters(scene, place)) {
    const layout = layoutOf(scene, place);
    /** @type {Map<Texts, ModelCount>} */
    const found = new Map();
    const own = layout.pools.filter(({ driver }) => driver === leads[scene].driver);
    const leading = new Set(own.flatMap(({ frames }) => frames.flatMap(([, devices]) => devices)));
    for (const at of layout.whole) {
      const name = layout.models[at];
      const of = entry(found, name, () => ({
        name: text(name),
        total: 0,
        free: 0,
        shared: 0,
        gets: 0,
        leads: leading.has(at),
      }));
      of.total += 1;
      of.gets += now[at] === "F" ? 1 : 0;
      of.free += now[at] === "f" ? 1 : 0;
      of.shared += now[at] === "s" || now[at] === "S" ? 1 : 0;
    }
    return [...found.values()];
  }

  /** The driver whose devices stand for a node: of those that name models, or of all, the one with the most devices. */
  function leadOf(/** @type {Scene} */ { layouts, places }) {
    /** @type {Map<Texts, [number, number]>} */
    const found = new Map();
    for (const { kind } of places)
      for (const { driver, frames, physical } of layouts[kind].pools) {
        const of = entry(found, driver, () => [0, 0]);
        const whole = frames.flatMap(([, devices]) => devices);
        if (physical.length || whole.some((at) => layouts[kind].models[at] !== driver)) of[0] = 1;
        of[1] += whole.length + physical.length;
      }
    const [first] = [...found].sort(([, one], [, other]) => other[0] - one[0] || other[1] - one[1]);
    return { driver: first ? first[0] : -1, alone: found.size < 2 };
  }

  /** How much of a place's devices of the leading driver is not free, from 0 to 1: whole devices, and slots or amounts of those that are cut into parts. */
  const used = kept((scene, place, now) => {
    const layout = layoutOf(scene, place);
    const left = [...amounts(scene, place)];
    const leading = (/** @type {Pool} */ { driver }) => driver === leads[scene].driver;
    const whole = layout.pools.filter(leading).flatMap(({ frames }) => frames.flatMap(([, devices]) => devices));
    const cut = layout.pools.flatMap((pool) => pool.physical.map((of) => ({ of, counts: leading(pool) })));
    const shares = cut.flatMap(({ of: physical, counts }) => {
      const own = left.splice(0, physical.amounts.length);
      if (!counts) return [];
      return physical.covered
        ? slotsOf(physical, now).size / physical.columns
        : Math.max(0, ...own.map((each) => each[2])) / 100;
    });
    const units = whole.length + shares.length;
    return units ? (whole.filter((at) => now[at] !== "f").length + sum(shares)) / units : 0;
  });

  /** The columns of a device that is cut into parts that parts in use, or those that the pick gets, lie over. */
  function slotsOf(/** @type {Physical} */ physical, /** @type {string[]} */ now) {
    const lying = physical.rows.flatMap(([, row]) => row).filter(([, , at]) => "usFSTOU".includes(now[at]));
    return new Map(lying.flatMap(([start, wide, at]) => [...Array(wide).keys()].map((n) => [start + n, at])));
  }

  /** How many devices of the first model are free in each frame, the most of them, and what frames them. */
  const together = kept((scene, place, now) => {
    const layout = layoutOf(scene, place);
    if (!layout.whole.length) return undefined;
    const first = layout.models[layout.whole[0]];
    const frames = layout.pools.flatMap((pool) => pool.frames);
    const own = frames.filter(([, devices]) => devices.some((at) => layout.models[at] === first));
    const free = own.map(
      ([, devices]) => devices.filter((at) => layout.models[at] === first && now[at] === "f").length,
    );
    return { model: text(first), by: text(own[0][0]).split(" ")[0], most: Math.max(...free), free };
  });

  /** Of each device that is cut into parts its model, and the profile of the largest part that is free, or "". */
  const largest = kept((scene, place, now) =>
    layoutOf(scene, place)
      .pools.flatMap((pool) => pool.physical)
      .map((of) => {
        const row = of.rows.find(([, parts]) => parts.some(([, , at]) => now[at] === "f"));
        return { model: of.model || of.name, profile: row ? row[0] : "" };
      }),
  );

  const standing = kept(models);
  /** The models of a place, as a name of its kind. */
  const kind = kept(
    (scene, place) =>
      standing(scene, place)
        .map((each) => `${number(each.total)} × ${each.name}`)
        .join(", ") || (layoutOf(scene, place).devices.length ? "cut into parts" : "no devices"),
  );

  /** The reason by which a place is told apart, if the pick says one. @type {(scene: number, place: number) => Verdict | undefined} */
  function verdict(scene, place) {
    const said = mark(scene, place);
    const [label, why] = said ? [text(said[1]), text(said[2])] : ["", ""];
    return said && (label || why) ? { tone: said[0], label, why } : undefined;
  }

  /** @type {(scene: number, place: number) => string} what keeps pods away from a place */
  const away = (scene, place) => (scenes[scene].places[place].away || []).map(text).join(", ");
  const numbers = scenes.map((scene) => new Map(scene.places.map((place, at) => [place.name, at])));

  /** The same node in another picture, or -1. @type {(from: number, to: number, place: number) => number} */
  const counterpart = (from, to, place) =>
    from === to ? place : (numbers[to].get(scenes[from].places[place].name) ?? -1);

  /** Whether the answer does something to a place: gives, takes, or leaves it another than in the other picture. @type {(scene: number, place: number) => boolean} */
  function touched(scene, place) {
    const said = alone() ? undefined : mark(scene, place);
    if (said && (Object.keys(said[3]).length || Object.keys(said[5]).length)) return true;
    if (scenes.length < 2) return false;
    const other = counterpart(scene, 1 - scene, place);
    const look = (/** @type {number} */ of, /** @type {number} */ at) =>
      letters(of, at).join("").toLowerCase() + away(of, at);
    return other < 0 || look(scene, place) !== look(1 - scene, other);
  }

  /**
   * Nodes in which all words are found, with the devices that some of them name: names, models, holders, drivers,
   * labels, what keeps pods away. DRIVER/POOL/DEVICE is three words.
   */
  function search(/** @type {number} */ scene, /** @type {string} */ wanted) {
    const words = wanted.split(/[\s/]+/).filter(Boolean);
    const has = (/** @type {string} */ of, /** @type {string} */ word) => of.toLowerCase().includes(word);
    const known = words.map((word) => texts.map((each) => has(each, word)));
    const layouts = scenes[scene].layouts.map(({ devices, models, pools }) =>
      words.map((word, at) => ({
        driver: pools.some((pool) => known[at][pool.driver]),
        devices: devices.map((name, each) => known[at][models[each]] || has(name, word)),
      })),
    );
    /** @type {Map<number, Hit>} */
    const found = new Map();
    scenes[scene].places.forEach((place, at) => {
      const now = changes(scene, at);
      const layout = layouts[place.kind];
      const said = [...(place.away || []), ...(place.labels || [])];
      const inName = words.map((word) => has(place.name, word));
      const own = words.map((_, word) => inName[word] || said.some((each) => known[word][each]));
      const ofDevice = (/** @type {number} */ word, /** @type {number} */ each) => {
        const change = now?.get(each);
        const detail = place.details?.[each];
        const holder = change ? has(change[1], words[word]) : detail !== undefined && known[word][detail];
        return layout[word].devices[each] || holder;
      };
      const devices = [...layoutOf(scene, at).devices.keys()].filter(
        (each) =>
          words.some((_, word) => ofDevice(word, each)) &&
          words.every((_, word) => own[word] || layout[word].driver || ofDevice(word, each)),
      );
      const all = own.every(Boolean);
      if (all || devices.length) found.set(at, { named: all && inName.some(Boolean), devices });
    });
    return found;
  }

  const chosen = () => /** @type {Asked | undefined} */ (picks[picked]);
  return {
    data,
    scenes,
    picks,
    text,
    leads,
    pick,
    chosen,
    picked: () => picked,
    mark,
    device,
    letters,
    slotsOf,
    amounts,
    verdict,
    away,
    models,
    standing,
    kind,
    used,
    together,
    largest,
    alone,
    touched,
    counterpart,
    search,
    layoutOf,
    numbers,
  };
}
