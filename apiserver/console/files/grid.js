// A table of many rows, of which only those in view are in the document.

import {h, setText} from './dom.js';

const rowHeight = 27; // pixels, as in console.css
const around = 12; // rows beyond the view, above and below
const widest = 60; // characters of a column
const measured = 2_000; // rows that decide the width of columns

// Grid shows rows {key, href, cells}, cells being a function that returns texts. One link is in the
// tab order; the arrow keys, Page Up, Page Down, Home and End move from it.
export class Grid {
  #rows = [];
  #columns = [];
  #elements = new Map(); // by key
  #active = 0;
  #frame = 0;
  #above = newSpace();
  #below = newSpace();
  #body = h('tbody', {});
  #columnGroup = h('colgroup', {});
  #head = h('tr', {'aria-rowindex': '1'});

  constructor(labelledBy) {
    this.table = h('table', {class: 'grid', 'aria-labelledby': labelledBy}, this.#columnGroup, h('thead', {}, this.#head), this.#above, this.#body, this.#below);
    this.element = h('div', {class: 'scroll grid-scroll', onscroll: () => this.#schedule(), onkeydown: (event) => this.#key(event)}, this.table);
    this.#resized = new ResizeObserver(() => this.#schedule());
    this.#resized.observe(this.element);
  }

  #resized;

  setColumns(names) {
    this.#columns = names;
    this.#head.replaceChildren(...names.map((name) => h('th', {scope: 'col'}, name)));
    this.#columnGroup.replaceChildren(...names.map(() => h('col', {})), h('col', {})); // the last takes the rest
    this.#elements.clear();
    this.#body.replaceChildren();
  }

  setRows(rows) {
    this.#rows = rows;
    this.#active = Math.min(this.#active, Math.max(rows.length - 1, 0));
    this.table.setAttribute('aria-rowcount', String(rows.length + 1));
    this.#schedule();
  }

  // measure sets the widths of columns by their texts.
  measure() {
    const widths = this.#columns.map((name) => name.length);
    for (const row of this.#rows.slice(0, measured)) {
      row.cells().forEach((text, i) => {
        widths[i] = Math.max(widths[i], text.length);
      });
    }
    widths.forEach((width, i) => {
      this.#columnGroup.children[i].style.width = `calc(${Math.min(width + 1, widest)}ch + 28px)`;
    });
  }

  // refresh shows the texts of the rows in view anew.
  refresh() {
    this.#schedule();
  }

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#render();
    });
  }

  #render() {
    const from = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - around);
    const to = Math.min(this.#rows.length, from + Math.ceil(this.element.clientHeight / rowHeight) + 2 * around);
    setSpace(this.#above, from * rowHeight);
    setSpace(this.#below, (this.#rows.length - to) * rowHeight);
    const shown = this.#rows.slice(from, to);
    const keys = new Set(shown.map((row) => row.key));
    for (const [key, element] of this.#elements) {
      if (keys.has(key)) continue;
      element.remove();
      this.#elements.delete(key);
    }
    shown.forEach((row, i) => {
      const element = this.#elements.get(row.key) ?? this.#create(row);
      element.setAttribute('aria-rowindex', String(from + i + 2));
      row.cells().forEach((text, column) => {
        const cell = element.children[column];
        setText(cell.firstElementChild ?? cell, text);
        cell.title = text.length > widest ? text : '';
      });
      const link = element.querySelector('a');
      link.tabIndex = from + i === this.#active ? 0 : -1;
      if (this.#body.children[i] !== element) this.#body.insertBefore(element, this.#body.children[i] ?? null);
    });
  }

  #create(row) {
    const named = this.#columns.indexOf('Name');
    const element = h('tr', {}, this.#columns.map((_, i) => (i === Math.max(named, 0) ? h('th', {scope: 'row'}, h('a', {href: row.href})) : h('td', {}))));
    this.#elements.set(row.key, element);
    return element;
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 2);
    const last = this.#rows.length - 1;
    const focused = [...this.#elements].find(([, element]) => element.contains(document.activeElement))?.[0];
    const at = this.#rows.findIndex((row) => row.key === focused);
    const to = {
      ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last,
    }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    this.#active = Math.min(Math.max(to, 0), last);
    const top = this.#active * rowHeight;
    const room = this.element.clientHeight - 2 * rowHeight; // without the head
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top > this.element.scrollTop + room) this.element.scrollTop = top - room;
    this.#render();
    this.#elements.get(this.#rows[this.#active].key)?.querySelector('a').focus({preventScroll: true});
  }

  close() {
    this.#resized.disconnect();
    cancelAnimationFrame(this.#frame);
  }
}

// newSpace returns the place of rows that are not in the document.
function newSpace() {
  return h('tbody', {class: 'space', 'aria-hidden': 'true'}, h('tr', {}, h('td', {})));
}

function setSpace(space, height) {
  space.hidden = height <= 0;
  space.querySelector('td').style.height = `${height}px`;
}
