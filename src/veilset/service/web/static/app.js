"use strict";
const at = id => document.getElementById(id);
const decimal = text => { const [above, below = 1] = text.split("/"); return String(Number((above / below).toPrecision(4))); };
const percent = share => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";

// Tables that can be sorted: a button in every head.
for (const table of document.querySelectorAll("[data-sortable]")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.classList.contains("plot")) return;
    const value = row => row.cells[column]?.dataset.value ?? row.cells[column]?.textContent ?? "";
    const isNumber = head.classList.contains("number") || [...table.tBodies[0].rows].some(row => row.cells[column]?.dataset.value);
    const rises = (a, b) => isNumber ? value(a) - value(b) : value(a).localeCompare(value(b));
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "ascending" };
      const order = next[head.ariaSort] ?? (isNumber ? "descending" : "ascending");
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = order;
      const rows = [...table.tBodies[0].rows].sort((a, b) => order === "ascending" ? rises(a, b) : rises(b, a));
      table.tBodies[0].append(...rows);
    });
  });
}
for (const field of document.querySelectorAll("[data-filters]")) {
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of at(field.dataset.filters).tBodies[0].rows) {
      const text = row.cells[0].textContent.toLowerCase() + " " + (row.cells[1]?.textContent ?? "").toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
  });
}
for (const button of document.querySelectorAll("[data-prints]")) button.addEventListener("click", () => print());
for (const each of document.querySelectorAll("[data-reload]")) setTimeout(() => location.reload(), 1000 * each.dataset.reload);

// The forecast beside the sliders; asked for when they rest.
const ask = document.querySelector("[data-forecasts]");
if (ask) {
  let waits = 0, asked = 0;
  const show = forecast => {
    at("found").textContent = forecast.found === null ? "not known" : percent(forecast.found);
    at("error").textContent = forecast.relative_error === null ? "not known" : "± " + percent(forecast.relative_error);
    at("cost").textContent = "epsilon " + decimal(forecast.epsilon);
    at("after").textContent = "epsilon " + decimal(forecast.left_after.epsilon);
    at("belief").textContent = "Whoever was 50:50 about whether a person is in the data can be at most " + forecast.belief + " sure afterwards.";
    at("ask-button").disabled = !forecast.is_affordable;
    at("forecast-note").textContent = !forecast.is_affordable ? "This costs more than you have left."
      : forecast.found === null ? "There is no forecast yet: too little is public of this dataset. Asking is possible."
      : "By a model of the data from public facts. It looks at no data and costs nothing.";
  };
  const refresh = async () => {
    const number = ++asked;
    const query = new URLSearchParams({ epsilon: at("epsilon").value.trim(), k: at("k").value, task: at("task").value });
    if (at("delta")) query.set("delta", at("delta").value.trim());
    const answer = await fetch(ask.dataset.forecasts + "?" + query, { headers: { accept: "application/json" } });
    const told = await answer.json();
    if (number !== asked) return;
    if (answer.ok) show(told);
    else { at("forecast-note").textContent = told.error; at("ask-button").disabled = true; }
  };
  const later = () => { clearTimeout(waits); waits = setTimeout(refresh, 150); };
  at("slider").addEventListener("input", () => {
    const value = Number((10 ** at("slider").value).toPrecision(2));
    at("epsilon").value = value; at("epsilon-shown").textContent = value;
  });
  at("epsilon").addEventListener("input", () => { at("epsilon-shown").textContent = at("epsilon").value; });
  at("k").addEventListener("input", () => { at("k-shown").textContent = at("k").value; });
  at("task").addEventListener("input", () => { for (const each of document.querySelectorAll("[data-hides]")) each.hidden = each.dataset.hides === at("task").value; });
  ask.addEventListener("input", later);
  ask.addEventListener("submit", () => { at("ask-button").disabled = true; });
  refresh();
}

// Progress: the time until results are told, never that of the work.
const progress = document.querySelector("[data-events]");
if (progress) {
  const start = Number(progress.dataset.start), every = Number(progress.dataset.every);
  const tick = () => {
    const gone = Math.max(Date.now() / 1000 - start, 0) % every;
    at("progress").value = 100 * gone / every;
  };
  tick();
  setInterval(tick, 250);
  const events = new EventSource(progress.dataset.events);
  events.addEventListener("state", event => {
    if (JSON.parse(event.data).state !== "waiting") { events.close(); location.reload(); }
  });
}

// Fields that belong to one choice are shown with it.
const register = document.querySelector("[data-register]");
if (register) {
  const follow = () => {
    for (const each of register.querySelectorAll("[data-for]")) {
      const [name, value] = each.dataset.for.split("=");
      const chosen = register.querySelector(`[name=${name}]:checked`);
      each.hidden = chosen !== null && chosen.value !== value;
    }
  };
  register.addEventListener("change", follow);
  follow();
}

// Uploads go to the API as they are.
const upload = document.querySelector("[data-uploads]");
if (upload) upload.addEventListener("change", async () => {
  const file = upload.files[0];
  if (!file) return;
  const name = file.name.replace(/[^A-Za-z0-9._-]/g, "_");
  at("upload-state").textContent = "uploading…";
  const answer = await fetch("/api/v1/files/" + encodeURIComponent(name), { method: "PUT", body: file, headers: { "x-csrf-token": upload.dataset.csrf } });
  const told = await answer.json();
  at("upload-state").textContent = answer.ok ? told.file + " is there" : told.error;
  if (answer.ok) {
    const option = new Option(told.file, told.file, true, true);
    at("file").append(option);
  }
});
