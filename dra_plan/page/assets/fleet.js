// The fleet: every node on one screen, grouped, told apart by what is said of it, filtered and searched.
const MOST_CARDS = 24;
const MOST_BOXES = 320;
const MOST_HITS = 12;
const MOST_REASONS = 5;
const MOST_WAYS = 60;
const SIZES = [26, 24, 22, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6];

function makeFleet(model, drawing, go) {
  const { picks, scenes, text } = model;
  const root = document.getElementById("fleet");
  const view = { scene: scenes.length - 1, group: "model", reason: "", wanted: "", node: -1 };
  const boxes = (scene) => scene.places.reduce((all, place) => all + scene.layouts[place.kind].devices.length, 0);
  const small = scenes.every((scene) => scene.places.length <= MOST_CARDS && boxes(scene) <= MOST_BOXES);
  const tiles = new Map();
  let drawn = "";
  const part = (name) => root.querySelector("." + name);
  const places = () => scenes[view.scene].places.map((_, at) => at);

  // -- why nodes differ: what is said of each, the commonest first ------------------------------------------------------

  /** By place the reason it is told apart by; and of each reason its name, tone, number and class. */
  function reasons() {
    const of = places().map((at) => {
      const verdict = model.verdict(view.scene, at);
      if (!verdict) return usage(at);
      return { key: verdict.label + (verdict.tone === "bad" && verdict.why ? ": " + verdict.why : ""), tone: verdict.tone };
    });
    const found = new Map();
    for (const { key, tone, look } of of) {
      if (!found.has(key)) found.set(key, { key, tone, count: 0, look: look || tone });
      found.get(key).count += 1;
    }
    const order = ["good", "bad", "other", "plain"];
    const sorted = [...found.values()].sort((one, other) => order.indexOf(one.tone) - order.indexOf(other.tone) || other.count - one.count);
    const bad = sorted.filter((each) => each.tone === "bad");
    bad.forEach((each, at) => { each.look = "bad" + Math.min(at, 3); });
    return { of: of.map(({ key }) => found.get(key)), all: sorted };
  }

  function usage(at) {
    const layout = model.layoutOf(view.scene, at);
    if (!layout.devices.length) return { key: "no devices", tone: "plain", look: "u3" };
    const used = model.used(view.scene, at);
    const step = used <= 0 ? 0 : used >= 1 ? 2 : 1;
    return { key: ["wholly free", "partly free", "nothing free"][step], tone: "plain", look: "u" + step };
  }

  // -- groups ------------------------------------------------------------------------------------------------------------

  function groupOf(at, reason) {
    const of = scenes[view.scene].places[at];
    if (view.group === "model") return model.kindName(view.scene, at);
    if (view.group === "said") return reason.key;
    if (view.group === "away") return model.away(view.scene, at) || "not kept away";
    if (view.group === "together") {
      const found = model.together(view.scene, at);
      return found ? found.model + ": " + (found.most || "none") + " free" + (found.by && found.most > 1 ? " in one " + found.by : found.most === 1 ? ", each alone" : "") : model.kindName(view.scene, at);
    }
    const label = scenes[view.scene].labels.indexOf(view.group.slice(6));
    return (of.labels && text(of.labels[label])) || "without the label";
  }

  const options = () => [["model", "model"], ["said", model.picked < 0 ? "use" : "what is said"], ["together", "free together"], ["away", "kept away"],
    ...scenes[view.scene].labels.map((name) => ["label:" + name, "label " + name])];

  // -- drawing -----------------------------------------------------------------------------------------------------------

  function told(at, reason) {
    const counts = model.models(view.scene, at).map((each) => (model.alone() ? each.free + each.gets : each.free) + " of " + each.total + " " + each.name + " free").join(", ");
    return [scenes[view.scene].places[at].name, reason.key, counts, model.away(view.scene, at)].filter(Boolean).join("; ");
  }

  /** Draws the tile of a place, as far as it looks or reads other than before. */
  function tile(at, reason) {
    let made = tiles.get(at);
    const of = scenes[view.scene].places[at];
    if (!made) {
      made = { node: el("a", { href: of.shared ? address(of.name) : nodeAddress(of.name), tabindex: -1, "data-place": at }), looks: "", name: "", fill: 0 };
      tiles.set(at, made);
    }
    made.fill = Math.ceil(model.used(view.scene, at) * 8 - 0.001);
    const looks = "tile " + reason.look + " f" + made.fill + (of.away ? " away" : "") + (model.touched(view.scene, at) ? " touched" : "");
    if (made.looks !== looks) made.node.className = made.looks = looks;
    const name = told(at, reason);
    if (made.name === name) return;
    made.name = made.node.title = name;
    made.node.setAttribute("aria-label", name);
  }

  function drawTiles(found) {
    const groups = new Map();
    for (const at of places()) {
      tile(at, found.of[at]);
      const name = groupOf(at, found.of[at]);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(at);
    }
    const rank = new Map(found.all.map((reason, at) => [reason, at]));
    const order = (one, other) => rank.get(found.of[one]) - rank.get(found.of[other]) || tiles.get(one).fill - tiles.get(other).fill || one - other;
    const sorted = [...groups].sort(([one], [other]) => (one < other ? -1 : 1));
    size(sorted.map(([, each]) => each.length));
    const names = JSON.stringify(sorted.map(([name]) => name));
    if (names !== drawn) part("groups").replaceChildren(...sorted.map(([name], number_) => el("section", { class: "group", "aria-labelledby": "group-" + number_ },
      el("h3", { id: "group-" + number_ }, el("bdi", {}, name), " ", el("span", { class: "more" })), el("div", { class: "tiles" }))));
    drawn = names;
    root.querySelectorAll(".group").forEach((group, at) => {
      const own = sorted[at][1].sort(order);
      group.querySelector(".more").textContent = groupCount(own, found);
      arrange(group.querySelector(".tiles"), own.map((each) => tiles.get(each).node));
    });
    const first = part("tile");
    if (first && !root.querySelector('.tile[tabindex="0"]')) first.tabIndex = 0;
  }

  /** Puts elements into a holder in their order, moving as few as are out of place. */
  function arrange(holder, elements) {
    const own = new Set(elements);
    for (const each of [...holder.childNodes]) if (!own.has(each)) each.remove();
    let next = holder.firstChild;
    for (const each of elements) {
      if (next && next !== each && next.nextSibling === each) next = each;
      if (next === each) next = each.nextSibling;
      else holder.insertBefore(each, next);
    }
  }

  function groupCount(places_, found) {
    const good = places_.filter((at) => found.of[at].tone === "good").length;
    const said = found.all.filter((each) => each.tone === "good");
    return counted(places_.length, "node") + (said.length === 1 ? ", " + said[0].key + " on " + number(good) : "");
  }

  /** The largest tiles with which all groups are on the screen. */
  function size(counts) {
    const wide = part("groups").clientWidth || 600;
    const high = Math.max(200, window.innerHeight - part("groups").getBoundingClientRect().top - window.scrollY - 24);
    const fits = SIZES.find((each) => {
      const gap = each > 14 ? 3 : each > 9 ? 2 : 1;
      const row = Math.max(1, Math.floor((wide + gap) / (each + gap)));
      return counts.reduce((all, count) => all + Math.ceil(count / row) * (each + gap) + 30, 0) <= high;
    }) || SIZES[SIZES.length - 1];
    part("groups").classList.toggle("tiny", fits < 10);
    part("groups").style.setProperty("--tile", fits + "px");
    part("groups").style.setProperty("--gap", (fits > 14 ? 3 : fits > 9 ? 2 : 1) + "px");
  }

  function drawCards() {
    const shown = scenes.map((scene, number_) => el("div", { class: "scene" },
      scenes.length > 1 ? el("h3", { class: "scene-title" }, scene.title) : "",
      scene.places.map((_, at) => {
        const made = drawing.card(number_, at, scenes.length > 1 ? "h4" : "h3");
        if (scenes.length > 1 && model.touched(number_, at)) made.classList.add("touched");
        return made;
      })));
    part("groups").replaceChildren(el("div", { class: "scenes" }, shown));
  }

  function drawReasons(found) {
    const all = found.all.slice(0, MOST_REASONS);
    const rest = found.all.slice(MOST_REASONS);
    const total = places().length;
    part("reasons").replaceChildren(...all.map((each) => {
      const made = el("button", { type: "button", class: "reason " + each.look, "aria-pressed": String(view.reason === each.key) },
        el("b", {}, number(each.count)), " · ", el("span", {}, each.key));
      made.addEventListener("click", () => { view.reason = view.reason === each.key ? "" : each.key; drawReasons(found); narrow(found); });
      return made;
    }), rest.length ? el("span", { class: "rest" }, number(rest.reduce((sum, each) => sum + each.count, 0)) + " for " + counted(rest.length, "other reason")) : "");
    part("share").replaceChildren(bar(found.all.map((each) => ["piece " + each.look, (100 * each.count) / total]), "share-bar"));
  }

  /** What the chips and the search leave: the others are dimmed, or of a few nodes not shown. */
  function narrow(found = reasons()) {
    const wanted = view.wanted.trim().toLowerCase();
    const hits = wanted ? model.search(view.scene, wanted) : undefined;
    const kept = (at) => (!hits || hits.has(at)) && (!view.reason || found.of[at].key === view.reason);
    const left = places().filter(kept);
    if (small) {
      for (const each of root.querySelectorAll(".card")) {
        const scene = Number(each.dataset.scene);
        const at = model.counterpart(scene, view.scene, Number(each.dataset.place));
        each.hidden = at >= 0 ? !kept(at) : Boolean(hits || view.reason);
      }
    } else for (const [at, { node }] of tiles) node.classList.toggle("dim", !kept(at));
    const devices = hits ? [...hits.values()].reduce((all, each) => all + each.devices.length, 0) : 0;
    const none = hits && !left.length;
    part("count").textContent = none ? "Nothing found for “" + view.wanted.trim() + "”."
      : number(left.length) + " of " + counted(places().length, "node") + (hits ? ", " + counted(devices, "device") : "");
    part("hits").replaceChildren(...(hits && !none ? found_(hits, left) : []));
  }

  function found_(hits, left) {
    const lines = [];
    for (const at of left) {
      const { named, devices } = hits.get(at);
      const of = scenes[view.scene].places[at];
      const link = () => el("a", { href: of.shared ? address(of.name) : nodeAddress(of.name) }, el("bdi", {}, of.name));
      if (named || !devices.length) lines.push(el("li", {}, link()));
      else for (const device of devices.slice(0, MOST_HITS)) {
        const [, word, more] = drawing.said(model.device(view.scene, at, device));
        lines.push(el("li", {}, model.layoutOf(view.scene, at).devices[device] + " on ", link(), ": " + word + (more ? ", " + more : "")));
      }
      if (lines.length > MOST_HITS) break;
    }
    return lines.slice(0, MOST_HITS);
  }

  function drawOptions() {
    const select = part("group-by");
    select.replaceChildren(...options().map(([value, name]) => el("option", { value, selected: value === view.group }, name)));
  }

  function draw() {
    if (!root) return;
    const found = reasons();
    drawOptions();
    drawReasons(found);
    if (small) drawCards(); else drawTiles(found);
    narrow(found);
    mark();
    drawWays();
  }

  /** An arrow from each node to the one that its pods go to; where two pictures stand side by side, from one to the other. */
  function drawWays() {
    const [from, to] = small ? [0, scenes.length - 1] : [view.scene, view.scene];
    const found = (scene, name) => {
      const at = model.numbers[scene].get(text(name));
      return small ? root.querySelector('.card[data-scene="' + scene + '"][data-place="' + at + '"]') : tiles.get(at) && tiles.get(at).node;
    };
    const groups = part("groups");
    const origin = groups.getBoundingClientRect();
    const middle = (each) => {
      const box = each.getBoundingClientRect();
      return [box.left - origin.left + box.width / 2, box.top - origin.top + (small ? 20 : box.height / 2), box.width];
    };
    const ways = model.picked < 0 ? [] : picks[model.picked].ways.slice(0, MOST_WAYS)
      .map(([one, other, count]) => [found(from, one), found(to, other), count]).filter(([one, other]) => one && other);
    const old = groups.querySelector(".ways");
    if (old) old.remove();
    if (!ways.length) return;
    const lines = ways.map(([one, other, count]) => {
      const [[x, y], [u, v, wide]] = [middle(one), middle(other)];
      const end = u + (small && x !== u ? Math.sign(x - u) * wide * 0.45 : 0);
      const bend = Math.max(14, Math.abs(end - x) / 5);
      return svg("path", { class: "way", d: ["M", x, y, "Q", (x + end) / 2, Math.min(y, v) - bend, end, v].join(" "), "stroke-width": Math.min(6, 1 + count), "marker-end": "url(#arrow)" });
    });
    const head = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { class: "head", d: "M0 0L8 4L0 8z" }));
    groups.append(svg("svg", { class: "ways", "aria-hidden": "true", width: groups.scrollWidth, height: groups.scrollHeight }, svg("defs", {}, head), ...lines));
  }

  /** The node that is open. */
  function mark() {
    for (const each of root.querySelectorAll(".tile[aria-current], .card[aria-current]")) each.removeAttribute("aria-current");
    if (view.node < 0) return;
    if (small) for (const each of root.querySelectorAll('.card[data-place="' + view.node + '"]')) each.setAttribute("aria-current", "true");
    const open = (tiles.get(view.node) || {}).node;
    if (!open) return;
    for (const each of root.querySelectorAll('.tile[tabindex="0"]')) each.tabIndex = -1;
    open.tabIndex = 0;
    open.setAttribute("aria-current", "true");
  }

  function open(at) {
    view.node = at;
    if (root) mark();
  }

  /** Of nodes that are drawn whole, scrolls to one, where the fleet scrolls by itself. */
  function reveal(at) {
    if (!small || window.innerWidth < 1080) return;
    const found = root.querySelector('.scene:last-child .card[data-place="' + at + '"]');
    if (found) found.scrollIntoView({ block: "nearest" });
  }

  /** The node that is worth looking at first: one that the pick gets, or else the first that is not good, or any. */
  function best() {
    const all = places();
    const said = all.map((at) => model.mark(view.scene, at));
    const changed = scenes.length > 1 ? all.find((at) => model.touched(view.scene, at)) : undefined;
    if (changed !== undefined) return changed;
    const find = (test) => all.find((at) => said[at] && test(said[at]));
    const found = find((mark) => Object.keys(mark[3]).length || Object.keys(mark[5]).length)
      ?? (model.alone() ? undefined : find((mark) => mark[0] === "bad")) ?? find((mark) => mark[0] === "good") ?? find((mark) => mark[0] === "bad" && Object.keys(mark[4]).length) ?? find((mark) => mark[0] === "bad");
    return found === undefined ? all.find((at) => model.layoutOf(view.scene, at).devices.length) ?? all[0] : found;
  }

  // -- what one does ------------------------------------------------------------------------------------------------------

  function keys(event) {
    const tile_ = event.target.closest(".tile");
    if (!tile_ || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...root.querySelectorAll(".tile")];
    const at = all.indexOf(tile_);
    const below = (sign) => {
      const [here, next] = [tile_.getBoundingClientRect(), (each) => each.getBoundingClientRect()];
      const row = (sign > 0 ? all.slice(at + 1) : all.slice(0, at).reverse()).filter((each) => sign * (next(each).top - here.top) > 1);
      const top = row.length ? next(row[0]).top : 0;
      return row.filter((each) => next(each).top === top).sort((one, other) => Math.abs(next(one).left - here.left) - Math.abs(next(other).left - here.left))[0];
    };
    const to = { ArrowRight: () => all[at + 1], ArrowLeft: () => all[at - 1], ArrowDown: () => below(1), ArrowUp: () => below(-1), Home: () => all[0], End: () => all[all.length - 1] }[event.key];
    const found = to && to();
    if (!to) return;
    event.preventDefault();
    if (!found) return;
    tile_.tabIndex = -1;
    found.tabIndex = 0;
    found.focus();
  }

  function show(scene) {
    view.scene = scene;
    tiles.clear();
    drawn = "";
    for (const each of root.querySelectorAll(".which button")) each.setAttribute("aria-pressed", String(Number(each.dataset.scene) === scene));
    draw();
  }

  if (root) {
    document.documentElement.classList.toggle("few", small);
    part("group-by").addEventListener("change", (event) => { view.group = event.target.value; draw(); });
    part("group-label").hidden = small;
    document.getElementById("filter").addEventListener("input", (event) => { view.wanted = event.target.value; narrow(); });
    root.addEventListener("keydown", keys);
    let wide = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth === wide) return;
      wide = window.innerWidth;
      if (small) drawWays(); else draw();
    });
    if (scenes.length > 1 && !small) part("which").replaceChildren(...scenes.map((scene, at) => {
      const made = el("button", { type: "button", "data-scene": at, "aria-pressed": String(at === view.scene) }, scene.title);
      made.addEventListener("click", () => show(at));
      return made;
    }));
  }
  return { draw, open, reveal, best, view, small };
}
