const LEVELS = ["C0", "C1", "C2", "C3", "C4", "C5"];
const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function create(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const repositories = all("#cells li").map((item) => ({
  name: item.textContent,
  cells: item.dataset.cells,
}));
const values = all(".pairs tbody tr").map((row) =>
  row.dataset.p.split(";").map((each) => each.split(",")));
const [first, second, differ] = ["#a", "#b", "#differ"].map(find);

// Two digits in base 36 for each contestant and level: passed, counted.
function count(cells, contestant, level) {
  const at = 2 * (contestant * LEVELS.length + level);
  return { passed: parseInt(cells[at], 36) || 0, counted: parseInt(cells[at + 1], 36) || 0 };
}

const share = (one) => one.passed / one.counted;
const percent = (number) => `${Math.round(number * 100)} %`;

function turn(a, b) {
  if (!a.counted || !b.counted) return "unpaired";
  if (share(a) === share(b)) return "same";
  return share(b) > share(a) ? "up" : "down";
}

const WORDS = { up: "▲", down: "▼", same: "=", unpaired: "" };
const told = (one) => (one.counted ? `${one.passed}/${one.counted}` : "–");

function compare() {
  const [a, b] = [first.selectedIndex, second.selectedIndex];
  return repositories.map(({ name, cells }) => ({
    name,
    levels: LEVELS.map((_, level) => {
      const sides = [count(cells, a, level), count(cells, b, level)];
      return { a: sides[0], b: sides[1], turn: turn(...sides) };
    }),
  }));
}

function table(caption, heads, rows) {
  const head = create("tr", {}, ...heads.map((text) => create("th", { scope: "col" }, text)));
  return create("table", { className: "grid cells" },
    create("caption", {}, caption),
    create("thead", {}, head),
    create("tbody", {}, ...rows));
}

function levelRow(rows, level) {
  const pairs = rows.map((row) => row.levels[level]).filter((one) => one.turn !== "unpaired");
  const number = (word) => pairs.filter((one) => one.turn === word).length;
  const mean = (side) => sum(pairs.map((one) => share(one[side]))) / pairs.length;
  const p = values[first.selectedIndex]?.[second.selectedIndex]?.[level];
  const cells = pairs.length
    ? [percent(mean("a")), percent(mean("b")), number("up"), number("down"), number("same"), p || "–"]
    : ["–", "–", "–", "–", "–", "–"];
  return create("tr", {},
    create("th", { scope: "row" }, LEVELS[level]),
    ...cells.map((text) => create("td", {}, String(text))));
}

function words(one) {
  if (!one.a.counted && !one.b.counted) return "n/a";
  const [a, b] = [told(one.a), told(one.b)];
  return `${a === b ? a : `${a} → ${b}`} ${WORDS[one.turn]}`;
}

function cellRow(row) {
  return create("tr", {},
    create("th", { scope: "row" }, row.name),
    ...row.levels.map((one) => create("td", { className: one.turn }, words(one))));
}

function show() {
  const rows = compare();
  const names = [first, second].map((select) => select.selectedOptions[0]?.textContent ?? "");
  const shown = rows.filter((row) =>
    !differ.checked || row.levels.some((one) => one.turn === "up" || one.turn === "down"));
  const result = find("#result");
  result.replaceChildren(
    table(`B ${names[1]} against A ${names[0]}: mean over repositories`,
      ["level", "A", "B", "B higher", "B lower", "equal", "p (Holm)"],
      LEVELS.map((_, level) => levelRow(rows, level))),
    table(`${shown.length} of ${rows.length} repositories: passed of counted attempts, A → B`,
      ["repository", ...LEVELS], shown.map(cellRow)));
  history.replaceState(null, "", `#a=${encodeURIComponent(first.value)}&b=${encodeURIComponent(second.value)}`);
}

const wanted = new URLSearchParams(location.hash.slice(1));
if (second.options.length > 1) second.selectedIndex = 1;
for (const [key, select] of [["a", first], ["b", second]]) {
  const at = [...select.options].findIndex((option) => option.value === wanted.get(key));
  if (at >= 0) select.selectedIndex = at;
}
if (first.selectedIndex === second.selectedIndex && second.options.length > 1)
  first.selectedIndex = first.selectedIndex ? 0 : 1;
for (const field of [first, second, differ]) field.addEventListener("input", show);
if (first.options.length) {
  find(".controls").hidden = false;
  show();
}
