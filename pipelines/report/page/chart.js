"use strict";

// What charts and networks share: elements, numbers, colours.
const SVG = "http://www.w3.org/2000/svg";

function add(parent, name, attributes, text) {
  const inSVG = name === "svg" || parent.namespaceURI === SVG;
  const e = inSVG ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes || {})) if (v !== undefined && v !== null) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
}

function figure(v) {
  if (v === 0) return "0";
  const a = Math.abs(v);
  let s = a >= 1e5 || a < 1e-3 ? v.toExponential(1).replace("e+", "e").replace(".0e", "e") : String(+v.toPrecision(3));
  return s.replace(/-/g, "\u2212");
}

// clip is text of n characters at most.
function clip(text, n) {
  const c = Array.from(text);
  return c.length > n ? c.slice(0, n - 1).join("") + "\u2026" : text;
}

const colour = (look) => `var(--c${look % 8})`;
const dash = (look) => ["", "7 3", "2 3", "8 3 2 3"][Math.floor(look / 8) % 4];

// A tip is a box beside the pointer.
function makeTip(parent) {
  const tip = add(parent, "div", { class: "tip", hidden: "" });
  return {
    show(lines, x, y) {
      tip.textContent = "";
      for (const line of lines) add(tip, "div", {}, line);
      tip.hidden = false;
      const w = tip.offsetWidth, h = tip.offsetHeight, W = parent.clientWidth;
      tip.style.left = Math.max(4, Math.min(W - w - 4, x + 14 + w > W ? x - w - 14 : x + 14)) + "px";
      tip.style.top = Math.max(4, y - h - 10 < 4 ? y + 16 : y - h - 10) + "px";
    },
    hide() { tip.hidden = true; },
  };
}

// Ticks of an axis from low to high: round numbers, of powers of ten where it is
// logarithmic.
function ticks(low, high, log, room) {
  const list = [];
  if (log) {
    const decades = Math.log10(high / low), every = Math.max(1, Math.ceil(decades / room));
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      for (const m of decades < 2 ? [1, 2, 5] : [1]) {
        const v = m * 10 ** e;
        if (v >= low * .999 && v <= high * 1.001 && (m > 1 || e % every === 0)) list.push(v);
      }
    }
    if (list.length > 1) return list;
    list.length = 0;
  }
  const raw = (high - low) / room, base = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * base).find((s) => s >= raw * .999) || raw;
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) list.push(+(k * step).toPrecision(12));
  return list;
}

// A range is what an axis shows.
function range(values, log, fromZero) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (log && v <= 0) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (log) return low === high ? [low / 2, high * 2] : [low / (high / low) ** .03, high * (high / low) ** .03];
  if (fromZero && low > 0) low = 0;
  if (low === high) return [low - .5, high + .5];
  return [low, high + (high - low) * .03];
}

// A reader marks the point that the pointer is near or that keys have come to, and says
// what it is. points returns the list of them, words those of one, and move the number
// of the point after number k by a key, or undefined for other keys. What is returned
// lets go.
function makeReader(fig, plot, svg, looks, points, words, move) {
  const tip = makeTip(plot);
  const said = add(fig, "span", { class: "skip", "aria-live": "polite" });
  let at = -1, mark = null;
  function leave() {
    if (mark) mark.remove();
    mark = null;
    at = -1;
    tip.hide();
  }
  function go(k) {
    leave();
    at = k;
    const p = points()[k], s = plot.clientWidth / svg.viewBox.baseVal.width;
    mark = add(svg, "circle", { cx: p.x, cy: p.y, r: 6, fill: "none", stroke: colour(looks[p.l.name]), "stroke-width": 2 });
    tip.show(words(p), p.x * s, p.y * s);
  }
  svg.addEventListener("pointermove", (e) => {
    const box = svg.getBoundingClientRect(), s = svg.viewBox.baseVal.width / box.width;
    const x = (e.clientX - box.left) * s, y = (e.clientY - box.top) * s;
    let best = -1, least = 40 * 40;
    points().forEach((p, k) => {
      const d = (p.x - x) ** 2 + (p.y - y) ** 2;
      if (d < least) [best, least] = [k, d];
    });
    if (best < 0) leave();
    else if (best !== at) go(best);
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  svg.addEventListener("keydown", (e) => {
    if (e.key === "Escape") leave();
    const k = points().length ? move(at, e.key) : undefined;
    if (k === undefined) return;
    e.preventDefault();
    go(k);
    said.textContent = words(points()[k]).join(", ");
  });
  return leave;
}

// A chart draws its lines as wide as there is room.
function makeChart(parent, view, names, looks, hidden) {
  const fig = add(parent, "figure");
  const caption = add(fig, "figcaption");
  add(caption, "span", {}, view.title);
  let logX = !!view.logX;
  if (view.switchX) {
    const label = add(caption, "label");
    const box = add(label, "input", { type: "checkbox" });
    box.checked = logX;
    label.append(" logarithmic axis");
    box.addEventListener("change", () => { logX = box.checked; draw(); });
  }
  const plot = add(fig, "div", { class: "plot" });
  const svg = add(plot, "svg", { tabindex: "0", role: "img" });
  let points = [];

  function draw() {
    const W = Math.max(240, plot.clientWidth), H = Math.min(340, Math.max(250, W * .68));
    svg.textContent = "";
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.style.height = H * plot.clientWidth / W + "px";
    const lines = view.lines.filter((l) => !hidden.has(l.name));
    svg.setAttribute("aria-label", `${view.title}: ${view.y} by ${view.x}, of ${lines.map((l) => names[l.name]).join(", ") || "nothing"}. Arrow keys read points.`);
    const shownX = (v) => !logX || v > 0, shownY = (v) => !view.logY || v > 0;
    const xs = lines.flatMap((l) => l.x.filter(shownX)), ys = lines.flatMap((l) => l.y.filter(shownY));
    let [x0, x1] = view.unit && !logX ? [0, 1] : range(xs, logX, false);
    if (logX && view.unit) x1 = 1;
    let [y0, y1] = view.unit && view.diagonal ? [0, 1] : range(view.rule ? ys.concat(view.rule) : ys, view.logY, !view.low);
    if (view.unit && !view.diagonal) y1 = Math.min(1, y1);
    const left = 54, right = 14, top = 12, bottom = 42;
    const scaled = (v, a, b, log) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a));
    const px = (v) => left + (W - left - right) * scaled(v, x0, x1, logX);
    const py = (v) => H - bottom - (H - top - bottom) * scaled(v, y0, y1, view.logY);

    for (const v of ticks(x0, x1, logX, Math.max(3, Math.round(W / 90)))) {
      add(svg, "line", { class: "tick", x1: px(v), x2: px(v), y1: top, y2: H - bottom });
      add(svg, "text", { x: px(v), y: H - bottom + 16, "text-anchor": "middle" }, figure(v));
    }
    for (const v of ticks(y0, y1, view.logY, 6)) {
      add(svg, "line", { class: "tick", x1: left, x2: W - right, y1: py(v), y2: py(v) });
      add(svg, "text", { x: left - 7, y: py(v) + 4, "text-anchor": "end" }, figure(v));
    }
    add(svg, "path", { class: "axis", d: `M${left} ${top}V${H - bottom}H${W - right}` });
    add(svg, "text", { x: (left + W - right) / 2, y: H - 7, "text-anchor": "middle" }, view.x);
    add(svg, "text", { transform: `translate(13 ${(top + H - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, view.y);
    if (view.diagonal) {
      let d = "";
      for (let k = 0; k <= 60; k++) {
        const v = logX ? x0 * (x1 / x0) ** (k / 60) : k / 60;
        d += `${d ? "L" : "M"}${px(v)} ${py(v)}`;
      }
      add(svg, "path", { class: "chance", d });
    }
    if (view.rule && py(view.rule) > top) {
      add(svg, "path", { class: "chance", d: `M${left} ${py(view.rule)}H${W - right}` });
      add(svg, "text", { x: W - right - 4, y: py(view.rule) - 5, "text-anchor": "end" }, view.ruleName);
    }
    points = [];
    for (const l of lines) {
      let d = "";
      const dots = [];
      l.x.forEach((x, k) => {
        const y = l.y[k];
        if (!shownX(x) || !shownY(y)) return;
        const p = { l, k, x: px(x), y: py(y) };
        points.push(p);
        dots.push(p);
        d += `${d ? "L" : "M"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
      });
      if (!view.scatter) add(svg, "path", { class: "curve", d, stroke: colour(looks[l.name]), "stroke-dasharray": dash(looks[l.name]) });
      if (view.dots || view.scatter || dots.length === 1) for (const p of dots) add(svg, "circle", { cx: p.x, cy: p.y, r: dots.length > 60 ? 2 : 3, fill: colour(looks[l.name]) });
    }
    leave();
  }

  const words = (p) => [names[p.l.name], `${view.x}: ${figure(p.l.x[p.k])}`, `${view.y}: ${figure(p.l.y[p.k])}`];
  // Left and right go along a line, up and down to the others.
  const leave = makeReader(fig, plot, svg, looks, () => points, words, (k, key) => {
    const along = { ArrowRight: 1, ArrowLeft: -1 }[key], across = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (!along && !across) return undefined;
    if (k < 0) return 0;
    if (along) return points[k + along] && points[k + along].l === points[k].l ? k + along : k;
    const starts = points.map((p, i) => i).filter((i) => !i || points[i].l !== points[i - 1].l);
    const own = starts.filter((i) => i <= k).length - 1;
    return starts[(own + across + starts.length) % starts.length];
  });
  new ResizeObserver(() => { if (svg.viewBox.baseVal.width !== Math.max(240, plot.clientWidth)) draw(); }).observe(plot);
  draw();
  return draw;
}

// A legend has a button for each line, which hides it.
function makeLegend(parent, names, looks, hidden, redraw) {
  if (names.length < 2) return;
  const legend = add(parent, "div", { class: "legend", role: "group", "aria-label": "Lines shown" });
  names.forEach((name, k) => {
    const b = add(legend, "button", { type: "button", "aria-pressed": "true" });
    const s = add(b, "svg", { width: 26, height: 10, "aria-hidden": "true" });
    add(s, "path", { d: "M1 5H25", fill: "none", stroke: colour(looks[k]), "stroke-width": 3, "stroke-dasharray": dash(looks[k]) });
    add(b, "bdi", {}, name);
    b.addEventListener("click", () => {
      const shown = hidden.delete(k) || (hidden.add(k), false);
      b.setAttribute("aria-pressed", String(shown));
      redraw();
    });
  });
}

// The charts of a section have one legend.
function makeCharts(parent, data) {
  const hidden = new Set(), draws = [];
  makeLegend(parent, data.names, data.looks, hidden, () => { for (const draw of draws) draw(); });
  const grid = add(parent, "div", { class: "grid" });
  for (const view of data.charts) draws.push(makeChart(grid, view, data.names, data.looks, hidden));
}
