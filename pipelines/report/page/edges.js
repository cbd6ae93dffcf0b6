
// A table of edges, of which it shows those that a filter lets through, in the order of a
// column, a page at a time. rows returns the edges, columns what is known of each: a name, a
// function of the edge, and whether that is a number.
function makeEdgeTable(parent, rows, columns, words) {
  const most = 100;
  const details = add(parent, "details");
  const summary = add(details, "summary");
  const bar = add(details, "div", { class: "bar-of-controls" });
  const filter = add(add(bar, "label", {}, "only edges of "), "input", { type: "search", placeholder: "a variable", autocomplete: "off", spellcheck: "false" });
  const leaf = add(bar, "span", { class: "group", role: "group", "aria-label": "Page of the table" });
  const turn = (by) => () => { page += by; fill(); };
  const back = add(leaf, "button", { type: "button", "aria-label": "Page before" }, "\u2039");
  const where = add(leaf, "output", { "aria-live": "polite" });
  const on = add(leaf, "button", { type: "button", "aria-label": "Next page" }, "\u203a");
  const listing = add(details, "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Edges" });
  let column = -1, up = false, page = 0;
  back.addEventListener("click", turn(-1));
  on.addEventListener("click", turn(1));
  filter.addEventListener("input", () => { page = 0; fill(); });
  details.addEventListener("toggle", fill);

  function fill() {
    summary.textContent = words();
    if (!details.open) return;
    const cols = columns(), text = filter.value.trim().toLowerCase();
    let list = rows().filter((e) => !text || cols[0].of(e).toLowerCase().includes(text) || cols[1].of(e).toLowerCase().includes(text));
    const by = cols[column];
    if (by) {
      const keys = new Map(list.map((e) => [e, by.of(e)]));
      const order = by.number ? (a, b) => a - b : new Intl.Collator().compare;
      list = list.slice().sort((a, b) => (up ? 1 : -1) * order(keys.get(a), keys.get(b)));
    }
    const last = Math.max(0, Math.ceil(list.length / most) - 1);
    page = Math.min(last, Math.max(0, page));
    const first = page * most, shown = list.slice(first, first + most);
    where.textContent = list.length ? `${first + 1} to ${first + shown.length} of ${list.length}` : "none";
    back.disabled = page === 0;
    on.disabled = page === last;
    listing.textContent = "";
    listing.scrollTop = 0;
    const t = add(listing, "table"), head = add(add(t, "thead"), "tr");
    cols.forEach((c, k) => {
      const th = add(head, "th", { scope: "col", class: c.number ? "n" : null, "aria-sort": column === k ? (up ? "ascending" : "descending") : null });
      const b = add(th, "button", { type: "button" }, c.name);
      b.addEventListener("click", () => {
        up = column === k ? !up : !c.number;
        column = k;
        page = 0;
        fill();
        listing.querySelectorAll("thead button")[k].focus();
      });
    });
    const body = add(t, "tbody");
    for (const e of shown) {
      const row = add(body, "tr");
      cols.forEach((c, k) => add(row, k ? "td" : "th", k ? { class: c.number ? "n" : null } : { scope: "row" }, c.number ? figure(c.of(e)) : c.of(e)));
    }
    if (!shown.length) add(add(body, "tr"), "td", { colspan: cols.length }, "No edge has such a variable.");
  }

  return {
    fill,
    reset() { column = -1; page = 0; fill(); },
  };
}
