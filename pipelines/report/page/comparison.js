
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
  let points = [];

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
    leave();
  }
  const words = (p) => {
    const e = p.l.error[p.k];
    return [clip(view.rows[p.r], 80), `${names[p.l.name]}: ${figure(p.l.value[p.k])}${e ? " \u00b1 " + figure(e) : ""}`];
  };
  // Keys go down the rows, in each from the largest value to the smallest.
  const leave = makeReader(fig, plot, svg, looks, () => points, words, (k, key) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    if (!step) return undefined;
    const value = (p) => p.l.value[p.k];
    const order = points.map((p, i) => i).sort((a, b) => points[a].r - points[b].r || value(points[b]) - value(points[a]));
    return order[Math.min(order.length - 1, Math.max(0, order.indexOf(k) + step))];
  });
  new ResizeObserver(() => { if (svg.viewBox.baseVal.width !== Math.max(240, plot.clientWidth)) draw(); }).observe(plot);
  draw();
  return draw;
}
