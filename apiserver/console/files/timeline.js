// Draws logs: how far each node's reaches, and the newest entries as a strip that moves to the left.

import {svg} from './dom.js';

const bar = {width: 400, height: 16};
const cell = {width: 12, height: 34, gap: 2};
const cells = 60; // entries of the strip
const smallest = 64; // bytes of an entry that is drawn smallest
const largest = 1 << 20; // bytes of an entry that is drawn largest

// positionBar returns a picture of a member's log in the range of all logs. The table beside it has
// the numbers.
export function positionBar(member, range) {
  const x = (index) => (index - range.first) / Math.max(1, range.last - range.first) * bar.width;
  const part = (name, from, to) => from !== null && to !== null && to >= from &&
    svg('rect', {class: name, x: x(from), y: 3, width: Math.max(2, x(to) - x(from)), height: bar.height - 6, rx: 3});
  return svg('svg', {class: 'position-bar', viewBox: `-3 0 ${bar.width + 6} ${bar.height}`, 'aria-hidden': 'true', preserveAspectRatio: 'none'},
    part('proposed', member.firstIndex, member.lastIndex), part('committed', member.firstIndex, member.commitIndex),
    part('applied', member.firstIndex, member.appliedIndex),
    member.snapshotIndex !== null && member.snapshotIndex >= range.first &&
      svg('line', {class: 'snapshot', x1: x(member.snapshotIndex), x2: x(member.snapshotIndex), y1: 0, y2: bar.height}));
}

// strip returns an empty strip. choose is called with the index of an entry that is clicked. The
// table of entries has the same for keyboards and screen readers.
export function strip(choose) {
  const width = cells * cell.width;
  return svg('svg', {class: 'strip', viewBox: `0 0 ${width} ${cell.height}`, 'aria-hidden': 'true', preserveAspectRatio: 'none',
    onclick: (event) => event.target.dataset.index && choose(Number(event.target.dataset.index))});
}

// updateStrip shows entries, the newest at the right. Those that stay move to their new places.
export function updateStrip(picture, entries) {
  const newest = entries[0]?.index ?? 0;
  const known = new Map([...picture.children].map((rect) => [Number(rect.dataset.index), rect]));
  for (const entry of entries.slice(0, cells)) {
    const rect = known.get(entry.index) ?? newCell(picture, entry);
    known.delete(entry.index);
    rect.setAttribute('class', `entry ${entry.operation} ${entry.stage}`);
    rect.setAttribute('transform', `translate(${(cells - 1 - (newest - entry.index)) * cell.width} 0)`);
  }
  for (const rect of known.values()) rect.remove();
}

function newCell(picture, entry) {
  const share = Math.log(Math.max(smallest, entry.bytes) / smallest) / Math.log(largest / smallest);
  const height = 8 + Math.min(1, share) * (cell.height - 8);
  const rect = svg('rect', {'data-index': entry.index, width: cell.width - cell.gap, height, y: cell.height - height, rx: 2},
    svg('title', {}, `${entry.index}: ${entry.operation} ${entry.object?.name ?? ''}`));
  picture.append(rect);
  return rect;
}
