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

function sort(table, column, order) {
  const sign = order === "descending" ? -1 : 1;
  const keyed = all("tbody > tr", table).map((row) => [key(row, column), row]);
  keyed.sort(([a], [b]) =>
    a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
  all("thead th", table).forEach((head, at) => {
    if (at === column) head.setAttribute("aria-sort", order);
    else head.removeAttribute("aria-sort");
  });
}

function sortable(table) {
  const heads = all("thead th", table);
  const reversed = { ascending: "descending", descending: "ascending" };
  heads.forEach((head, column) => {
    const button = create("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () =>
      sort(table, column, reversed[head.ariaSort] ?? head.dataset.first));
  });
  // On a phone the rows are cards without a head to press.
  const names = heads.map((head) => [...head.firstChild.childNodes].map((node) => node.textContent));
  const options = names.map((parts, at) => new Option(parts.join(" "), at));
  const select = create("select", {}, new Option("default order", "", true), ...options);
  select.addEventListener("change", () => {
    if (select.value) sort(table, +select.value, heads[+select.value].dataset.first);
  });
  table.before(create("label", { className: "sorter" }, create("span", {}, "Sort by"), select));
}

function matches(row, by) {
  if (by.agent && row.dataset.agent !== by.agent) return false;
  if (by.outcome) {
    const cells = all(by.level ? `[data-label="${by.level}"]` : "[data-label^=C]", row);
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
    for (const part of all("[data-section]", section))
      part.hidden = Boolean(by.section) && part.dataset.section !== by.section;
    const rows = all("tbody > tr", section).filter((row) => !row.closest("[hidden]:not(tr)"));
    let shown = 0;
    for (const row of rows) shown += !(row.hidden = !matches(row, by));
    status.textContent = `${shown} of ${rows.length} rows shown`;
  };
  for (const field of fields) field.addEventListener("input", apply);
  box.hidden = false;
  apply();
}

all("table.grid").forEach(sortable);
all(".controls").forEach(filterable);
