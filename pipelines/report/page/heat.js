
// Heat maps of the networks of another section: the strongest variables in rows and columns,
// in the order of their clusters, and a cell for every edge between them.
function makeHeats(parent, data) {
  const source = JSON.parse(document.querySelector(`#${data.of} .networks script`).textContent);
  const networks = source.networks;
  let current = source.chosen, kind = signKind, names = [], cells = [], at = null;
  const controls = add(parent, "div", { class: "bar-of-controls" });
  const pickers = makePickers(controls, networks, "Heat map shown", choose);
  const stage = add(parent, "div", { class: "stage heat" });
  const paper = makeCanvas(stage, draw);
  const box = add(stage, "div", { class: "cells", tabindex: "0", role: "img" });
  const tip = makeTip(stage);
  const said = add(parent, "span", { class: "skip", "aria-live": "polite" });
  const keyList = add(parent, "ul", { class: "key-list" });
  const note = add(parent, "p", { class: "keys" });
  // Where the cells begin, and how large they are.
  const place = { x: 0, y: 0, side: 1 };

  function choose(k) {
    current = k;
    pickers(k);
    const n = networks[k], position = new Map(n.row.map((i, r) => [i, r]));
    names = n.row.map((i) => source.names[n.nodes[i]]);
    cells = names.map(() => new Map());
    const strong = shares(n.scores);
    let drawn = 0;
    n.scores.forEach((score, e) => {
      const i = position.get(n.edges[4 * e]), j = position.get(n.edges[4 * e + 1]);
      if (i === undefined || j === undefined) return;
      const cell = { score, share: strong[e], sign: n.edges[4 * e + 2], known: n.edges[4 * e + 3] };
      cells[i].set(j, cell);
      if (!n.directed) cells[j].set(i, cell);
      drawn++;
    });
    const all = cells.flatMap((row) => [...row.values()]);
    keyList.textContent = "";
    // Where no sign is known, colours say what a reference does.
    kind = all.some((c) => c.sign) || !all.some((c) => c.known) ? signKind : knownKind;
    kind.values.forEach((value) => {
      if (!all.some((c) => kind.of(c) === value)) return;
      const li = add(keyList, "li");
      const s = add(li, "svg", { width: 62, height: 12, "aria-hidden": "true" });
      for (let k = 0; k < 5; k++) add(s, "rect", { x: 12 * k, y: 0, width: 12, height: 12, fill: `var(${kind.colour(value)})`, opacity: strength((k + 1) / 5) });
      li.append(kind.word(value));
    });
    if (all.length) add(keyList, "li", {}, `Full colour: ${n.score || "score"} ${figure(Math.max(...n.scores))}; empty: no edge.`);
    const of = names.length < n.degrees.length ? `The ${names.length} most strongly connected of ${n.degrees.length} variables with edges` : `All ${names.length} variables with edges`;
    note.textContent = `${of}, and the ${drawn} edges between them. ${n.directed ? "Edges lead from the row to the column. " : ""}Arrow keys read cells, with Shift from edge to edge.`;
    box.setAttribute("aria-label", `Heat map of ${n.name || "the network"}: ${names.length} variables, ${drawn} edges. Arrow keys read cells.`);
    leave();
    draw();
  }

  const strength = (share) => .12 + .88 * share;

  function draw() {
    const W = stage.clientWidth, n = Math.max(1, names.length);
    if (!W) return;
    // Names stand beside the cells where these are as high as letters.
    const letters = Math.min(16, Math.max(2, ...names.map((s) => Array.from(s).length)));
    const margin = Math.round(6.6 * letters + 14), room = Math.min(720, W - 24);
    const named = (room - margin) / n >= 11;
    const edge = named ? margin : 12;
    place.side = Math.min(34, (named ? room - margin : room) / n);
    const size = place.side * n;
    place.x = Math.round((W - size - (named ? edge - 12 : 0)) / 2 + (named ? edge - 12 : 0));
    place.y = edge;
    const H = Math.round(size + edge + 12);
    stage.style.height = H + "px";
    const c = paper.start(W, H);
    c.fillStyle = paper.colour("--panel");
    c.fillRect(place.x, place.y, size, size);
    const low = (k) => Math.round(k * place.side), gap = place.side >= 8 ? 1 : 0;
    cells.forEach((row, i) => {
      c.fillStyle = paper.colour("--faint"); // the diagonal
      c.fillRect(place.x + low(i), place.y + low(i), low(i + 1) - low(i) - gap, low(i + 1) - low(i) - gap);
      for (const [j, cell] of row) {
        c.globalAlpha = strength(cell.share);
        c.fillStyle = paper.colour(kind.colour(kind.of(cell)));
        c.fillRect(place.x + low(j), place.y + low(i), low(j + 1) - low(j) - gap, low(i + 1) - low(i) - gap);
        c.globalAlpha = 1;
      }
    });
    c.strokeStyle = paper.colour("--line");
    c.strokeRect(place.x - .5, place.y - .5, size + 1, size + 1);
    if (named) {
      c.fillStyle = paper.colour("--ink");
      c.font = `${Math.min(12, Math.max(9, place.side - 2))}px ${getComputedStyle(document.body).fontFamily}`;
      c.textBaseline = "middle";
      names.forEach((name, i) => {
        const middle = (i + .5) * place.side;
        c.textAlign = "right";
        c.fillText(clip(name, 16), place.x - 5, place.y + middle, edge - 14);
        c.save();
        c.translate(place.x + middle, place.y - 5);
        c.rotate(-Math.PI / 2);
        c.textAlign = "left";
        c.fillText(clip(name, 16), 0, 0, edge - 8);
        c.restore();
      });
    }
    if (at) {
      c.strokeStyle = paper.colour("--ink");
      c.lineWidth = 2;
      c.strokeRect(place.x + low(at[1]) - 1, place.y + low(at[0]) - 1, Math.max(4, place.side + 1), Math.max(4, place.side + 1));
      c.lineWidth = 1;
    }
    Object.assign(box.style, { left: place.x + "px", top: place.y + "px", width: size + "px", height: size + "px" });
    paper.canvas.dataset.cells = cells.reduce((sum, row) => sum + row.size, 0);
  }

  function words([i, j]) {
    if (i === j) return [names[i]];
    const cell = cells[i].get(j), n = networks[current];
    const pair = `${clip(names[i], 40)} ${n.directed ? "\u2192" : "\u2014"} ${clip(names[j], 40)}`;
    return cell ? [pair, `score ${figure(cell.score)}, ${kind.word(kind.of(cell))}`] : [pair, "no edge"];
  }

  function go(to) {
    at = to;
    draw();
    tip.show(words(at), place.x + (at[1] + .5) * place.side, place.y + (at[0] + .5) * place.side);
  }

  function leave() {
    tip.hide();
    if (!at) return;
    at = null;
    draw();
  }

  box.addEventListener("pointermove", (e) => {
    const b = box.getBoundingClientRect(), n = names.length;
    const j = Math.floor((e.clientX - b.left) / place.side), i = Math.floor((e.clientY - b.top) / place.side);
    if (i < 0 || j < 0 || i >= n || j >= n) leave();
    else if (!at || at[0] !== i || at[1] !== j) go([i, j]);
  });
  box.addEventListener("pointerleave", leave);
  box.addEventListener("blur", leave);
  box.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { leave(); return; }
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[e.key], n = names.length;
    if (!step || !n || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const inside = ([i, j]) => i >= 0 && j >= 0 && i < n && j < n;
    let to = at ? [at[0] + step[0], at[1] + step[1]] : [0, 0];
    if (at && e.shiftKey) while (inside(to) && !cells[to[0]].has(to[1])) to = [to[0] + step[0], to[1] + step[1]];
    if (inside(to)) go(to);
    said.textContent = at ? words(at).join(", ") : "";
  });
  let width = 0;
  new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    draw();
  }).observe(stage);
  choose(current);
}
