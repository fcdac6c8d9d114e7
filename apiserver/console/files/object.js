// The page of an object: its text, changes while it is open, edit, deletion, history, owners.

import {text, watch} from './api.js';
import {confirmDeletion} from './deletion.js';
import {fragmentOf, kindOf, pathOf} from './discovery.js';
import {announce, h, problem, setText, wait} from './dom.js';
import {openEditor} from './editor.js';
import {showRelations} from './graph.js';
import {showHistory} from './history.js';
import {codeView, formats, ownText} from './text.js';

const retryAfter = 1_500; // milliseconds

// openObject shows the page until the signal aborts.
export async function openObject(main, {segments, signal}) {
  const kind = kindOf(segments);
  const namespace = segments[3] === '-' ? '' : segments[3];
  const page = new ObjectPage({kind, namespace, name: segments[4], path: pathOf(kind, namespace, segments[4]), signal});
  main.replaceChildren(page.root);
  page.setBusy(true); // until there is something to edit
  await page.load();
  await page.follow();
}

class ObjectPage {
  constructor(object) {
    Object.assign(this, object);
    this.version = h('span', {class: 'quiet', id: 'version'});
    this.notice = h('div', {});
    this.content = h('div', {class: 'content'});
    this.format = h('select', {id: 'format', onchange: () => this.load()}, Object.keys(formats).map((name) => h('option', {value: name}, name)));
    this.managed = h('input', {type: 'checkbox', id: 'managed', onchange: () => this.show()});
    this.buttons = [
      h('button', {type: 'button', id: 'edit', onclick: () => this.edit()}, 'Edit'),
      h('button', {type: 'button', id: 'history', onclick: () => this.instead(showHistory, 1)}, 'History'),
      h('button', {type: 'button', id: 'relations', onclick: () => this.instead(showRelations, 2)}, 'Owners'),
      h('button', {type: 'button', id: 'delete', class: 'danger', onclick: () => this.remove()}, 'Delete'),
    ];
    const list = fragmentOf(this.kind) + (this.namespace ? `?namespace=${encodeURIComponent(this.namespace)}` : '');
    this.root = h('div', {class: 'object'},
      h('nav', {'aria-label': 'Path', class: 'path'}, h('a', {href: fragmentOf(this.kind)}, this.kind.plural),
        this.namespace && [' / ', h('a', {href: list}, this.namespace)], ' /'),
      h('div', {class: 'list-head'}, h('h1', {}, this.name), this.version, h('span', {class: 'fill'}),
        h('div', {class: 'actions'},
          h('label', {class: 'inline'}, 'as', this.format),
          h('label', {class: 'inline'}, this.managed, 'Managed fields'), this.buttons)),
      this.notice, this.content);
  }

  // load reads the object and shows it.
  async load() {
    try {
      this.full = await this.read();
      this.notice.replaceChildren();
      if (!this.editing) this.setBusy(false);
      this.show();
    } catch (error) {
      if (!this.signal.aborted) this.notice.replaceChildren(problem(error));
    }
  }

  // read returns the object as text, from the state of this node.
  read() {
    return this.readAt('0');
  }

  // readNow returns the object as text, as a quorum has it.
  readNow() {
    return this.readAt('');
  }

  readAt(resourceVersion) {
    return text(this.path, {accept: this.type(), query: {resourceVersion, pretty: 'true'}, signal: this.signal});
  }

  type() {
    return formats[this.format.value].type;
  }

  uid() {
    return formats[this.format.value].uidOf(this.full);
  }

  // show replaces the content by the text of the object, unless the user edits it.
  show() {
    if (this.editing || this.full === undefined) return;
    setText(this.version, `resource version ${formats[this.format.value].versionOf(this.full)}`);
    this.content.replaceChildren(codeView(this.shown(this.full), this.format.value));
  }

  // shown returns the text without managed fields, unless the user asks for them.
  shown(full) {
    return this.managed.checked ? full : ownText(full, this.format.value);
  }

  // follow loads the object again when it changes.
  async follow() {
    const query = {fieldSelector: `metadata.name=${this.name}`, resourceVersion: '0'};
    while (!this.signal.aborted) {
      try {
        for await (const event of watch(pathOf(this.kind, this.namespace), query, this.signal)) {
          query.resourceVersion = event.object.metadata.resourceVersion;
          if (event.type !== 'BOOKMARK') await this.changed(event);
        }
      } catch (error) {
        if (this.signal.aborted) return;
        if (error.code === 410) query.resourceVersion = '0';
        else if (error.code) return; // without the right to watch, the page stays as it is
      }
      await wait(retryAfter, this.signal);
    }
  }

  async changed(event) {
    const version = event.object.metadata.resourceVersion;
    if (this.full && formats[this.format.value].versionOf(this.full) === version && event.type !== 'DELETED') return;
    if (event.type === 'DELETED') {
      this.setBusy(true);
      this.warn('This object was deleted. Below is what it was.');
    } else if (this.editing) {
      this.warn(`This object has changed since you began to edit it (resource version ${version}). Saving shows what changed.`);
    } else {
      this.setBusy(false);
      await this.load();
      announce(`${this.name} changed`);
    }
  }

  warn(line) {
    this.notice.replaceChildren(h('div', {class: 'notice warn', role: 'alert'}, line));
  }

  setBusy(busy) {
    for (const control of [...this.buttons, this.format, this.managed]) control.disabled = busy;
  }

  edit() {
    this.editing = true;
    this.setBusy(true);
    openEditor(this, {
      base: this.shown(this.full),
      done: (saved) => {
        this.editing = false;
        this.setBusy(false);
        if (saved) {
          this.full = saved;
          this.notice.replaceChildren(h('div', {class: 'notice good'}, 'Saved.'));
          announce('Saved');
        } else {
          this.notice.replaceChildren();
        }
        this.show();
        this.buttons[0].focus();
        if (!saved) this.load();
      },
    });
  }

  // instead shows something else in place of the text of the object, until the user goes back to it
  // and to the button.
  instead(show, button) {
    this.setBusy(true);
    this.editing = true; // what is loaded meanwhile is shown afterwards
    show(this, () => {
      this.editing = false;
      this.setBusy(false);
      this.load();
      this.buttons[button].focus();
    });
  }

  remove() {
    confirmDeletion(this);
  }
}
