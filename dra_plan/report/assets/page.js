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

  // -- what is taken by now: with a slider, what the pods before took and freed --------------------------------------

  const taken = scenes.map(() => new Map());
  function take() {
    for (const map of taken) map.clear();
    if (!slider) return;
    picks.slice(0, Math.max(0, picked)).forEach((pick) => {
      for (const [place, at] of pick.frees) taken[0].set(place + ":" + at, ["f", ""]);
      for (const [place, at, text] of pick.takes) taken[0].set(place + ":" + at, ["u", data.texts[text]]);
    });
    if (picked >= 0) for (const [place, at] of picks[picked].frees) taken[0].set(place + ":" + at, ["f", ""]);
  }

  // -- drawing -------------------------------------------------------------------------------------------------------

  function markOf(number, place) {
    return picked < 0 ? undefined : (picks[picked].marks[number] || {})[place];
  }

  function draw(card) {
    const number = Number(card.closest(".scene").dataset.scene);
    const scene = scenes[number];
    const kind = Number(card.dataset.kind);
    const chosen = card.dataset.chosen;
    const number_of = chosen === undefined ? best(number, kind) : Number(chosen);
    const place = scene.places[number_of];
    const mark = markOf(number, number_of);
    card.dataset.place = number_of;
    one(".title", card).textContent = place.name;
    all(".pool-title", card).forEach((title, at) => { title.textContent = place.pools[at][0]; });
    verdict(card, number, kind, mark);
    const would = new Set();
    for (const box of all(".dev", card)) {
      const at = box.dataset.at;
      const [letter, whom] = taken[number].get(number_of + ":" + at) || [place.states[at], undefined];
      const detail = whom === undefined ? text(scene, place.details[at]) : whom;
      const gets = mark && mark[3][at];
      const note = mark && mark[4][at];
      const part = box.classList.contains("part");
      for (const name of [...Object.values(STATE), "gets", "no"]) box.classList.remove(name);
      box.classList.add(STATE[letter]);
      let said = words[STATE[letter]];
      let more = detail;
      if (gets !== undefined) {
        box.classList.add("gets");
        said = getsWord;
        more = text(data, gets) ? "request " + text(data, gets) : detail;
        if (part) for (let slot = 0; slot < Number(box.dataset.width); slot += 1) {
          would.add(Number(box.dataset.from) + slot);
        }
      } else if (note !== undefined) {
        if (letter === "f" || letter === "s") box.classList.add("no");
        said = letter === "f" ? words.free + ", not suitable" : said;
        more = letter === "u" && detail ? detail : text(data, note);
      }
      one(".s", box).textContent = said;
      one(".d", box).textContent = more;
      box.title = one(".n", box).textContent + ": " + said + (more ? ", " + more : "");
    }
    if (slider) for (const fill of all(".fill[data-model]", card)) count(fill, card);
    for (const slot of all(".slot", card)) slot.classList.toggle("would", would.has(Number(slot.dataset.slot)));
  }

  // How many devices of a model are free by now.
  function count(fill, card) {
    const boxes = all(".dev:not(.part)", card).filter((box) => box.dataset.model === fill.dataset.model);
    const free = boxes.filter((box) => box.classList.contains("free") && !box.classList.contains("gets")).length;
    one("b", fill).textContent = free + " of " + boxes.length + " free";
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
    take();
    for (const card of cards) draw(card);
    links.forEach((link, at) => {
      if (at === number) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    });
    const key = number < 0 ? null : picks[number].key;
    for (const answer of answers) answer.classList.toggle("aside", !every && key !== null && answer.id !== key);
    if (slider) slider.value = String(number + 1);
    if (slider) slider.setAttribute("aria-valuetext", number < 0 ? "before all pods" : picks[number].name + ": " + picks[number].word);
    if (status) status.textContent = number < 0 ? "Nothing is picked: the cluster as it is."
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
    const states = scenes[number].places[at].states;
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
  const first = asked >= 0 ? asked : failing >= 0 ? failing : slider || !picks.length ? -1 : 0;
  pick(first);
  document.documentElement.dataset.ready = "yes";
})();
