// The history of an object, as far back as the node's log reaches.

import {objects} from './api.js';
import {diffView} from './diff.js';
import {h, problem} from './dom.js';
import {pathOf} from './discovery.js';

const seconds = 2; // that the watch stays open; it sends what the log holds first
const maxVersions = 100; // that are shown

// showHistory replaces the content of a page by the versions of its object, the latest first, each
// with its difference from the one before.
export async function showHistory(page, close) {
  const back = h('button', {type: 'button', class: 'primary', onclick: close}, 'Back to the object');
  const list = h('ol', {class: 'history'});
  const state = h('p', {class: 'quiet'}, 'Reading the log…');
  page.content.replaceChildren(h('div', {class: 'actions'}, back, state), list);
  back.focus();
  try {
    const versions = await read(page);
    state.textContent = versions.length ? `${versions.length} versions in the log` : 'The log holds no change of this object any more.';
    list.replaceChildren(...versions.map((event, i) => entry(event, versions[i - 1])).reverse());
  } catch (error) {
    if (!page.signal.aborted) state.replaceWith(problem(error));
  }
}

// read returns the events of the object since the oldest version that the log holds.
async function read(page) {
  const path = pathOf(page.kind, page.namespace);
  const query = {fieldSelector: `metadata.name=${page.name}`, timeoutSeconds: seconds};
  const versions = [];
  for await (const event of objects(path, {...query, resourceVersion: await oldest(path, query, page.signal)}, page.signal)) {
    versions.push(event);
    if (versions.length > maxVersions) versions.shift();
  }
  return versions;
}

// oldest returns the oldest version that a watch may start from. The refusal of an older one names it.
async function oldest(path, query, signal) {
  try {
    for await (const event of objects(path, {...query, timeoutSeconds: 1, resourceVersion: '1'}, signal)) void event;
    return '1';
  } catch (error) {
    const named = error.code === 410 && error.message.match(/\((\d+)\)/);
    if (!named) throw error;
    return named[1];
  }
}

function entry(event, before) {
  const {metadata} = event.object;
  const label = `resource version ${metadata.resourceVersion}`;
  const what = {ADDED: 'created', MODIFIED: 'changed', DELETED: 'deleted'}[event.type];
  const by = (metadata.managedFields ?? []).map((field) => [field.time ?? '', field.manager]).sort().at(-1);
  return h('li', {}, h('h2', {}, `${what}, ${label}`, by && h('span', {class: 'quiet'}, ` · ${by[1]} ${by[0]}`)),
    before ? diffView(textOf(before), textOf(event), `Differences of ${label}`) ?? h('p', {class: 'quiet'}, 'Only managed fields differ.')
      : h('p', {class: 'quiet'}, 'The oldest version that the log holds.'));
}

function textOf(event) {
  const object = structuredClone(event.object);
  delete object.metadata.managedFields;
  return JSON.stringify(object, null, 2);
}
