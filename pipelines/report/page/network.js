
// A network is drawn from the places of its nodes; the reader zooms, moves, points
// and chooses.
function makeNetworks(parent, data) {
  const networks = data.networks;
  const controls = add(parent, "div", { class: "bar-of-controls" });
  let current = 0, shown = 0, arranged = 0, chosen = -1;
  let bySign = networks.some((n) => n.edges.some((v, i) => i % 4 === 2 && v));
  let nodes = [], edges = [], near = [];
  const view = { k: 1, x: 0, y: 0 };

  const pickers = makePickers(controls, networks, "Network shown", choose);
  const label = add(controls, "label", {}, "edges ");
  const slider = add(label, "input", { type: "range", min: 0, max: 1000, "aria-label": "strongest edges" });
  const exact = add(label, "input", { type: "number", min: 1, "aria-label": "number of edges" });
  const count = add(label, "output");
  const find = add(add(controls, "label", {}, "find "), "input", { type: "search", placeholder: "a variable", autocomplete: "off", spellcheck: "false" });
  const known = networks.some((n) => n.edges.some((v, i) => i % 4 === 3 && v));
  if (!known) bySign = true;
  else {
    const group = add(controls, "span", { class: "group", role: "group", "aria-label": "Colour of edges" });
    const buttons = ["sign", "reference"].map((name, k) => {
      const b = add(group, "button", { type: "button", "aria-pressed": String((k === 0) === bySign) }, `colour by ${name}`);
      b.addEventListener("click", () => {
        bySign = k === 0;
        buttons.forEach((o, i) => o.setAttribute("aria-pressed", String(i === k)));
        legend();
        draw();
      });
      return b;
    });
  }

  const stage = add(parent, "div", { class: "stage" });
  const paper = makeCanvas(stage, draw); // for the edges, of which there are many
  const svg = add(stage, "svg", { tabindex: "0", role: "application", "aria-roledescription": "drawing of a network" });
  const zoom = add(stage, "div", { class: "zoom" });
  for (const [sign, name, act] of [["+", "Zoom in", () => zoomBy(1.4)], ["\u2212", "Zoom out", () => zoomBy(1 / 1.4)], ["\u2922", "Show all", fit]]) {
    const b = add(zoom, "button", { type: "button", "aria-label": name, title: name }, sign);
    b.addEventListener("click", act);
  }
  const tip = makeTip(stage);
  const keyList = add(parent, "ul", { class: "key-list" });
  const hubs = add(parent, "div", { class: "hubs" });
  const chosenText = add(parent, "p", { class: "chosen", "aria-live": "polite" });
  add(parent, "p", { class: "keys" }, "Drag to move. Click the drawing first to zoom with the wheel or two fingers; keys: + and \u2212 zoom, arrows move, 0 shows all, Escape lets go.");
  const listing = makeEdgeTable(parent, () => edges, columns, () => (edges.length < net().total ? `The ${edges.length} strongest of ${net().total} edges as a table` : `All ${edges.length} edges as a table`));

  const net = () => networks[current];
  const signOf = (e) => signWord(e.sign);
  const knownOf = (e) => knownKind.word(e.known);
  const strokeOf = (e) => (bySign ? signColour(e.sign) : knownKind.colour(e.known));
  const dashed = (e) => (bySign ? e.sign < 0 : e.known === 2);

  function choose(k) {
    current = k;
    pickers(k);
    const n = net();
    nodes = n.nodes.map((name, i) => ({ name: data.names[name], degree: n.degrees[i], x: 0, y: 0, regulator: false }));
    for (const i of n.regulators || []) nodes[i].regulator = true;
    edges = n.scores.map((score, i) => ({ from: n.edges[4 * i], to: n.edges[4 * i + 1], sign: n.edges[4 * i + 2], known: n.edges[4 * i + 3], score, sure: (n.sure || []).map((c) => c.values[i]) }));
    wide = widths(n.scores);
    most = n.degrees.reduce((m, d) => Math.max(m, d), 50);
    exact.max = edges.length;
    slider.disabled = exact.disabled = edges.length < 2;
    chosen = -1;
    chosenText.textContent = "";
    arranged = 0;
    setShown(Math.min(edges.length, n.shown || Infinity, stage.clientWidth < 500 ? 100 : 200));
    listing.reset();
    legend();
    fit();
  }

  // arrange lays the components of the edges shown on shelves, the highest first, in the
  // shape of the stage.
  function arrange() {
    arranged = shown;
    const places = net().layouts.find((l) => l.edges >= shown).places;
    nodes.forEach((n, i) => { n.x0 = places[3 * i] / 1000; n.y0 = places[3 * i + 1] / 1000; n.part = places[3 * i + 2]; });
    const gap = 1.1, found = [];
    nodes.forEach((n, i) => {
      if (!near[i].length) return;
      const p = found[n.part] || (found[n.part] = { members: [], x0: n.x0, x1: n.x0, y0: n.y0, y1: n.y0 });
      p.members.push(i);
      p.x0 = Math.min(p.x0, n.x0); p.x1 = Math.max(p.x1, n.x0);
      p.y0 = Math.min(p.y0, n.y0); p.y1 = Math.max(p.y1, n.y0);
    });
    const parts = found.filter((p) => p);
    for (const p of parts) { p.w = p.x1 - p.x0 + gap; p.h = p.y1 - p.y0 + gap * .8; }
    parts.sort((a, b) => b.h - a.h || b.w - a.w || a.members[0] - b.members[0]);
    const [W, H] = size();
    const widest = parts.reduce((w, p) => Math.max(w, p.w), 0);
    // The narrowest shelves on which all fit into the shape.
    const lay = (limit, put) => {
      let x = 0, y = 0, shelf = 0, right = 0;
      for (const p of parts) {
        if (x > 0 && x + p.w > limit) { x = 0; y += shelf; shelf = 0; }
        if (put) for (const i of p.members) { nodes[i].x = nodes[i].x0 - p.x0 + x; nodes[i].y = nodes[i].y0 - p.y0 + y; }
        x += p.w;
        right = Math.max(right, x);
        shelf = Math.max(shelf, p.h);
      }
      return right / W > (y + shelf) / H;
    };
    let limit = widest;
    for (let k = 0; k < 60 && parts.length > 1 && !lay(limit); k++) limit *= 1.08;
    lay(limit, true);
  }

  // The slider goes by ratios: small numbers are what one wants to tell apart.
  const ofSlider = () => Math.round(edges.length ** (slider.value / 1000));
  const toSlider = (n) => (edges.length > 1 ? Math.round(1000 * Math.log(Math.max(1, n)) / Math.log(edges.length)) : 1000);

  // setShown draws so many edges.
  function setShown(n) {
    shown = Math.max(Math.min(1, edges.length), Math.min(edges.length, n));
    exact.value = shown;
    if (ofSlider() !== shown) slider.value = toSlider(shown);
    count.textContent = `of ${net().total}${edges.length < net().total ? `, of which the page has ${edges.length}` : ""}`;
    slider.setAttribute("aria-valuetext", `${shown} strongest of ${net().total} edges`);
    near = nodes.map(() => []);
    edges.slice(0, shown).forEach((e, k) => { near[e.from].push(k); near[e.to].push(k); });
    if (shown > arranged) { arrange(); fit(); }
    svg.setAttribute("aria-label", `${net().name ? net().name + ": " : ""}${shown} strongest edges between ${near.filter((l) => l.length).length} variables`);
    crowd = Math.min(1, Math.max(.5, Math.sqrt(300 / near.filter((l) => l.length).length)));
    const order = nodes.map((n, i) => i).filter((i) => near[i].length).sort((a, b) => nodes[b].degree - nodes[a].degree || a - b);
    hubs.textContent = order.length ? "Hubs: " : "No edges.";
    for (const i of order.slice(0, 8)) {
      const b = add(hubs, "button", { type: "button", title: nodes[i].name });
      add(b, "bdi", {}, clip(nodes[i].name, 24));
      b.append(` ${nodes[i].degree}`);
      b.addEventListener("click", () => { select(chosen === i ? -1 : i); centre(i); });
    }
    draw();
  }

  function legend() {
    keyList.textContent = "";
    const has = (test) => edges.some(test);
    const item = (text, stroke, dashes) => {
      const li = add(keyList, "li");
      const s = add(li, "svg", { width: 30, height: 10, "aria-hidden": "true" });
      add(s, "path", { d: "M1 5H29", stroke: `var(${stroke})`, "stroke-width": 3, "stroke-dasharray": dashes ? "5 3" : "" });
      li.append(text);
    };
    if (bySign) {
      if (has((e) => e.sign > 0)) item("positive", "--plus", false);
      if (has((e) => e.sign < 0)) item("negative", "--minus", true);
      if (has((e) => !e.sign)) item("sign unknown", "--unknown", false);
    } else {
      item("in the reference", "--right", false);
      item("not in it", "--wrong", true);
      if (has((e) => !e.known)) item("not among its pairs", "--unknown", false);
    }
    add(keyList, "li", {}, `Width: ${net().score || "score"}. Size of a point: its edges among all ${net().total}.${nodes.some((n) => n.regulator) ? " Squares: regulators." : ""}`);
  }

  let fitted = 1;
  const size = () => [Math.max(200, stage.clientWidth), Math.max(200, svg.clientHeight)];
  // Points are smaller the more there are, as long as the drawing is not zoomed into.
  let crowd = 1, most = 50; // degrees from most on have the largest points
  const radius = (i) => (2.6 + 11.4 * Math.sqrt(nodes[i].degree / most)) * Math.min(1.5, Math.max(.45, view.k / 48)) * Math.min(1, crowd * Math.max(1, view.k / fitted));

  function fit() {
    const [W, H] = size();
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    nodes.forEach((n, i) => {
      if (!near[i].length) return;
      x0 = Math.min(x0, n.x); x1 = Math.max(x1, n.x); y0 = Math.min(y0, n.y); y1 = Math.max(y1, n.y);
    });
    if (x0 > x1) { draw(); return; }
    view.k = Math.min(90, (W - 90) / Math.max(x1 - x0, .5), (H - 70) / Math.max(y1 - y0, .5));
    fitted = view.k;
    view.x = W / 2 - view.k * (x0 + x1) / 2;
    view.y = H / 2 - view.k * (y0 + y1) / 2;
    draw();
  }

  function zoomBy(f, cx, cy) {
    const [W, H] = size();
    if (cx === undefined) { cx = W / 2; cy = H / 2; }
    const k = Math.min(fitted * 40, Math.max(fitted / 4, view.k * f));
    f = k / view.k;
    view.x = cx - (cx - view.x) * f;
    view.y = cy - (cy - view.y) * f;
    view.k = k;
    soon();
  }

  // soon draws once before the next frame, however often it is asked to.
  let waiting = 0;
  function soon() {
    waiting ||= requestAnimationFrame(() => { waiting = 0; draw(); });
  }

  function centre(i) {
    const [W, H] = size();
    view.k = Math.max(view.k, Math.min(60, fitted * 2));
    view.x = W / 2 - view.k * nodes[i].x;
    view.y = H / 2 - view.k * nodes[i].y;
    draw();
  }

  function select(i) {
    chosen = i;
    if (i < 0) { chosenText.textContent = ""; draw(); return; }
    const others = near[i].map((k) => edges[k]).map((e) => `${clip(nodes[e.from === i ? e.to : e.from].name, 40)} (${e.sign < 0 ? "\u2212" : e.sign > 0 ? "+" : ""}${figure(e.score)})`);
    chosenText.textContent = "";
    add(add(chosenText, "strong"), "bdi", {}, nodes[i].name);
    chosenText.append(`: ${nodes[i].degree} edges; drawn here: `);
    add(chosenText, "bdi", {}, others.slice(0, 40).join(", ") + (others.length > 40 ? ", \u2026" : "") || "none");
    draw();
  }

  // The width of every edge, before zooming.
  let wide = [];
  function widths(scores) {
    let least = Infinity, top = -Infinity;
    for (const v of scores) { least = Math.min(least, v); top = Math.max(top, v); }
    return scores.map((v) => .9 + 2.1 * (top > least ? (v - least) / (top - least) : .5));
  }

  // drawEdges paints those shown, the strongest on top. Of many, faint ones let the others be seen.
  function drawEdges(at, W, H) {
    const c = paper.start(W, H);
    const scale = Math.min(1.2, Math.max(.5, view.k / 28)) * (shown > 2000 ? .7 : 1);
    const opacity = shown > 2000 ? .55 : .8, directed = net().directed;
    for (let k = shown - 1; k >= 0; k--) {
      const e = edges[k], [ax, ay] = at(e.from), [bx, by] = at(e.to);
      if (Math.max(ax, bx) < 0 || Math.max(ay, by) < 0 || Math.min(ax, bx) > W || Math.min(ay, by) > H) continue;
      c.globalAlpha = opacity * (chosen >= 0 && e.from !== chosen && e.to !== chosen ? .12 : 1);
      c.strokeStyle = c.fillStyle = paper.colour(strokeOf(e));
      c.lineWidth = scale * wide[k];
      c.setLineDash(dashed(e) ? [5, 3] : []);
      c.beginPath();
      c.moveTo(ax, ay);
      c.lineTo(bx, by);
      c.stroke();
      const len = directed ? Math.hypot(bx - ax, by - ay) : 0;
      if (len > radius(e.to) + 8) {
        const ux = (bx - ax) / len, uy = (by - ay) / len;
        const tx = bx - ux * (radius(e.to) + 1), ty = by - uy * (radius(e.to) + 1), w = (2.4 + .8 * scale * wide[k]) * Math.max(.6, scale);
        c.beginPath();
        c.moveTo(tx, ty);
        c.lineTo(tx - ux * 2 * w - uy * w, ty - uy * 2 * w + ux * w);
        c.lineTo(tx - ux * 2 * w + uy * w, ty - uy * 2 * w - ux * w);
        c.fill();
      }
    }
    paper.canvas.dataset.edges = shown;
  }

  function draw() {
    const [W, H] = size();
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.textContent = "";
    const at = (i) => [view.k * nodes[i].x + view.x, view.k * nodes[i].y + view.y];
    drawEdges(at, W, H);
    const close = chosen < 0 ? null : new Set([chosen, ...near[chosen].flatMap((k) => [edges[k].from, edges[k].to])]);
    const order = nodes.map((n, i) => i).filter((i) => near[i].length).sort((a, b) => nodes[b].degree - nodes[a].degree || a - b);
    const hubDegree = order.length ? Math.max(3, nodes[order[Math.min(order.length - 1, 7)]].degree) : 0;
    for (const i of [...order].reverse()) {
      const [x, y] = at(i), r = radius(i), n = nodes[i];
      const style = "node" + (n.degree >= hubDegree ? " hub" : "") + (close && !close.has(i) ? " away" : "") + (i === chosen ? " here" : "");
      if (n.regulator) add(svg, "rect", { class: style, x: x - r * .9, y: y - r * .9, width: 1.8 * r, height: 1.8 * r });
      else add(svg, "circle", { class: style, cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1) });
    }
    labels(order, at, close, W, H);
  }

  // labels writes names where no other stands, of hubs first: of many only some, the more the
  // reader zooms in.
  function labels(order, at, close, W, H) {
    const taken = [], most = Math.max(40, W * H / 7000) * Math.max(1, view.k / fitted) ** 2;
    const ranked = chosen < 0 ? order : [chosen, ...order.filter((i) => i !== chosen && close.has(i)), ...order.filter((i) => !close.has(i))];
    for (const i of ranked) {
      if (taken.length >= most) return;
      const [x, y] = at(i);
      if (x < -20 || y < -20 || x > W + 20 || y > H + 20) continue;
      const text = clip(nodes[i].name, i === chosen ? 40 : 18), w = 6.9 * Array.from(text).length + 8, r = radius(i);
      const place = [y - r - 4, y + r + 12].map((ty) => ({ x: x - w / 2, y: ty - 11, w, h: 14, ty }))
        .find((b) => i === chosen || !taken.some((o) => b.x < o.x + o.w && o.x < b.x + b.w && b.y < o.y + o.h && o.y < b.y + b.h));
      if (!place) continue;
      taken.push(place);
      add(svg, "text", { x: x.toFixed(1), y: place.ty.toFixed(1), class: close && !close.has(i) ? "away" : null }, text);
    }
  }

  // columns are those of the table of edges.
  function columns() {
    return [
      { name: net().directed ? "source" : "variable", of: (e) => nodes[e.from].name },
      { name: net().directed ? "target" : "variable", of: (e) => nodes[e.to].name },
      { name: "score", of: (e) => e.score, number: true },
      { name: "sign", of: signOf },
      ...(net().sure || []).map((c, i) => ({ name: c.name, of: (e) => e.sure[i], number: true })),
      ...(known ? [{ name: "reference", of: knownOf }] : []),
    ];
  }

  // What the pointer is at: a node, an edge, or nothing.
  function hit(x, y) {
    let best = -1, least = 144;
    nodes.forEach((n, i) => {
      if (!near[i].length) return;
      const d = (view.k * n.x + view.x - x) ** 2 + (view.k * n.y + view.y - y) ** 2, r = radius(i) + 5;
      if (d < r * r && d < Math.max(least, r * r)) [best, least] = [i, d];
    });
    if (best >= 0) return { node: best };
    let edge = -1, close = 36;
    for (let k = 0; k < shown; k++) {
      const a = nodes[edges[k].from], b = nodes[edges[k].to];
      const ax = view.k * a.x + view.x, ay = view.k * a.y + view.y, dx = view.k * (b.x - a.x), dy = view.k * (b.y - a.y);
      const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
      const d = (ax + t * dx - x) ** 2 + (ay + t * dy - y) ** 2;
      if (d < close) [edge, close] = [k, d];
    }
    return { edge };
  }

  const fingers = new Map();
  let moved = 0, apart = 0;
  const inside = (e) => { const b = svg.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
  svg.addEventListener("pointerdown", (e) => {
    fingers.set(e.pointerId, inside(e));
    moved = fingers.size > 1 ? 99 : 0;
    apart = 0;
    svg.setPointerCapture(e.pointerId);
    svg.classList.add("moving");
  });
  svg.addEventListener("pointermove", (e) => {
    const [x, y] = inside(e), before = fingers.get(e.pointerId);
    if (!before) { // nothing is held down
      const h = hit(x, y);
      if (h.node !== undefined) {
        const n = nodes[h.node];
        tip.show([n.name, `${n.degree} edges, ${near[h.node].length} drawn`, ...(n.regulator ? ["regulator"] : [])], x, y);
      } else if (h.edge >= 0) {
        const d = edges[h.edge];
        tip.show([`${clip(nodes[d.from].name, 40)} ${net().directed ? "\u2192" : "\u2014"} ${clip(nodes[d.to].name, 40)}`, `score ${figure(d.score)}, ${signOf(d)}`, ...(net().sure || []).map((c, i) => `${c.name} ${figure(d.sure[i])}`), ...(known ? [knownOf(d)] : [])], x, y);
      } else tip.hide();
      return;
    }
    tip.hide();
    moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    fingers.set(e.pointerId, [x, y]);
    if (fingers.size === 1) {
      view.x += x - before[0];
      view.y += y - before[1];
      soon();
    } else if (fingers.size === 2) {
      const [p, q] = [...fingers.values()], now = Math.hypot(p[0] - q[0], p[1] - q[1]);
      if (apart) zoomBy(now / apart, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2);
      apart = now;
    }
  });
  function release(e) {
    if (fingers.delete(e.pointerId) && e.type === "pointerup" && moved < 5) {
      const h = hit(...inside(e));
      select(h.node === undefined || h.node === chosen ? -1 : h.node);
    }
    apart = 0;
    if (!fingers.size) svg.classList.remove("moving");
  }
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("pointerleave", () => tip.hide());
  svg.addEventListener("wheel", (e) => {
    if (document.activeElement !== svg && !e.ctrlKey) return; // the page scrolls
    e.preventDefault();
    zoomBy(Math.exp(-Math.max(-60, Math.min(60, e.deltaY)) / 180), ...inside(e));
  }, { passive: false });
  svg.addEventListener("keydown", (e) => {
    const step = 40, moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (moves[e.key]) { view.x += moves[e.key][0]; view.y += moves[e.key][1]; soon(); }
    else if (e.key === "+" || e.key === "=") zoomBy(1.25);
    else if (e.key === "-" || e.key === "_") zoomBy(1 / 1.25);
    else if (e.key === "0") fit();
    else if (e.key === "Escape") { if (chosen >= 0) select(-1); else svg.blur(); }
    else return;
    e.preventDefault();
  });
  slider.addEventListener("input", () => { if (chosen >= 0) select(-1); setShown(ofSlider()); });
  slider.addEventListener("change", () => { arrange(); fit(); });
  exact.addEventListener("change", () => { if (chosen >= 0) select(-1); setShown(Math.round(+exact.value) || 1); arrange(); fit(); });
  find.addEventListener("input", () => {
    const text = find.value.trim().toLowerCase();
    if (!text) { select(-1); return; }
    const names = nodes.map((n) => n.name.toLowerCase());
    let i = names.findIndex((n, k) => near[k].length && n === text);
    if (i < 0) i = names.findIndex((n, k) => near[k].length && n.startsWith(text));
    if (i < 0) i = names.findIndex((n, k) => near[k].length && n.includes(text));
    if (i < 0) { select(-1); chosenText.textContent = "No variable drawn is called so."; return; }
    select(i);
    centre(i);
  });
  let width = 0;
  new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    arrange();
    fit();
  }).observe(stage);
  choose(data.chosen);
}
