// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts tables by their raw values and saves the data block. The page is complete without it.
'use strict';
const compare = (a, b) => {
  if (a === '' || b === '') return (a === '') - (b === '');
  const x = Number(a), y = Number(b);
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
};
const sortBy = (table, heading) => {
  const column = heading.cellIndex;
  const up = heading.getAttribute('aria-sort') !== 'ascending';
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  const value = (row) => row.cells[column].dataset.v;
  const rows = [...table.tBodies[0].rows].sort((a, b) => {
    if (value(a) === '' || value(b) === '') return compare(value(a), value(b));
    return up ? compare(value(a), value(b)) : compare(value(b), value(a));
  });
  table.tBodies[0].append(...rows);
};
for (const table of document.querySelectorAll('table.sortable')) {
  for (const heading of table.tHead.rows[0].cells) {
    heading.tabIndex = 0;
    heading.addEventListener('click', () => sortBy(table, heading));
    heading.addEventListener('keydown', (event) => { if (event.key === 'Enter') sortBy(table, heading); });
  }
}
const save = document.getElementById('save');
save.hidden = false;
save.addEventListener('click', () => {
  const blob = new Blob([document.getElementById('data').textContent], { type: 'application/json' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = 'tailor-report.json';
  link.click();
  URL.revokeObjectURL(link.href);
});
