#pragma once

namespace imprint {

/// The style sheet of the report: one column of 1100 pixels, light or dark as the reader's system.
inline constexpr const char* kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --text: #1c1e21; --soft: #5c636b; --paper: #ffffff; --card: #f6f7f9; --line: #dcdfe4;
  --accent: #0072b2; --good: #1a7f4b; --bad: #b3261e; --open: #8a6100;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e7e9ec; --soft: #a4abb3; --paper: #15181c; --card: #1d2126; --line: #363c44;
    --accent: #63b3ed; --good: #5fcf95; --bad: #ff8a80; --open: #e9b949;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 32px 24px 64px; background: var(--paper); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
main { max-width: 1100px; margin: 0 auto; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 21px; margin: 44px 0 8px; padding-top: 14px; border-top: 1px solid var(--line); }
p { margin: 8px 0; }
.soft, figcaption { color: var(--soft); font-size: 13.5px; }
.summary { font-size: 16.5px; max-width: 920px; margin: 18px 0; padding-left: 16px;
  border-left: 4px solid var(--accent); }
.notes { margin: 14px 0; padding: 12px 16px 12px 34px; background: var(--card);
  border-radius: 6px; }
.warning { padding: 10px 14px; border-radius: 6px; background: var(--card); color: var(--bad); }
figure { margin: 0; overflow-x: auto; }
figcaption { max-width: 920px; margin: 4px 0 14px; }
.chart { min-height: 200px; }
.chart .vega-bind { font-size: 13.5px; }
.chart .vega-bind label { margin-right: 12px; }
.chart .vega-bindings { margin-top: 6px; }
.records { list-style: none; display: flex; flex-wrap: wrap; gap: 10px; padding: 0; }
.records li { width: 120px; padding: 8px; background: var(--card); border-radius: 6px;
  font-size: 13px; }
.records img { display: block; width: 84px; height: 84px; margin: 0 auto 6px;
  image-rendering: pixelated; }
.records small { display: block; color: var(--soft); }
.scroll { overflow: auto; max-height: 720px; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-size: 13px;
  font-variant-numeric: tabular-nums; }
th, td { padding: 6px 6px; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; z-index: 1; background: var(--card); font-weight: 600;
  line-height: 1.3; vertical-align: bottom; }
table.sortable th { cursor: pointer; user-select: none; }
th[aria-sort=ascending]::after { content: " \25B2"; font-size: 10px; }
th[aria-sort=descending]::after { content: " \25BC"; font-size: 10px; }
td small { display: block; color: var(--soft); font-size: 11px; line-height: 1.35;
  white-space: nowrap; }
tr.undefended td { background: var(--card); }
.missing { color: var(--soft); font-style: italic; }
.verdict { font-weight: 700; }
.holds { color: var(--good); }
.fails { color: var(--bad); }
.undecided { color: var(--open); }
.scaled { display: inline-block; margin-left: 6px; padding: 0 6px; border-radius: 4px;
  border: 1px solid var(--line); font-size: 11px; font-weight: 400; color: var(--soft); }
label.filter { display: inline-block; margin: 6px 0 10px; font-size: 13.5px; }
select { font: inherit; padding: 2px 6px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 20px; }
dt { font-weight: 600; }
dd { margin: 0; color: var(--soft); }
details { margin-top: 18px; }
summary { cursor: pointer; font-weight: 600; font-size: 16px; }
pre { overflow: auto; max-height: 640px; padding: 14px; border-radius: 6px; background: var(--card);
  font: 12.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
@media print {
  .scroll { max-height: none; overflow: visible; }
  .filter, .vega-bindings { display: none; }
}
)css";

/// Draws the charts and makes the tables sortable. It runs after the Vega bundle, which puts
/// vegaEmbed into the window.
inline constexpr const char* kPageScript = R"js(
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const ink = dark ? '#e7e9ec' : '#1c1e21', rule = dark ? '#4a515a' : '#d5d9de';
const look = {
  background: null,
  axis: {labelColor: ink, titleColor: ink, gridColor: rule, domainColor: rule, tickColor: rule},
  legend: {labelColor: ink}, header: {labelColor: ink}, title: {color: ink},
  view: {stroke: rule}};

for (const chart of document.querySelectorAll('.chart')) {
  const fail = error => { chart.className = 'warning'; chart.textContent = 'Not drawn: ' + error; };
  try {
    const spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
    window.vegaEmbed(chart, spec, {
      config: look, renderer: 'svg', downloadFileName: chart.dataset.name,
      actions: {export: true, source: false, compiled: false, editor: false}}).catch(fail);
  } catch (error) { fail(error); }
}

const key = (row, column) => {
  const cell = row.cells[column], text = cell.dataset.sort ?? cell.textContent;
  return text === '' || isNaN(text) ? text : Number(text);
};
const compare = (a, b, up) => {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  const order = typeof a === 'number' ? a - b : a.localeCompare(b, undefined, {numeric: true});
  return up ? order : -order;
};
const sortBy = (table, header) => {
  const column = header.cellIndex, body = table.tBodies[0];
  const up = header.getAttribute('aria-sort') !== 'ascending';
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  header.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  const rows = [...body.rows];
  rows.sort((a, b) => compare(key(a, column), key(b, column), up));
  body.append(...rows);
};
for (const table of document.querySelectorAll('table.sortable')) {
  for (const header of table.tHead.rows[0].cells) {
    header.tabIndex = 0;
    header.addEventListener('click', () => sortBy(table, header));
    header.addEventListener('keydown', e => { if (e.key === 'Enter') sortBy(table, header); });
  }
}

const choice = document.getElementById('attack-filter');
const filter = () => {
  for (const row of document.querySelectorAll('#results tbody tr')) {
    const wanted = choice.value === 'all' || row.dataset.attack === choice.value ||
      (choice.value === 'strongest' && row.dataset.strongest === 'yes');
    row.hidden = !wanted;
  }
};
if (choice) { choice.addEventListener('change', filter); filter(); }
)js";

}  // namespace imprint
