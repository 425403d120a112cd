// A node with its devices, drawn from the model. Text only ever becomes text.
/** An element with attributes (those that are false are left out) and children: elements or texts. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  made.append(...children.flat().filter((child) => child !== undefined && child !== ""));
  return made;
}
const address = (name) => "#" + name.split("/").map(encodeURIComponent).join("/");
const nodeAddress = (name) => address("node/" + name);

const SVG = "http://www.w3.org/2000/svg";
function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** A bar of 100; each piece has a class and a width. */
function bar(pieces, classes = "") {
  let from = 0;
  return svg("svg", { class: "bar " + classes, viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "bar-all", width: 100, height: 6 }),
    ...pieces.map(([name, width]) => svg("rect", { class: name, x: (from += width) - width, width, height: 6 })));
}

function makeDrawing(model) {
  const { data, scenes, text } = model;
  const { words } = data;

  /** What a box says of a device: its class, its state in words, and more. */
  function said(now) {
    const state = STATE[now.letter];
    if (now.gets !== undefined) return ["gets", data.gets, now.gets || now.detail];
    if (now.harm !== undefined) return ["no", data.harm, [now.harm, now.detail].filter(Boolean).join("; ")];
    if (now.note === undefined) return [state, words[state], now.detail];
    const offered = now.letter === "f" || now.letter === "s";
    const more = now.letter === "u" ? [now.detail || now.note] : [now.note, now.detail];
    const told = more.filter((each, at) => each && !more.slice(0, at).some((other) => other.includes(each)));
    return [offered ? "no" : state, words[state] + (offered ? ", " + words.no : ""), told.join("; ")];
  }

  function device(scene, place, at, classes = "", hidden = "") {
    const name = model.layoutOf(scene, place).devices[at];
    const [state, word, more] = said(model.device(scene, place, at));
    return el("li", { class: "dev " + state + classes, "data-at": at, title: name + ": " + word + (more ? ", " + more : "") },
      el("bdi", { class: "n" + hidden }, name), " ", el("span", { class: "s" }, word), " ", el("span", { class: "d" + hidden }, more));
  }

  const boxes = (scene, place, devices) => el("ul", { class: "devs" }, devices.map((at) => device(scene, place, at)));

  function frame(scene, place, label, devices, now) {
    const free = devices.filter((at) => now[at] === "f").length;
    const alone = label && devices.length > 1 && free === 1 ? ": one free, alone" : "";
    return el("div", { class: "frame" + (label ? " labelled" : "") },
      label ? el("p", { class: "label" }, el("bdi", {}, label), alone) : "", boxes(scene, place, devices));
  }

  function slots(numbers, taken, would, names) {
    return el("ul", { class: "row c" + numbers.length }, numbers.map((slot, at) => {
      const state = would.has(at + 1) ? "would" : taken.has(at + 1) ? "taken" : "open";
      const by = names(at + 1);
      return el("li", { class: "slot " + state + " x" + (at + 1) }, el("span", { class: "slot-number" }, slot),
        el("span", { class: "hidden" }, state === "would" ? " " + data.gets : state === "taken" ? " taken" + (by ? " by " + by : "") : " free"));
    }));
  }

  function lane(name, more, row) {
    return el("div", { class: "lane" }, el("p", { class: "lane-name" }, el("bdi", {}, name), " ", more ? el("span", { class: "lane-count" }, more) : ""), row);
  }

  function ruler(scene, place, physical, names, number, fixed) {
    const now = model.letters(scene, place);
    const lies = number === 0 && physical.covered;
    const over = lies ? model.slotsOf(physical, now) : new Map((fixed || []).map((by, at) => [at + 1, by]).filter(([, by]) => by >= 0));
    const would = new Set([...over].filter(([, at]) => lies && now[at] !== now[at].toLowerCase()).map(([slot]) => slot));
    const by = (slot) => (lies ? model.layoutOf(scene, place).devices[over.get(slot)] : text(over.get(slot)));
    const taken = [...over.keys()].filter((slot) => !would.has(slot)).length;
    const count = taken + " of " + names[1].length + " taken" + (would.size ? ", " + would.size + " " + data.gets : "");
    return lane(names[0], count, slots(names[1], over, would, by));
  }

  function amount([name, pips], now) {
    if (!now) return "";
    const picture = pips ? el("span", { class: "pips", "aria-hidden": "true" }, [...Array(pips).keys()].map((at) => el("span", { class: "pip" + (at < now[1] ? " taken" : "") })))
      : bar([["bar-used", now[2]], ["bar-part", 100 - now[2]]], "small");
    return el("li", { class: "amount" }, el("bdi", { class: "amount-name" }, name), " ", el("span", { class: "left" }, text(now[0])), " ", picture);
  }

  function part(scene, place, [start, wide, at]) {
    return device(scene, place, at, " part x" + start + " w" + wide, " hidden");
  }

  function physical(scene, place, of, fixed, left) {
    return el("div", { class: "physical" },
      el("p", { class: "label" }, el("bdi", {}, of.name), " ", el("bdi", {}, of.model)),
      of.slots.map((names, at) => ruler(scene, place, of, names, at, fixed[at])),
      of.rows.map(([profile, row]) => lane(profile, "", el("ul", { class: "row c" + of.columns }, row.map((each) => part(scene, place, each))))),
      of.whole.length ? boxes(scene, place, of.whole) : "",
      left.length ? el("ul", { class: "amounts" }, of.amounts.map((each, at) => amount(each, left[at]))) : "");
  }

  function pools(scene, place) {
    const of = scenes[scene].places[place];
    const now = model.letters(scene, place).map((letter) => letter.toLowerCase());
    const left = model.amounts(scene, place);
    let slot = 0;
    let amountAt = 0;
    return model.layoutOf(scene, place).pools.map((pool) => el("div", { class: "pool" },
      el("p", { class: "pool-name" }, el("bdi", {}, text(pool.driver)), " pool ", el("bdi", { class: "pool-title" }, pool.name === null ? of.name : text(pool.name)),
        pool.state ? [" ", el("strong", { class: "pool-state" }, pool.state)] : ""),
      el("div", { class: "frames" }, pool.frames.map(([label, devices]) => frame(scene, place, text(label), devices, now))),
      pool.physical.map((each) => physical(scene, place, each, (of.slots || []).slice(slot, (slot += each.slots.length)),
        left.slice(amountAt, (amountAt += each.amounts.length))))));
  }

  const reached = (names) => (names.length ? names.slice(0, 6).join(", ") + (names.length > 6 ? " and " + (names.length - 6) + " more" : "") : "no node of the input");

  /** A node, or a pool that nodes share, with its devices; `heading` is the tag of its name. */
  function card(scene, place, heading) {
    const of = scenes[scene].places[place];
    const verdict = model.verdict(scene, place);
    const counts = model.models(scene, place).map((each) => el("p", { class: "fill" }, el("bdi", {}, each.name), ": ",
      el("b", {}, number(each.free) + " of " + number(each.total) + " free" + (each.gets ? ", " + number(each.gets) + " given" : "") + (each.shared ? ", " + each.shared + " shared" : "")),
      each.total ? bar([["bar-part", (100 * each.free) / each.total]]) : ""));
    return el("article", { class: "card" + (verdict && verdict.label ? " verdict-" + verdict.tone : ""), "data-scene": scene, "data-place": place },
      el("header", {},
        el(heading, { class: "card-title" }, el("a", { class: "title", href: of.shared ? address(of.name) : nodeAddress(of.name) }, el("bdi", {}, of.name)), of.new ? [" ", el("span", { class: "badge new" }, "new")] : ""),
        of.away ? el("p", { class: "kept" }, "Kept away: " + model.away(scene, place)) : "",
        verdict ? el("p", { class: "verdict" }, verdict.label, verdict.why ? el("span", { class: "message" }, verdict.why) : "") : "",
        model.layoutOf(scene, place).devices.length ? counts : el("p", { class: "fill" }, "no devices"),
        of.shared ? el("p", { class: "fill" }, "Reached by " + reached(of.reached || [])) : ""),
      pools(scene, place));
  }

  return { card, said };
}
