// The page of access: what the user may do, as the API's review of himself says.

import {post} from './api.js';
import {announce, h, problem} from './dom.js';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

// openAccess shows the page until the signal aborts.
export async function openAccess(main, {query, signal}) {
  const result = h('div', {class: 'stack'});
  const namespace = h('input', {id: 'namespace', value: query.get('namespace') ?? 'default', autocomplete: 'off', required: true});
  const show = async () => {
    try {
      const review = await rulesIn(namespace.value.trim(), signal);
      result.replaceChildren(...matrices(review, namespace.value.trim()));
      announce(`Permissions in ${namespace.value.trim()} shown`);
    } catch (error) {
      if (!signal.aborted) result.replaceChildren(problem(error));
    }
  };
  main.replaceChildren(h('div', {class: 'cluster'},
    h('form', {
      class: 'list-head',
      onsubmit: (event) => {
        event.preventDefault();
        show();
      },
    }, h('h1', {}, 'What you may do'), h('label', {class: 'inline'}, 'in the namespace', namespace), h('button', {type: 'submit'}, 'Show')),
    result));
  await show();
}

async function rulesIn(namespace, signal) {
  const review = await post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    {kind: 'SelfSubjectRulesReview', apiVersion: 'authorization.k8s.io/v1', spec: {namespace}}, {signal, repeatable: true});
  return review.status;
}

function matrices(status, namespace) {
  return [
    status.incomplete && h('div', {class: 'notice warn'}, 'The list is incomplete. ', status.evaluationError),
    panel('resources', `Resources in ${namespace}, and those outside of namespaces`, ['Group', 'Resource', 'Names', ...verbs, 'Other verbs'], resourceRows(status.resourceRules)),
    panel('paths', 'Paths', ['Path', 'Verbs'], status.nonResourceRules.flatMap((rule) => rule.nonResourceURLs.map((path) => [path, rule.verbs.join(', ')]))),
  ].filter(Boolean);
}

function panel(id, title, columns, rows) {
  return h('section', {class: 'panel flush', 'aria-labelledby': id}, h('h2', {id}, title),
    h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': id}, h('table', {'aria-labelledby': id},
      h('thead', {}, h('tr', {}, columns.map((name) => h('th', {scope: 'col', class: verbs.includes(name) && 'mark'}, name)))),
      h('tbody', {}, rows.map((cells) => h('tr', {}, cells.map((cell, i) => (verbs.includes(columns[i]) ? mark(cell) : h('td', {}, cell)))))))));
}

function mark(allowed) {
  return h('td', {class: `mark ${allowed ? 'yes' : ''}`}, allowed ? '✓' : '', h('span', {class: 'unseen'}, allowed ? 'allowed' : 'not allowed'));
}

// resourceRows returns a row for each group, resource and set of names, with the verbs of all rules.
function resourceRows(rules) {
  const merged = new Map();
  for (const rule of rules) {
    for (const group of rule.apiGroups) {
      for (const resource of rule.resources) {
        const names = (rule.resourceNames ?? []).join(', ');
        const key = JSON.stringify([group, resource, names]);
        merged.set(key, new Set([...(merged.get(key) ?? []), ...rule.verbs]));
      }
    }
  }
  return [...merged].sort().map(([key, allowed]) => {
    const [group, resource, names] = JSON.parse(key);
    const others = [...allowed].filter((verb) => !verbs.includes(verb) && verb !== '*');
    return [wordOf(group, 'core'), wordOf(resource), names || 'all', ...verbs.map((verb) => allowed.has(verb) || allowed.has('*')),
      allowed.has('*') ? 'all' : others.join(', ')];
  });
}

function wordOf(name, empty) {
  return name === '*' ? 'all' : name || empty;
}
