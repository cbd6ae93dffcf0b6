
// Drawings, sorting of tables, and the button that copies.
const makers = { charts: makeCharts, comparisons: makeComparisons, networks: makeNetworks, heats: makeHeats };
for (const [kind, make] of Object.entries(makers)) {
  for (const parent of document.querySelectorAll("." + kind)) make(parent, JSON.parse(parent.querySelector("script").textContent));
}

for (const t of document.querySelectorAll("main table:not(.files)")) {
  const body = t.tBodies[0];
  if (!body || body.rows.length < 2) continue;
  [...t.tHead.rows[0].cells].forEach((head, k) => {
    const title = head.textContent;
    head.textContent = "";
    const b = add(head, "button", { type: "button" }, title);
    b.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending";
      for (const h of t.tHead.rows[0].cells) h.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = (row) => (head.classList.contains("n") ? (row.cells[k].dataset.v === undefined ? NaN : +row.cells[k].dataset.v) : row.cells[k].textContent);
      const rows = [...body.rows].sort((a, b) => {
        const x = value(a), y = value(b);
        if (typeof x === "string") return up ? y.localeCompare(x) : x.localeCompare(y);
        if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
        return up ? x - y : y - x;
      });
      body.append(...rows);
    });
  });
}

for (const b of document.querySelectorAll(".copy")) {
  b.addEventListener("click", async () => {
    const code = b.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      b.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // the reader copies it
    }
  });
}
