
// What networks and heat maps share.

// A canvas has the pixels of the screen, and colours of the theme, which may change: redraw
// is called then. start clears it for a drawing of the size given.
function makeCanvas(parent, redraw) {
  const canvas = add(parent, "canvas", { "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  let style = getComputedStyle(document.documentElement), known = new Map();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { known = new Map(); redraw(); });
  return {
    canvas,
    context,
    // colour is that of a variable of the page's style, such as --plus.
    colour(name) {
      if (!known.has(name)) known.set(name, style.getPropertyValue(name).trim());
      return known.get(name);
    },
    start(width, height) {
      const dots = Math.min(3, devicePixelRatio || 1);
      const w = Math.round(width * dots), h = Math.round(height * dots);
      if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
      context.setTransform(dots, 0, 0, dots, 0, 0);
      context.globalAlpha = 1;
      context.clearRect(0, 0, width, height);
      return context;
    },
  };
}

// shares are the places of scores between the least, or zero where none is below it, and the
// largest: from 0 to 1.
function shares(scores) {
  let least = Infinity, top = -Infinity;
  for (const v of scores) { least = Math.min(least, v); top = Math.max(top, v); }
  least = Math.min(least, 0);
  return scores.map((v) => (top > least ? (v - least) / (top - least) : 1));
}

const signWord = (sign) => (sign > 0 ? "positive" : sign < 0 ? "negative" : "sign unknown");
const signColour = (sign) => (sign > 0 ? "--plus" : sign < 0 ? "--minus" : "--unknown");

// What the colour of a cell or an edge may say.
const signKind = { values: [1, -1, 0], of: (e) => Math.sign(e.sign), word: signWord, colour: signColour };
const knownKind = {
  values: [1, 2, 0],
  of: (e) => e.known,
  word: (v) => ["not in the reference's pairs", "in the reference", "not in the reference"][v],
  colour: (v) => ["--unknown", "--right", "--wrong"][v],
};

// Buttons that choose one of several networks; none for one. What is returned marks the
// one that is chosen.
function makePickers(parent, networks, label, choose) {
  if (networks.length < 2) return () => {};
  const group = add(parent, "span", { class: "group", role: "group", "aria-label": label });
  const buttons = networks.map((n, k) => {
    const b = add(group, "button", { type: "button", "aria-pressed": "false" }, n.name);
    b.addEventListener("click", () => choose(k));
    return b;
  });
  return (k) => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === k)));
}
