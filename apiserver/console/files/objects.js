// The page of a collection: its Table, filtered, live.

import {fragmentOf, kindOf, listedKinds, pathOf} from './discovery.js';
import {announce, h, problem, setText} from './dom.js';
import {table} from './api.js';
import {follow} from './follow.js';
import {Grid} from './grid.js';

const refreshAges = 10_000; // milliseconds
const maxNamespaces = 500; // that the filter suggests

// openObjects shows the page until the signal aborts.
export async function openObjects(main, {segments, query, signal}) {
  performance.mark('objects:open');
  const kind = kindOf(segments[2] ? segments : ['core', 'v1', 'namespaces']);
  const view = new View(kind, query, signal);
  main.replaceChildren(view.root);
  view.apply();
  await showKinds(view, kind, signal);
}

// showKinds lists the kinds of discovery beside the table.
async function showKinds(view, kind, signal) {
  try {
    const kinds = await listedKinds(signal);
    if (signal.aborted) return;
    const groups = new Map();
    for (const one of kinds) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
    view.kinds.replaceChildren(...[...groups].flatMap(([group, members]) => [
      h('h2', {}, group || 'core'),
      h('ul', {}, members.map((one) => h('li', {}, h('a', {
        href: fragmentOf(one), 'aria-current': one.group === kind.group && one.plural === kind.plural && 'page',
        'data-name': `${one.kind} ${one.plural} ${one.group}`.toLowerCase(),
      }, one.kind)))),
    ]));
    view.kinds.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  } catch (error) {
    if (!signal.aborted) view.kinds.replaceChildren(problem(error));
  }
}

// View is the page of one kind.
class View {
  constructor(kind, query, signal) {
    this.kind = kind;
    this.signal = signal;
    this.rows = new Map(); // by uid
    this.definitions = [];
    this.frame = 0;
    this.build(query);
    const ages = setInterval(() => this.grid.refresh(), refreshAges);
    signal.addEventListener('abort', () => {
      this.following?.abort();
      clearInterval(ages);
      cancelAnimationFrame(this.frame);
      this.grid.close();
    });
  }

  build(query) {
    this.kinds = h('div', {class: 'kinds'});
    this.title = h('h1', {id: 'kind'}, this.kind.plural, this.kind.group && h('span', {class: 'quiet'}, '.', this.kind.group));
    this.count = h('span', {class: 'quiet', id: 'count'});
    this.state = h('span', {class: 'state', id: 'state'});
    this.problem = h('div', {});
    this.namespaces = h('datalist', {id: 'namespaces'});
    const changed = () => this.apply();
    this.namespace = h('input', {id: 'namespace', list: 'namespaces', value: query.get('namespace') ?? '', placeholder: 'all', autocomplete: 'off', onchange: changed});
    this.labels = h('input', {id: 'labels', value: query.get('labels') ?? '', placeholder: 'app=web,tier!=test', autocomplete: 'off', spellcheck: 'false', onchange: changed});
    this.name = h('input', {id: 'name', type: 'search', value: query.get('name') ?? '', autocomplete: 'off', spellcheck: 'false', oninput: () => this.render()});
    this.wide = h('input', {type: 'checkbox', id: 'wide', onchange: () => this.showColumns()});
    this.grid = new Grid('kind');
    const find = h('input', {id: 'find-kind', type: 'search', 'aria-label': 'Find a kind', placeholder: 'Find a kind', oninput: () => this.findKind(find.value)});
    this.root = h('div', {class: 'objects'},
      h('nav', {class: 'panel kinds-panel', 'aria-label': 'Kinds'}, find, this.kinds),
      h('section', {class: 'panel flush list', 'aria-labelledby': 'kind'},
        h('div', {class: 'list-head'}, this.title, this.count, this.state, h('span', {class: 'fill'}),
          h('div', {class: 'actions', role: 'search', 'aria-label': 'Filters'},
            h('label', {class: 'inline'}, 'Namespace', this.namespace), this.namespaces,
            h('label', {class: 'inline'}, 'Labels', this.labels),
            h('label', {class: 'inline'}, 'Name has', this.name),
            h('label', {class: 'inline'}, this.wide, 'All columns'))),
        this.problem, this.grid.element));
    this.suggestNamespaces();
  }

  async suggestNamespaces() {
    try {
      const page = await table('/api/v1/namespaces', {limit: maxNamespaces, resourceVersion: '0'}, this.signal);
      this.namespaces.replaceChildren(...page.rows.map((row) => h('option', {value: row.object.metadata.name})));
    } catch {
      // Without the right to list namespaces there are no suggestions; the user can type a name.
    }
  }

  findKind(text) {
    for (const link of this.kinds.querySelectorAll('a')) link.parentElement.hidden = !link.dataset.name.includes(text.trim().toLowerCase());
    for (const list of this.kinds.querySelectorAll('ul')) list.previousElementSibling.hidden = !list.querySelector('li:not([hidden])');
  }

  // apply follows the collection that the filters select.
  apply() {
    this.following?.abort();
    this.following = new AbortController();
    const signal = this.following.signal;
    const filters = new URLSearchParams();
    for (const [name, input] of [['namespace', this.namespace], ['labels', this.labels], ['name', this.name]]) {
      if (input.value.trim()) filters.set(name, input.value.trim());
    }
    history.replaceState(null, '', `${fragmentOf(this.kind)}${filters.size ? `?${filters}` : ''}`);
    this.problem.replaceChildren();
    this.rows = new Map();
    this.complete = false;
    this.schedule();
    follow({
      path: pathOf(this.kind, filters.get('namespace')), query: {labelSelector: filters.get('labels')}, signal, on: this.events(),
    }).catch((error) => {
      if (signal.aborted) return;
      this.setState('not shown', 'bad');
      this.problem.replaceChildren(problem(error));
    });
  }

  // events returns the methods that follow calls.
  events() {
    return {
      columns: (definitions) => {
        this.definitions = definitions;
        this.showColumns();
      },
      rows: (rows, complete) => {
        this.rows = new Map(rows);
        this.complete = complete;
        this.measure = true;
        this.schedule();
        if (complete) announce(`${rows.size} ${this.kind.plural}`);
      },
      changed: (type, row) => {
        const uid = row.object.metadata.uid;
        if (type === 'DELETED') this.rows.delete(uid);
        else this.rows.set(uid, row);
        this.schedule();
      },
      state: (text) => this.setState(text, text.startsWith('retrying') ? 'bad' : text === 'live' ? 'good' : ''),
    };
  }

  setState(text, level) {
    setText(this.state, text);
    this.state.className = `state ${level}`;
  }

  // schedule renders with the next frame, however many changes come before.
  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.render();
    });
  }

  // showColumns sets the columns: the important ones, or all.
  showColumns() {
    this.shown = this.definitions.map((definition, i) => ({...definition, i})).filter((definition) => this.wide.checked || !definition.priority);
    this.columnsOfNamespaces = null;
    this.measure = true;
    this.schedule();
  }

  render() {
    if (!this.shown) return;
    const wanted = this.name.value.trim();
    const rows = [...this.rows.values()].filter((row) => row.object.metadata.name.includes(wanted)).sort(byName);
    const namespaced = rows.some((row) => row.object.metadata.namespace) && !this.namespace.value.trim();
    if (this.columnsOfNamespaces !== namespaced) {
      this.columnsOfNamespaces = namespaced;
      this.grid.setColumns([...(namespaced ? ['Namespace'] : []), ...this.shown.map((definition) => definition.name)]);
      this.measure = true;
    }
    this.grid.setRows(rows.map((row) => this.rowOf(row, namespaced)));
    if (this.measure && rows.length) {
      this.grid.measure();
      this.measure = false;
    }
    const filtered = rows.length === this.rows.size ? '' : ` of ${this.rows.size.toLocaleString('en')}`;
    setText(this.count, `${rows.length.toLocaleString('en')}${filtered}${this.complete ? '' : ' so far'}`);
    if (rows.length && !this.painted) {
      this.painted = true;
      requestAnimationFrame(() => requestAnimationFrame(() => performance.measure('objects:first-rows', 'objects:open')));
    }
  }

  rowOf(row, namespaced) {
    const {namespace, name, uid, creationTimestamp} = row.object.metadata;
    return {
      key: uid, href: fragmentOf(this.kind, namespace, name),
      cells: () => [...(namespaced ? [namespace ?? ''] : []), ...this.shown.map((definition) => (
        definition.name === 'Age' ? ageOf(creationTimestamp) : String(row.cells[definition.i] ?? '')))],
    };
  }
}

function byName(a, b) {
  const [x, y] = [a.object.metadata, b.object.metadata];
  if (x.namespace !== y.namespace) return (x.namespace ?? '') < (y.namespace ?? '') ? -1 : 1;
  return x.name < y.name ? -1 : 1;
}

// ageOf returns the time since a moment as the API's Tables show it.
export function ageOf(timestamp) {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(timestamp)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
