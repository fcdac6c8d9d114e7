// Asks how to delete an object, and deletes it.

import {json} from './api.js';
import {fragmentOf} from './discovery.js';
import {h, problem} from './dom.js';

const policies = [
  ['Background', 'The object goes at once; the server then deletes what it owns.'],
  ['Foreground', 'What it owns goes first; until then the object stays, marked as being deleted.'],
  ['Orphan', 'The object goes; what it owns stays, without an owner.'],
];

// confirmDeletion opens a dialog. After the deletion it goes to the list of the kind.
export function confirmDeletion(page) {
  const result = h('div', {});
  const choices = policies.map(([name, explanation], i) => h('label', {class: 'choice'},
    h('input', {type: 'radio', name: 'policy', value: name, checked: i === 0}), h('span', {}, h('strong', {}, name), ' ', h('span', {class: 'quiet'}, explanation))));
  const confirm = h('button', {type: 'button', class: 'danger', id: 'confirm', onclick: () => remove()}, `Delete ${page.name}`);
  const dialog = h('dialog', {'aria-labelledby': 'deletion', onclose: () => dialog.remove()},
    h('h1', {id: 'deletion'}, `Delete ${page.kind.plural} ${page.namespace ? `${page.namespace}/` : ''}${page.name}?`),
    h('fieldset', {}, h('legend', {}, 'Objects that it owns'), choices),
    h('p', {class: 'quiet'}, 'If it has finalizers, it stays until their controllers have removed them.'),
    result,
    h('div', {class: 'actions'}, confirm, h('button', {type: 'button', autofocus: true, onclick: () => dialog.close()}, 'Keep it')));

  async function remove() {
    confirm.disabled = true;
    const propagationPolicy = dialog.querySelector('input:checked').value;
    try {
      // Of this object only, and not of one that was created under its name meanwhile.
      const preconditions = {uid: page.uid()};
      const body = JSON.stringify({kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy, preconditions});
      await json(page.path, {method: 'DELETE', type: 'application/json', body, signal: page.signal});
      dialog.close();
      location.hash = fragmentOf(page.kind) + (page.namespace ? `?namespace=${encodeURIComponent(page.namespace)}` : '');
    } catch (error) {
      confirm.disabled = false;
      result.replaceChildren(problem(error));
    }
  }

  page.signal.addEventListener('abort', () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
