// Edits an object as text: write, review the differences, save; after a conflict, see what changed.

import {text} from './api.js';
import {diffView} from './diff.js';
import {h, problem} from './dom.js';
import {formats, withVersion} from './text.js';

const manager = 'quorate-console'; // the name in managedFields

// openEditor replaces the content of a page by an editor. done is called with the saved text, or
// without if the user gives up.
export function openEditor(page, {base, done}) {
  const format = page.format.value;
  let current = base; // what the edit is compared with, and would replace
  const area = h('textarea', {id: 'editor', spellcheck: 'false', autocomplete: 'off', 'aria-label': `${format} of ${page.name}`});
  area.value = base;
  const show = (...elements) => page.content.replaceChildren(...elements.filter(Boolean));
  const button = (label, onclick, attributes) => h('button', {type: 'button', onclick, ...attributes}, label);
  const cancel = () => button('Cancel', () => done());

  function write(error) {
    show(
      error && problem(error),
      h('div', {class: 'actions'}, button('Review changes', review, {class: 'primary', id: 'review'}), cancel()),
      area);
    area.focus();
  }

  function review() {
    const diff = diffView(current, area.value, 'Your changes');
    if (!diff) return write({message: 'Nothing has changed.'});
    const save = button('Save', () => put(save), {class: 'primary', id: 'save'});
    show(h('div', {class: 'actions'}, save, button('Back to the text', () => write()), cancel()), h('h2', {}, 'Your changes'), diff);
    save.focus();
  }

  async function put(save) {
    save.disabled = true;
    try {
      await text(page.path, {method: 'PUT', type: formats[format].type, body: area.value, query: {fieldManager: manager}, signal: page.signal});
      done(await page.readNow());
    } catch (error) {
      if (page.signal.aborted) return;
      if (error.code === 409) conflict(error).catch(write);
      else write(error);
    }
  }

  // conflict shows what others changed since the user began. He goes on from theirs, or reviews his
  // text against theirs, which he would then replace.
  async function conflict(error) {
    const theirs = page.shown(await page.readNow());
    const keep = button('Keep my text and review it against theirs', () => {
      area.value = withVersion(area.value, format, formats[format].versionOf(theirs));
      current = theirs;
      review();
    }, {class: 'primary', id: 'keep'});
    const take = button('Drop my text and edit theirs', () => {
      area.value = current = theirs;
      write();
    }, {id: 'take'});
    show(problem(error), h('div', {class: 'actions'}, keep, take, cancel()),
      h('h2', {}, 'What others changed since you began'), diffView(current, theirs, 'Changes of others'));
    keep.focus();
  }

  write();
}
