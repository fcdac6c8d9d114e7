// The page of the log: where each node's log stands, its newest entries as they arrive, and the change
// that an entry made.

import {json} from './api.js';
import {diffView} from './diff.js';
import {fragmentOf, listedKinds} from './discovery.js';
import {announce, h, problem, setText, wait} from './dom.js';
import {bytes, count, unknown} from './members.js';
import {positionBar, strip, updateStrip} from './timeline.js';
import {codeView} from './text.js';

const interval = 2_000; // milliseconds
const pageSize = 60; // entries

// positions are the columns of the table of nodes.
const positions = [
  ['Oldest kept', (m) => count(m.firstIndex)], ['Snapshot', (m) => count(m.snapshotIndex)], ['Applied', (m) => count(m.appliedIndex)],
  ['Committed', (m) => count(m.commitIndex)], ['Proposed', (m) => count(m.lastIndex)],
];

// columns are those of the table of entries, after the index.
const columns = [
  ['Stage', (e) => e.stage], ['Time', (e) => (e.time ? new Date(e.time).toLocaleTimeString('en-GB') : unknown)], ['Term', (e) => count(e.term)],
  ['Size', (e) => bytes(e.bytes)], ['Operation', (e) => e.operation], ['Object', objectOf],
];
const numbers = [...positions.map(([name]) => name), 'Index', 'Term', 'Size'];

// openLog shows the page until the signal aborts.
export async function openLog(main, {segments, signal}) {
  const page = new LogPage(signal);
  main.replaceChildren(page.root);
  if (segments[0]) page.select(Number(segments[0]));
  while (!signal.aborted) {
    await page.refresh();
    await wait(interval, signal);
  }
}

class LogPage {
  constructor(signal) {
    this.signal = signal;
    this.notice = h('div', {});
    this.refusal = h('div', {});
    this.nodes = h('tbody', {});
    this.snapshots = h('p', {class: 'quiet'});
    this.strip = strip((index) => this.select(index));
    this.entries = h('tbody', {});
    this.rows = new Map(); // by index
    this.change = h('div', {class: 'change', 'aria-live': 'polite'}, h('p', {class: 'quiet'}, 'Choose an entry to see the change that it made.'));
    this.following = h('input', {type: 'checkbox', id: 'follow', checked: true, onchange: () => this.follow()});
    this.older = h('button', {type: 'button', id: 'older', onclick: () => this.showOlder()}, 'Older');
    this.root = h('div', {class: 'cluster'}, this.notice,
      h('section', {class: 'panel flush', 'aria-labelledby': 'positions'}, h('h2', {id: 'positions'}, 'The log of each node'),
        h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': 'positions'},
          table('positions', ['Node', ...positions.map(([name]) => name), 'From the oldest entry to the last'], this.nodes)), this.snapshots),
      h('section', {class: 'panel', 'aria-labelledby': 'recent'},
        h('div', {class: 'list-head'}, h('h1', {id: 'recent'}, 'Entries'), h('span', {class: 'fill'}),
          h('label', {class: 'inline'}, this.following, 'Follow'), this.older),
        this.refusal, this.strip,
        h('div', {class: 'columns'},
          h('div', {class: 'scroll entries', tabindex: '0', role: 'region', 'aria-labelledby': 'recent'},
            table('recent', ['Index', ...columns.map(([name]) => name)], this.entries)),
          this.change)));
  }

  // refresh reads what is new. Without the right to read entries the positions are shown alone.
  async refresh() {
    try {
      const [{members}, own] = await Promise.all([json('/cluster/v1/members', {signal: this.signal}), json('/cluster/v1/log', {signal: this.signal})]);
      this.showPositions(members, own);
      this.notice.replaceChildren();
    } catch (error) {
      if (!this.signal.aborted) this.notice.replaceChildren(problem(error));
    }
    if (!this.following.checked || this.forbidden) return;
    await this.load();
  }

  // load reads the page of entries before an index, or the newest.
  async load(before) {
    try {
      const {entries} = await json('/cluster/v1/log/entries', {query: {limit: pageSize, before}, signal: this.signal});
      this.showEntries(entries);
      this.refusal.replaceChildren();
    } catch (error) {
      if (this.signal.aborted) return;
      this.forbidden = error.code === 403;
      this.refusal.replaceChildren(problem(error));
    }
  }

  showPositions(members, own) {
    members.sort((a, b) => (a.name < b.name ? -1 : 1));
    const known = (name) => members.map((member) => member[name]).filter((index) => index !== null && index !== undefined);
    const range = {first: Math.min(...known('firstIndex')), last: Math.max(...known('lastIndex'))};
    this.nodes.replaceChildren(...members.map((member) => h('tr', {}, h('th', {scope: 'row'}, member.name),
      positions.map(([, text]) => h('td', {class: 'number'}, text(member))), h('td', {class: 'bar'}, positionBar(member, range)))));
    const list = own.snapshots.map((s) => `entry ${count(s.index)} (${bytes(s.bytes)}${s.time ? `, ${new Date(s.time).toLocaleString('en-GB')}` : ''})`);
    setText(this.snapshots, `The mark is the newest snapshot. Snapshots of this node: ${list.join(', ') || 'none'}.`);
  }

  // showEntries shows a page of entries. Rows that stay keep their elements, and so the focus.
  showEntries(entries) {
    const shown = new Set(entries.map((entry) => entry.index));
    for (const [index, row] of this.rows) {
      if (shown.has(index)) continue;
      row.remove();
      this.rows.delete(index);
    }
    entries.forEach((entry, i) => {
      let row = this.rows.get(entry.index);
      if (!row) this.rows.set(entry.index, row = this.row(entry));
      row.cells[1].className = `stage ${entry.stage}`;
      setText(row.cells[1], entry.stage);
      if (this.entries.children[i] !== row) this.entries.insertBefore(row, this.entries.children[i] ?? null);
    });
    this.oldest = entries.at(-1)?.index;
    this.older.disabled = !(this.oldest > 1);
    updateStrip(this.strip, entries);
  }

  row(entry) {
    const choose = h('button', {type: 'button', class: 'link', onclick: () => this.select(entry.index)}, entry.index);
    return h('tr', {}, h('th', {scope: 'row', class: 'number'}, choose),
      columns.map(([name, text]) => h('td', {class: numbers.includes(name) ? 'number' : name === 'Operation' && `operation-name ${entry.operation}`}, text(entry))));
  }

  follow() {
    if (this.following.checked) this.load();
  }

  async showOlder() {
    this.following.checked = false;
    await this.load(this.oldest);
    announce(`Entries before ${this.oldest} shown`);
  }

  // select shows the change of an entry, and puts its index into the URL.
  async select(index) {
    history.replaceState(null, '', `#/log/${index}`);
    this.selected = index;
    try {
      const entry = await json(`/cluster/v1/log/entries/${index}`, {signal: this.signal});
      this.kinds ??= await listedKinds(this.signal);
      if (this.selected === index) this.change.replaceChildren(...changeView(entry, this.kinds));
    } catch (error) {
      if (!this.signal.aborted && this.selected === index) this.change.replaceChildren(problem(error));
    }
  }
}

function table(label, names, body) {
  return h('table', {class: 'members', 'aria-labelledby': label},
    h('thead', {}, h('tr', {}, names.map((name) => h('th', {scope: 'col', class: numbers.includes(name) && 'number'}, name)))), body);
}

function objectOf({object}) {
  if (!object) return unknown;
  return `${object.resource}${object.group && `.${object.group}`} ${object.namespace && `${object.namespace}/`}${object.name}`;
}

// changeView returns elements that show an entry and what it changed.
function changeView(entry, kinds) {
  const title = `Entry ${count(entry.index)}: ${entry.operation}${entry.object ? ` ${objectOf(entry)}` : ''}`;
  return [h('h2', {id: 'change-title'}, title),
    h('p', {class: 'quiet'}, `Term ${count(entry.term)}, ${bytes(entry.bytes)}, ${entry.stage}${entry.time ? `, proposed ${new Date(entry.time).toLocaleString('en-GB')}` : ''}. `,
      entry.object && linkTo(entry.object, kinds)),
    difference(entry)];
}

function difference(entry) {
  const [before, after] = [textOf(entry.before), textOf(entry.after)];
  if (before && after) return diffView(before, after, 'Change of the object') ?? h('p', {class: 'quiet'}, 'Only managed fields differ.');
  const missing = entry.beforeUnknown && h('p', {class: 'quiet'}, 'The log no longer has the object as it was before. This is what it became:');
  if (before || after) return h('div', {class: 'stack'}, missing, codeView(after || before, 'JSON'));
  return h('p', {class: 'quiet'}, entry.stage === 'refused' ? 'It changed nothing: its precondition did not hold when it was applied.'
    : entry.object ? 'This node has not applied it yet.' : 'It changed no object.');
}

function textOf(object) {
  if (!object) return '';
  delete object.metadata?.managedFields;
  return JSON.stringify(object, null, 2);
}

// linkTo returns a link to the page of an object, null if its kind is not served.
function linkTo(object, kinds) {
  const kind = kinds.find((k) => k.group === object.group && k.plural === object.resource);
  return kind ? h('a', {href: fragmentOf(kind, object.namespace, object.name)}, 'The object as it is now') : null;
}
