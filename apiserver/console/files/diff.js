// Differences of texts by lines.

import {h} from './dom.js';

const maxCells = 4_000_000; // of the table of common subsequences; larger texts are shown as replaced
const context = 3; // lines around a difference

// lineDiff returns the lines of two texts as [mark, line], the mark being ' ', '-' or '+'. Empty lines
// at the end do not count.
export function lineDiff(before, after) {
  const a = before.trimEnd().split('\n');
  const b = after.trimEnd().split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines) => lines.map((line) => [' ', line]);
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

// middle compares what lies between the common start and end, by a longest common subsequence.
function middle(a, b) {
  if (a.length * b.length > maxCells) return [...a.map((line) => ['-', line]), ...b.map((line) => ['+', line])];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i]]);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      lines.push(['-', a[i++]]);
    } else {
      lines.push(['+', b[j++]]);
    }
  }
  return lines;
}

const classes = {' ': 'same', '-': 'removed', '+': 'added'};

// diffView returns an element with the differences and the lines around them, null if there are none.
export function diffView(before, after, label) {
  const lines = lineDiff(before, after);
  if (lines.every(([mark]) => mark === ' ')) return null;
  const near = lines.map(([mark]) => mark !== ' ');
  const kept = lines.map((_, i) => near.slice(Math.max(0, i - context), i + context + 1).includes(true));
  const shown = [];
  lines.forEach(([mark, line], i) => {
    if (kept[i]) shown.push(h('span', {class: classes[mark]}, `${mark} ${line}\n`));
    else if (kept[i - 1] || i === 0) shown.push(h('span', {class: 'gap'}, '⋯\n'));
  });
  return h('pre', {class: 'code diff', tabindex: '0', role: 'region', 'aria-label': label}, shown);
}
