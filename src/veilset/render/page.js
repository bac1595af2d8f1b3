"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
// Plotly reads labels as HTML: names must not be.
const plain = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (text, most) => plain(text.length > most ? text.slice(0, most - 1).trimEnd() + "\u2026" : text);

function layout(extra) {
  const axis = { gridcolor: colour("line"), zerolinecolor: colour("line"), fixedrange: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", dragmode: false,
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("ink") },
    hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("ink") }, align: "left" },
    ...extra, xaxis: { ...axis, ...extra.xaxis }, yaxis: { ...axis, ...extra.yaxis },
  };
}

function show(id, traces, extra) {
  Plotly.react(id, traces, layout(extra), { displayModeBar: false, responsive: true });
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const isNumber = head.classList.contains("number");
    const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const rises = (a, b) => isNumber ? value(a) - value(b) : value(a).localeCompare(value(b));
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers start with the largest, names with the first; a second click turns the order round.
      const next = { ascending: "descending", descending: "ascending" };
      const order = next[head.ariaSort] ?? (isNumber ? "descending" : "ascending");
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = order;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => order === "ascending" ? rises(a, b) : rises(b, a));
      table.tBodies[0].append(...rows);
    });
  });
}

// Plotly does not follow the page's colours and width by itself.
function drawAgainOnChange(draw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  matchMedia("print").addEventListener("change", draw);
  addEventListener("resize", draw);
}
