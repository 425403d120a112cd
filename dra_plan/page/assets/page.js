// What the page can do beyond being read: a claim set is picked and shown on the picture, nodes are found and opened.
// Text only ever becomes text (textContent); nothing is fetched, nothing is kept.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { picks, scenes, words, gets: getsWord } = data;
  const STATE = { f: "free", u: "used", s: "shared", t: "tainted", o: "out" };
  const one = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  document.documentElement.classList.add("js");

  let picked = -1;
  const status = one(".picked");
  const slider = document.getElementById("time");

  // -- other moments: what is another than in the beginning, after the pods before, or when a pod was tried last -------

  const devicesNow = new Map();
  const amountsNow = new Map();
  function goToMoment() {
    devicesNow.clear();
    amountsNow.clear();
    if (picked < 0) return;
    const moment = picks[picked].moment;
    const changes = moment === null ? picks.slice(0, picked).map((pick) => pick.change) : [data.moments[moment]];
    for (const [devices, amounts] of changes.filter((change) => change)) {
      for (const [place, at, letter, number] of devices) devicesNow.set(place + ":" + at, [letter, data.texts[number]]);
      for (const place of Object.keys(amounts)) amountsNow.set(place, amounts[place]);
    }
  }

  // The state and the detail of a device: in one of the pictures there may be other moments.
  function stateOf(number, at, device) {
    const place = scenes[number].places[at];
    const changed = number === data.moments_in ? devicesNow.get(at + ":" + device) : undefined;
    return changed || [place.states[device], text(scenes[number], place.details[device])];
  }

  // -- drawing -------------------------------------------------------------------------------------------------------

  function markOf(number, place) {
    return picked < 0 ? undefined : (picks[picked].marks[number] || {})[place];
  }

  function draw(card) {
    const number = Number(card.closest(".scene").dataset.scene);
    const kind = Number(card.dataset.kind);
    const chosen = card.dataset.chosen;
    const number_of = chosen === undefined ? best(number, kind) : Number(chosen);
    const place = scenes[number].places[number_of];
    const mark = markOf(number, number_of);
    card.dataset.place = number_of;
    one(".title", card).textContent = place.name;
    all(".pool-title", card).forEach((title, at) => { title.textContent = place.pools[at][0]; });
    verdict(card, number, kind, mark);
    for (const box of all(".dev", card)) {
      const at = box.dataset.at;
      const [letter, detail] = stateOf(number, number_of, at);
      const gets = mark && mark[3][at];
      const note = mark && mark[4][at];
      const harm = mark && mark[5][at];
      for (const name of [...Object.values(STATE), "gets", "no"]) box.classList.remove(name);
      box.classList.add(STATE[letter]);
      let said = words[STATE[letter]];
      let more = detail;
      if (gets !== undefined) {
        box.classList.add("gets");
        said = getsWord;
        more = text(data, gets) || detail;
      } else if (harm !== undefined) {
        box.classList.add("no");
        said = data.harm;
        more = text(data, harm) + "; " + detail;
      } else if (note !== undefined) {
        const offered = letter === "f" || letter === "s";
        if (offered) box.classList.add("no");
        said = offered ? said + ", " + words.no : said;
        more = letter === "u" ? detail || text(data, note) : [text(data, note), detail].filter((each, at, both) =>
          each && !both.some((other, place) => place < at && other.includes(each))).join("; ");
      }
      one(".s", box).textContent = said;
      one(".d", box).textContent = more;
      box.title = one(".n", box).textContent + ": " + said + (more ? ", " + more : "");
    }
    if (slider || data.moments.length) for (const fill of all(".fill[data-model]", card)) count(fill, card);
    for (const physical of all(".physical", card)) slots(physical);
    if (number === data.moments_in) amounts(card, amountsNow.get(String(number_of)));
  }

  // The slots of a physical device, by the parts that lie over them.
  function slots(physical) {
    const by = new Map();
    const would = new Set();
    for (const part of all(".part", physical)) for (let slot = 0; slot < Number(part.dataset.width); slot += 1) {
      const at = Number(part.dataset.from) + slot;
      if (part.classList.contains("gets")) would.add(at);
      else if (part.classList.contains("used") || part.classList.contains("shared")) by.set(at, one(".n", part).textContent);
    }
    const lane = one(".lane.slots", physical);
    if (!lane) return;
    for (const slot of all(".slot", lane)) {
      const at = Number(slot.dataset.slot);
      slot.classList.toggle("would", would.has(at));
      slot.classList.toggle("taken", by.has(at));
      slot.classList.toggle("open", !by.has(at));
      one(".hidden", slot).textContent = would.has(at) ? " " + getsWord : by.has(at) ? " taken by " + by.get(at) : " free";
    }
    one(".lane-count", lane).textContent = by.size + " of " + all(".slot", lane).length + " taken"
      + (would.size ? ", " + would.size + " " + getsWord : "");
  }

  // What the counters of a node have left; without anything else, as in the beginning.
  function amounts(card, now) {
    all(".amount", card).forEach((amount, at) => {
      const left = one(".left", amount);
      if (left.dataset.first === undefined) left.dataset.first = left.textContent;
      const first = amount.dataset.taken.split(",").map(Number);
      const [pips, percent] = now ? now[at].slice(1) : first;
      left.textContent = now ? data.texts[now[at][0]] : left.dataset.first;
      all(".pip", amount).forEach((pip, number) => pip.classList.toggle("taken", number < pips));
      const bar = one(".bar-used", amount);
      if (bar) bar.setAttribute("width", String(percent));
    });
  }

  // How many devices of a model are free by now.
  function count(fill, card) {
    const boxes = all(".dev:not(.part)", card).filter((box) => box.dataset.model === fill.dataset.model);
    const left = boxes.filter((box) => !box.classList.contains("gets"));
    const free = left.filter((box) => box.classList.contains("free")).length;
    const shared = left.filter((box) => box.classList.contains("shared")).length;
    one("b", fill).textContent = free + " of " + boxes.length + " free" + (shared ? ", " + shared + " shared" : "");
    one(".bar-part", fill).setAttribute("width", String(boxes.length ? 100 * free / boxes.length : 0));
  }

  function text(from, number) {
    return number === undefined ? "" : from.texts[number];
  }

  const kinds = scenes.map((scene) => {
    const found = [];
    scene.places.forEach((place, at) => { (found[place.kind] = found[place.kind] || []).push(at); });
    return found;
  });

  // The place to draw for a kind: the first on which the pick fits, or gets anything; else the first.
  function best(number, kind) {
    const places = kinds[number][kind];
    const fits = (at) => { const mark = markOf(number, at); return mark && mark[0] === "good"; };
    const found = picked < 0 ? undefined : places.find(fits);
    return found === undefined ? places[0] : found;
  }

  function verdict(card, number, kind, mark) {
    const line = one(".verdict", card);
    card.classList.remove("verdict-good", "verdict-bad", "verdict-other");
    line.hidden = !mark;
    line.textContent = "";
    if (!mark) return;
    const places = kinds[number][kind];
    const label = text(data, mark[1]);
    const same = places.filter((at) => { const other = markOf(number, at); return other && text(data, other[1]) === label; });
    line.textContent = label + (places.length > 1 ? " on " + same.length + " of " + places.length : "");
    if (text(data, mark[2])) {
      const message = document.createElement("span");
      message.className = "message";
      message.textContent = text(data, mark[2]);
      line.append(message);
    }
    if (label) card.classList.add("verdict-" + mark[0]); else line.hidden = true;
  }

  const cards = all(".card");
  const links = all(".pick");
  const answers = all(".answer");
  let every = false;

  function pick(number, { move = false } = {}) {
    picked = number;
    goToMoment();
    for (const card of cards) draw(card);
    links.forEach((link, at) => {
      if (at === number) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    });
    const key = number < 0 ? null : picks[number].key;
    for (const answer of answers) answer.classList.toggle("aside", !every && key !== null && answer.id !== key);
    if (slider) slider.value = String(number + 1);
    if (slider) slider.setAttribute("aria-valuetext", number < 0 ? "before all pods" : picks[number].name + ": " + picks[number].word);
    if (status) status.textContent = number < 0 ? (picks.length ? "Nothing is picked: the cluster as it is." : "The cluster as it is.")
      : "Shown: " + picks[number].name + " - " + picks[number].word + (slider && picks[number].tone === "good" ? ", " + picks[number].line : "");
    for (const others of all("details.others[open]")) list(others);
    if (move && number >= 0) {
      links[number].scrollIntoView({ block: "nearest" });
    }
  }

  links.forEach((link, at) => link.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(null, "", "#" + picks[at].key);
    pick(at);
  }));
  const nothing = document.getElementById("nothing");
  if (nothing) nothing.addEventListener("click", () => pick(-1));
  if (slider) slider.addEventListener("input", () => pick(Number(slider.value) - 1, { move: true }));
  const button = document.getElementById("every");
  if (button) button.addEventListener("click", () => {
    every = !every;
    button.setAttribute("aria-pressed", String(every));
    pick(picked);
  });

  // -- single nodes of a kind, made when they are opened -----------------------------------------------------------------

  const MOST = 200;
  function list(details) {
    const card = details.closest(".card");
    const number = Number(card.closest(".scene").dataset.scene);
    const wanted = find();
    const places = kinds[number][Number(card.dataset.kind)].filter((at) => !wanted || matches(scenes[number].places[at], wanted));
    const holder = one(".singles", details) || document.createElement("ul");
    holder.className = "singles";
    holder.textContent = "";
    for (const at of places.slice(0, MOST)) {
      const row = document.createElement("li");
      const open = document.createElement("button");
      open.type = "button";
      open.className = "single";
      open.setAttribute("aria-pressed", String(card.dataset.place === String(at)));
      const name = document.createElement("span");
      name.className = "single-name";
      name.textContent = scenes[number].places[at].name;
      const state = document.createElement("span");
      state.className = "single-state";
      state.textContent = told(number, at);
      open.append(name, state);
      open.addEventListener("click", () => {
        card.dataset.chosen = String(at);
        draw(card);
        for (const other of all(".single", details)) other.setAttribute("aria-pressed", String(other === open));
      });
      row.append(open);
      holder.append(row);
    }
    if (places.length > MOST) {
      const rest = document.createElement("li");
      rest.textContent = (places.length - MOST) + " more: find them by name above.";
      holder.append(rest);
    }
    const names = one(".names", details);
    if (names) names.remove();
    details.append(holder);
  }

  function told(number, at) {
    const mark = markOf(number, at);
    const states = [...scenes[number].places[at].states].map((_, device) => stateOf(number, at, device)[0]).join("");
    const counted = Object.keys(STATE).filter((letter) => states.includes(letter))
      .map((letter) => states.split(letter).length - 1 + " " + words[STATE[letter]]).join(", ");
    return mark && text(data, mark[1]) ? text(data, mark[1]) + "; " + counted : counted;
  }

  for (const details of all("details.others")) details.addEventListener("toggle", () => { if (details.open) list(details); });

  // -- finding -----------------------------------------------------------------------------------------------------------

  const filter = document.getElementById("filter");
  const find = () => (filter ? filter.value.trim().toLowerCase() : "");
  const matches = (place, wanted) => place.name.toLowerCase().includes(wanted);
  if (filter) filter.addEventListener("input", () => {
    const wanted = find();
    for (const card of cards) {
      const number = Number(card.closest(".scene").dataset.scene);
      const places = kinds[number][Number(card.dataset.kind)];
      const named = places.find((at) => matches(scenes[number].places[at], wanted));
      const shown = !wanted || named !== undefined || card.textContent.toLowerCase().includes(wanted);
      card.hidden = !shown;
      if (wanted && named !== undefined) card.dataset.chosen = String(named); else delete card.dataset.chosen;
      if (shown) draw(card);
    }
    for (const others of all("details.others[open]")) list(others);
  });

  // -- the document, where it is too long to stand in the page as text -----------------------------------------------------

  const whole = document.getElementById("document");
  if (whole && data.document_follows) whole.addEventListener("toggle", () => {
    const place = one(".document", whole);
    if (whole.open && !place.dataset.filled) {
      place.dataset.filled = "yes";
      place.textContent = JSON.stringify(data.document, null, 2)
        .replace(/[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/g,
          (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
    }
  });

  const asked = picks.findIndex((each) => "#" + each.key === location.hash);
  const failing = slider ? -1 : picks.findIndex((each) => each.tone === "bad");
  const usual = failing >= 0 ? failing : slider || !picks.length ? -1 : 0;
  const first = asked >= 0 ? asked : data.opens_on === null ? usual : data.opens_on;
  pick(first);
  document.documentElement.dataset.ready = "yes";
})();
