
// Comparisons are rows of dots, one a line of the legend, with their errors.
function makeComparisons(parent, data) {
  const hidden = new Set(), draws = [];
  makeLegend(parent, data.names, data.looks, hidden, () => { for (const draw of draws) draw(); });
  const grid = add(parent, "div", { class: "grid" });
  for (const view of data.charts) draws.push(makeComparison(grid, view, data.names, data.looks, hidden));
}

function makeComparison(parent, view, names, looks, hidden) {
  const fig = add(parent, "figure");
  add(add(fig, "figcaption"), "span", {}, view.title);
  const plot = add(fig, "div", { class: "plot" });
  const svg = add(plot, "svg", { tabindex: "0", role: "img" });
  const tip = makeTip(plot);
  const said = add(fig, "span", { class: "skip", "aria-live": "polite" });
  const clip = (text, n) => { const c = Array.from(text); return c.length > n ? c.slice(0, n - 1).join("") + "\u2026" : text; };
  let points = [], at = -1, mark = null;

  function draw() {
    const W = Math.max(240, plot.clientWidth), line = 26, top = 8, bottom = 42;
    const H = top + bottom + line * view.rows.length;
    svg.textContent = "";
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.style.height = H * plot.clientWidth / W + "px";
    svg.setAttribute("aria-label", `${view.title}: ${view.x} by ${view.y}. Arrow keys read points.`);
    const letters = Math.floor(Math.min(W * .34, 220) / 6.8);
    const longest = Math.max(3, ...view.rows.map((r) => Math.min(letters, Array.from(r).length)));
    const left = 14 + 6.8 * longest, right = 16;
    const lines = view.lines.filter((l) => !hidden.has(l.name));
    const all = view.zero ? [0] : [];
    for (const l of lines) l.row.forEach((r, k) => all.push(l.value[k] - (l.error[k] || 0), l.value[k] + (l.error[k] || 0)));
    let [x0, x1] = range(all, false, false);
    x0 -= (x1 - x0) * .03;
    const px = (v) => left + (W - left - right) * (v - x0) / (x1 - x0);
    for (const v of ticks(x0, x1, false, Math.max(3, Math.round((W - left) / 90)))) {
      add(svg, "line", { class: "tick", x1: px(v), x2: px(v), y1: top, y2: H - bottom });
      add(svg, "text", { x: px(v), y: H - bottom + 16, "text-anchor": "middle" }, figure(v));
    }
    if (view.zero) add(svg, "path", { class: "chance", d: `M${px(0)} ${top}V${H - bottom}` });
    add(svg, "path", { class: "axis", d: `M${left} ${top}V${H - bottom}H${W - right}` });
    add(svg, "text", { x: (left + W - right) / 2, y: H - 7, "text-anchor": "middle" }, view.x);
    view.rows.forEach((r, i) => {
      const y = top + line * (i + .5);
      add(svg, "text", { class: "row", x: left - 7, y: y + 4, "text-anchor": "end" }, clip(r, letters));
      if (i) add(svg, "line", { class: "tick", x1: left, x2: W - right, y1: top + line * i, y2: top + line * i });
    });
    points = [];
    lines.forEach((l, n) => {
      const off = lines.length > 1 ? (n / (lines.length - 1) - .5) * (line - 10) : 0;
      l.row.forEach((r, k) => {
        const v = l.value[k], e = l.error[k] || 0, x = px(v), y = top + line * (r + .5) + off, stroke = colour(looks[l.name]);
        if (e > 0) add(svg, "path", { d: `M${px(v - e)} ${y}H${px(v + e)}`, stroke, "stroke-width": 1.5, opacity: .55 });
        add(svg, "circle", { class: "dot", cx: x, cy: y, r: 4, fill: Math.floor(looks[l.name] / 8) % 2 ? "var(--panel)" : stroke, stroke, "stroke-width": 2 });
        points.push({ l, k, r, x, y });
      });
    });
    at = -1;
    mark = null;
    tip.hide();
  }
  function point(k) {
    at = k;
    const p = points[k], s = plot.clientWidth / svg.viewBox.baseVal.width, e = p.l.error[p.k];
    if (mark) mark.remove();
    mark = add(svg, "circle", { cx: p.x, cy: p.y, r: 7, fill: "none", stroke: colour(looks[p.l.name]), "stroke-width": 2 });
    const words = [clip(view.rows[p.r], 80), `${names[p.l.name]}: ${figure(p.l.value[p.k])}${e ? " \u00b1 " + figure(e) : ""}`];
    tip.show(words, p.x * s, p.y * s);
    return words;
  }
  function leave() {
    if (mark) mark.remove();
    mark = null;
    at = -1;
    tip.hide();
  }
  follow(svg, () => points, (k) => (k < 0 ? leave() : k === at ? null : point(k)), leave);
  svg.addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (e.key === "Escape") leave();
    if (!points.length || !step) return;
    e.preventDefault();
    const order = points.map((p, k) => k).sort((a, b) => points[a].r - points[b].r || points[b].l.value[points[b].k] - points[a].l.value[points[a].k]);
    said.textContent = point(order[Math.min(order.length - 1, Math.max(0, order.indexOf(at) + step))]).join(", ");
  });
  new ResizeObserver(() => { if (svg.viewBox.baseVal.width !== Math.max(240, plot.clientWidth)) draw(); }).observe(plot);
  draw();
  return draw;
}
