"use strict";
// Draws the plots with plotly.js as they come into view, and makes tables sortable and filterable.

const AROUND_MAP = 190; // px, of names and scale
const BESIDE_MAP = 60; // px, of its scale: so much wider than high is a map
const LEAST_MAP = 320; // px
const NARROW = 760; // px; less has no buttons and no room for figures in cells
const SHORT_TABLE = 40; // rows; longer tables stay folded on paper
const PAPER_WIDTH = 680; // px
const LEGEND_LINE = 19; // px
const LEGEND_MARK = 50; // px, of the line beside a name
const LETTER = 6.4; // px, on average
const LEGEND_SHARE = 0.38; // of the width, beside the plot
const MOST_FOR_LEGEND = 600; // px; a longer one scrolls
const LIGHT_INK = "#ffffff"; // on colours
const DARK_INK = "#1b1b1b";
let printing = false;

document.documentElement.classList.add("scripted");

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
}

let library = null;
function loadLibrary() {
  library ??= (async () => {
    const script = document.createElement("script");
    script.textContent = await (await inflate(document.getElementById("library").textContent)).text();
    document.head.append(script);
  })();
  return library;
}

function theme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  const colours = {};
  for (const name of ["paper", "ink", "faint", "grid", "blank", "failed", "tag", "reference"]) colours[name] = value(name);
  colours.tones = value("tones").split(/\s+/);
  colours.shade = Number(value("shade"));
  return colours;
}

function colourOf(tone, colours) {
  return typeof tone === "number" ? colours.tones[tone % colours.tones.length] : colours[tone];
}

function withAlpha(colour, alpha) {
  const part = (at) => parseInt(colour.slice(at, at + 2), 16);
  return `rgba(${part(1)}, ${part(3)}, ${part(5)}, ${alpha})`;
}

// As WCAG has it: from 0 for black to 1 for white.
function luminanceOf(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// What is easier to read on the colour.
function inkOn(colour) {
  const luminance = luminanceOf(colour) + 0.05;
  return 1.05 / luminance > luminance / (luminanceOf(DARK_INK) + 0.05) ? LIGHT_INK : DARK_INK;
}

// A trace in the colours of the page. The figure itself stays as it is, for the next theme.
function dressed(trace, colours) {
  const { tone, band, pattern, rates, ...made } = trace;
  if (tone === undefined) return made;
  const colour = colourOf(tone, colours);
  if (trace.type === "heatmap") return { ...made, colorscale: [[0, colour], [1, colour]] };
  made.marker = { ...made.marker, color: colour };
  if (made.marker.line) made.marker.line = { ...made.marker.line, color: colour };
  made.line = { ...made.line, color: colour };
  if (band) made.fillcolor = withAlpha(colour, colours.shade);
  if (trace.type === "box") made.fillcolor = withAlpha(colour, pattern ? 0.1 : 0.45);
  if (trace.type === "bar") {
    delete made.line;
    made.insidetextfont = { color: inkOn(colour) };
    made.marker.pattern = { shape: ["", "/", "x", "."][(pattern ?? 0) % 4], solidity: 0.4 };
  }
  if (made.error_y) made.error_y = { ...made.error_y, color: colour };
  return made;
}

const LOOKS_OF_SHAPES = {
  finding: (colours) => ({ color: colours.tag }),
  group: (colours) => ({ color: colours.ink }),
  change: (colours) => ({ color: colours.tones[5] }),
  "usual line": (colours) => ({ color: colours.reference }),
};

function dressedShape(shape, colours) {
  const { look, ...made } = shape;
  if (look === "usual") return { ...made, fillcolor: withAlpha(colours.reference, colours.shade) };
  return { ...made, line: { ...made.line, ...(LOOKS_OF_SHAPES[look]?.(colours) ?? {}) } };
}

function dressedNote(note, colours) {
  const { look, ink, ...made } = note;
  made.font = { color: colours.ink, size: 12 };
  if (look === "tag") Object.assign(made, { bgcolor: colours.tag, borderpad: 1, font: { color: colours.paper, size: 12 } });
  if (look === "change") Object.assign(made, { bgcolor: colours.paper, font: { color: colours.tones[5], size: 12 } });
  if (ink) made.font = { color: ink === "on dark" ? LIGHT_INK : DARK_INK, size: 12 };
  if (made.showarrow) made.arrowcolor = colours.ink;
  return made;
}

// Where the names are, how long they may be, and how much height they take that the plot should not lose.
function legendOf(figure, width) {
  const names = figure.data.filter((trace) => trace.showlegend !== false && trace.type !== "heatmap").map((trace) => plain(trace.name ?? ""));
  const below = width < NARROW || names.length <= 6;
  const letters = Math.floor((width * (below ? 1 : LEGEND_SHARE) - LEGEND_MARK) / LETTER);
  const longest = Math.min(letters, Math.max(0, ...names.map((name) => name.length)));
  const inLine = Math.max(1, Math.floor(width / (longest * LETTER + LEGEND_MARK)));
  const lines = below ? Math.ceil(names.length / inLine) : 0;
  return { names, below, letters, extra: Math.min(MOST_FOR_LEGEND, Math.max(0, lines - 2) * LEGEND_LINE) };
}

// Both ends of a name tell it from others.
function shortened(name, letters) {
  const text = plain(name);
  if (text.length <= letters) return name;
  const half = Math.max(4, Math.floor((letters - 1) / 2));
  return `${text.slice(0, half)}\u2026${text.slice(-half)}`.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function layoutOf(figure, canvas, colours, legend, height) {
  const axis = (given) => ({
    automargin: true, gridcolor: colours.grid, linecolor: colours.faint, zerolinecolor: colours.faint, zeroline: false, ticks: "outside",
    tickcolor: colours.faint, ...given,
  });
  const layout = figure.layout;
  const isMap = canvas.classList.contains("map");
  const narrow = (printing ? PAPER_WIDTH : canvas.clientWidth) < NARROW;
  const notes = (layout.annotations ?? []).filter((note) => !(note.ink && innerWidth < NARROW));
  return {
    ...layout,
    xaxis: { ...axis(layout.xaxis), ...(isMap ? { gridcolor: "transparent" } : {}) },
    yaxis: { ...axis(layout.yaxis), ...(isMap ? { gridcolor: "transparent" } : {}) },
    shapes: (layout.shapes ?? []).map((shape) => dressedShape(shape, colours)),
    annotations: notes.map((note) => dressedNote(note, colours)),
    font: { color: colours.ink, family: "Arial, Liberation Sans, Helvetica, sans-serif", size: 12 },
    paper_bgcolor: colours.paper,
    plot_bgcolor: isMap ? colours.blank : colours.paper,
    hoverlabel: { bgcolor: colours.ink, font: { color: colours.paper }, align: "left", namelength: -1 },
    showlegend: !isMap && legend.names.length > 0,
    hovermode: "closest",
    dragmode: narrow ? false : "zoom",
    legend: { traceorder: "normal", ...(legend.below ? { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" } : { x: 1.01, y: 1 }) },
    margin: { l: 50, r: 20, t: 16, b: 40, pad: 2 },
    width: printing ? PAPER_WIDTH : undefined,
    height,
    autosize: !printing,
  };
}

// The rows of a map, from packed cells or from a list of pairs.
async function rowsOf(trace) {
  const size = trace.x.length;
  const rows = Array.from({ length: size }, () => new Array(size).fill(NaN)); // plotly.js looks up hover texts only in plain arrays
  if (trace.sparse) {
    for (const [sender, receiver] of trace.sparse) rows[receiver][sender] = 1;
    return rows;
  }
  const buffer = await (await inflate(trace.cells.data)).arrayBuffer();
  const codes = trace.cells.bytes === 1 ? new Uint8Array(buffer) : new Uint16Array(buffer);
  for (let row = 0; row < size; ++row) {
    for (let column = 0; column < size; ++column) {
      const code = codes[row * size + column];
      if (code) rows[row][column] = (code - 1) * trace.cells.step;
    }
  }
  return rows;
}

// With more lines than pixels some would not be drawn: each cell then has the lowest figure of its block of k x k cells.
function lowestOfBlocks(rows, k) {
  if (k === 1) return rows;
  const size = rows.length;
  const lowest = rows.map(() => new Array(size));
  for (let top = 0; top < size; top += k) {
    for (let left = 0; left < size; left += k) {
      let least = NaN;
      const bottom = Math.min(top + k, size);
      const right = Math.min(left + k, size);
      for (let row = top; row < bottom; ++row) {
        for (let column = left; column < right; ++column) if (!(least <= rows[row][column])) least = rows[row][column];
      }
      for (let row = top; row < bottom; ++row) lowest[row].fill(least, left, right);
    }
  }
  return lowest;
}

function adaptToZoom(element) {
  const canvas = element.querySelector(".canvas");
  const [{ x, rates }] = element.figure.data;
  const [from, to] = canvas._fullLayout.xaxis.range;
  const k = Math.ceil(Math.min(x.length, to - from) / canvas._fullLayout.xaxis._length);
  if (k === element.blockSize) return;
  element.blockSize = k;
  Plotly.restyle(canvas, { z: [lowestOfBlocks(rates, k)] }, [0]);
}

async function prepare(figure) {
  for (const trace of figure.data) {
    if (!trace.cells && !trace.sparse) continue;
    trace.z = await rowsOf(trace);
    if (trace.cells) trace.rates = trace.customdata = trace.z;
    delete trace.cells;
    delete trace.sparse;
  }
  return figure;
}

const figures = new Map(); // by <figure>: its views as far as they were shown
function figureOf(element) {
  const view = Number(element.querySelector("select")?.value ?? 0);
  const known = figures.get(element) ?? figures.set(element, new Map()).get(element);
  if (!known.has(view)) {
    const script = element.querySelectorAll('script[type="application/json"]')[view];
    known.set(view, prepare(JSON.parse(script.textContent)));
  }
  return known.get(view);
}

async function draw(element) {
  try {
    await loadLibrary();
    element.figure = await figureOf(element);
    paint(element);
  } catch (problem) {
    const canvas = element.querySelector(".canvas");
    canvas.className = "canvas failure";
    canvas.style.height = "auto";
    canvas.textContent = `This browser cannot draw the plot (${problem.message}); the table below has its figures.`;
  }
}

function paint(element) {
  const canvas = element.querySelector(".canvas");
  const colours = theme();
  const isMap = canvas.classList.contains("map");
  const data = element.figure.data.map((trace) => dressed(trace, colours));
  const width = printing ? PAPER_WIDTH : canvas.clientWidth;
  const legend = legendOf(element.figure, width);
  for (const trace of data) if (trace.name) trace.name = shortened(trace.name, legend.letters);
  element.usualHeight ??= canvas.clientHeight;
  const height = isMap ? Math.min(element.usualHeight, Math.max(LEAST_MAP, width - BESIDE_MAP)) : element.usualHeight + legend.extra;
  canvas.style.height = `${height}px`;
  if (isMap) {
    element.blockSize ??= Math.ceil(data[0].x.length / Math.max(100, canvas.clientWidth - AROUND_MAP));
    data[0].z = lowestOfBlocks(element.figure.data[0].rates, element.blockSize);
  }
  Plotly.react(canvas, data, layoutOf(element.figure, canvas, colours, legend, height), {
    responsive: true,
    displaylogo: false,
    displayModeBar: innerWidth >= NARROW,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  });
  if (isMap) followMap(element, canvas);
  element.dataset.drawn = "yes";
}

function followMap(element, canvas) {
  adaptToZoom(element);
  canvas.removeAllListeners("plotly_relayout");
  canvas.on("plotly_relayout", () => adaptToZoom(element));
  offerNames(element);
}

function plain(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function offerNames(element) {
  element.names = element.figure.data[0].x.map(plain);
  element.rows = element.figure.data[0].rates;
  const list = element.querySelector("datalist");
  if (!list.childElementCount) {
    list.append(...element.names.map((name) => Object.assign(document.createElement("option"), { value: name })));
  }
  lookUp(element);
}

function lookUp(element) {
  const [sender, receiver] = ["sender", "receiver"].map((end) => element.querySelector(`.${end}`).value.trim());
  const output = element.querySelector(".lookup output");
  if (!element.names || !sender || !receiver) {
    output.textContent = "";
    return;
  }
  const [column, row] = [sender, receiver].map((name) => element.names.indexOf(name));
  const unknown = column < 0 ? sender : row < 0 ? receiver : null;
  const rate = unknown === null ? element.rows[row][column] : null;
  if (unknown !== null) output.textContent = `there is no ${unknown}`;
  else output.textContent = `${sender} to ${receiver}: ${Number.isNaN(rate) ? "no figure" : `${Number(rate.toPrecision(4))} GB/s`}`;
}

const plots = [...document.querySelectorAll("figure.plot")];
const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) begin(entry.target);
  },
  { rootMargin: "400px" },
);
for (const plot of plots) {
  watcher.observe(plot);
  plot.querySelector("select")?.addEventListener("change", () => draw(plot));
  plot.querySelector(".lookup")?.addEventListener("input", () => lookUp(plot));
}

function begin(plot) {
  watcher.unobserve(plot);
  plot.begun ??= draw(plot);
  return plot.begun;
}

// What is out of sight is drawn when the browser has nothing else to do, so that all of it can be printed.
const whenIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
function drawNext(waiting) {
  const [next, ...rest] = waiting;
  if (next) whenIdle(() => begin(next).then(() => drawNext(rest)));
}
addEventListener("load", () => drawNext(plots));

function redraw() {
  for (const plot of plots) if (plot.figure) paint(plot);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// On paper: plots in print's colours and width, and short tables unfolded.
let unfolded = [];
addEventListener("beforeprint", () => {
  printing = true;
  unfolded = [...document.querySelectorAll("details.table:not([open])")].filter(
    (details) => details.querySelectorAll("tbody tr").length <= SHORT_TABLE,
  );
  for (const details of unfolded) details.open = true;
  redraw();
});
addEventListener("afterprint", () => {
  printing = false;
  for (const details of unfolded) details.open = false;
  redraw();
});

function sortBy(table, column, ascending) {
  const body = table.tBodies[0];
  const isNumber = table.tHead.rows[0].cells[column].classList.contains("number");
  const keyOf = (row) => {
    const cell = row.cells[column];
    return isNumber ? Number(cell.dataset.sort ?? NaN) : cell.textContent.trim();
  };
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(row) }));
  const way = ascending ? 1 : -1;
  rows.sort((one, other) => {
    if (!isNumber) return way * one.key.localeCompare(other.key, "en", { numeric: true });
    if (Number.isNaN(one.key) || Number.isNaN(other.key)) return Number.isNaN(one.key) - Number.isNaN(other.key);
    return way * (one.key - other.key);
  });
  body.append(...rows.map(({ row }) => row));
}

for (const heading of document.querySelectorAll("th button")) {
  heading.addEventListener("click", () => {
    const cell = heading.parentElement;
    const ascending = cell.ariaSort !== "ascending";
    for (const other of cell.parentElement.cells) other.ariaSort = "none";
    cell.ariaSort = ascending ? "ascending" : "descending";
    sortBy(cell.closest("table"), cell.cellIndex, ascending);
  });
}

function filter(input) {
  const table = document.getElementById(input.getAttribute("aria-controls"));
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += !row.hidden;
  }
  const total = table.tBodies[0].rows.length;
  input.closest(".filter").querySelector("output").textContent = words.length ? `${shown} of ${total} rows` : "";
}

for (const input of document.querySelectorAll(".filter input")) input.addEventListener("input", () => filter(input));
