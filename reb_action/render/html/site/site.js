const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function create(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function key(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  return text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text);
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
}

// Rows of several tables are sorted together, and each table keeps its number of rows.
function sort(tables, column, order) {
  const sign = order === "descending" ? -1 : 1;
  const counts = tables.map((table) => table.tBodies[0].rows.length);
  const keyed = tables.flatMap((table) => [...table.tBodies[0].rows].map((row) => [key(row, column), row]));
  keyed.sort(([a], [b]) =>
    a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
  let at = 0;
  tables.forEach((table, number) => {
    table.tBodies[0].append(...keyed.slice(at, (at += counts[number])).map(([, row]) => row));
    all("thead th", table).forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", order);
      else head.removeAttribute("aria-sort");
    });
  });
  tables[0].closest("[data-merged]")?.classList.add("sorted");
  document.dispatchEvent(new Event("sorted"));
}

function sortable(tables) {
  const reversed = { ascending: "descending", descending: "ascending" };
  const names = all("thead th", tables[0]).map((head) =>
    [...head.childNodes].map((node) => node.textContent.trim()));
  for (const table of tables)
    all("thead th", table).forEach((head, column) => {
      const button = create("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () =>
        sort(tables, column, reversed[head.ariaSort] ?? head.dataset.first));
    });
  // On a phone the rows are cards without a head to press.
  const heads = all("thead th", tables[0]);
  const options = names.map((parts, at) => new Option(parts.join(" "), at));
  const select = create("select", {}, new Option("default order", "", true), ...options);
  select.addEventListener("change", () => {
    if (select.value) sort(tables, +select.value, heads[+select.value].dataset.first);
  });
  const sorter = create("label", { className: "sorter" }, create("span", {}, "Sort by"), select);
  (tables[0].closest("[data-group]") ?? tables[0]).before(sorter);
}

const CELLS = "[data-label^=C]";

function matches(row, by) {
  const { agent, family, date, cause } = row.dataset;
  if (by.agent && agent !== by.agent) return false;
  if (by.family && family !== by.family) return false;
  if (by.since && !(date >= by.since)) return false;
  if (by.cause && !cause.split(" ").includes(by.cause)) return false;
  if (by.outcome) {
    const cells = all(by.level ? `[data-label="${by.level}"]` : CELLS, row);
    if (!cells.some((cell) => cell.classList.contains(by.outcome))) return false;
  }
  return !by.text || row.textContent.toLowerCase().includes(by.text.toLowerCase().trim());
}

function filterable(box) {
  const section = box.parentElement;
  const status = box.querySelector("[role=status]");
  const fields = all("[data-filter]", box);
  const apply = () => {
    const by = Object.fromEntries(fields.map((field) => [field.dataset.filter, field.value]));
    const counts = new Map();
    for (const table of all("table.grid", section)) {
      const { rows } = table.tBodies[0];
      let shown = 0;
      // The paper's table has no date, and its rows are not filtered by one.
      for (const row of rows) {
        const known = "date" in row.dataset ? by : { ...by, since: "" };
        shown += !(row.hidden = !matches(row, known));
      }
      const group = table.closest("[data-group]");
      if (group) group.hidden = !shown;
      const [of, sum] = counts.get(table.dataset.unit) ?? [0, 0];
      counts.set(table.dataset.unit, [of + rows.length, sum + shown]);
    }
    status.textContent = [...counts].map(([unit, [of, sum]]) => `${sum} of ${of} ${unit}`).join(", ");
  };
  for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
    for (const field of fields) if (field.dataset.filter === name) field.value = value;
  for (const field of fields) field.addEventListener("input", apply);
  document.addEventListener("sorted", apply);
  box.hidden = false;
  apply();
}

for (const section of all("section")) {
  const tables = all("table.grid", section);
  if ("merged" in section.dataset && tables.length) sortable(tables);
  else for (const table of tables) sortable([table]);
}
all(".controls").forEach(filterable);
