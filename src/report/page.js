// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts tables by their raw values, filters groups, unfolds the section that a link leads to and everything for paper,
// saves the data block. The page is complete without it.
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
    heading.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      sortBy(table, heading);
    });
  }
}
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === 'DETAILS') {
    target.open = true;
    target.firstElementChild.focus({ preventScroll: true });
    target.scrollIntoView();
  }
};
// On a telephone one group is enough at first sight.
if (matchMedia('(max-width: 40rem)').matches)
  for (const one of [...document.querySelectorAll('details.group[open]')].slice(1)) one.open = false;
window.addEventListener('hashchange', unfold);
unfold();
let folded = [];
window.addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open])')];
  for (const one of folded) one.open = true;
});
window.addEventListener('afterprint', () => { for (const one of folded) one.open = false; });
const filter = document.getElementById('filter');
if (filter) {
  filter.closest('.filter').hidden = false;
  const rows = [...document.querySelector('#groups table').tBodies[0].rows].map((row) => {
    const link = row.querySelector('a');
    return { row, section: link && document.getElementById(link.hash.slice(1)), words: row.textContent.toLowerCase() };
  });
  filter.addEventListener('input', () => {
    const wanted = filter.value.trim().toLowerCase();
    let found = 0;
    for (const { row, section, words } of rows) {
      row.hidden = !words.includes(wanted);
      if (section) section.hidden = row.hidden;
      found += row.hidden ? 0 : 1;
    }
    document.getElementById('found').textContent = wanted === '' ? '' : `${found} found`;
  });
}
const save = document.getElementById('save');
if (save) {
  save.hidden = false;
  save.addEventListener('click', () => {
    const blob = new Blob([document.getElementById('data').textContent], { type: 'application/json' });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = 'tailor-report.json';
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
