// The page of access: what the user may do, as the API's review of himself says, and who may do what, as
// far as he may read roles and bindings.

import {post} from './api.js';
import {announce, h, problem} from './dom.js';
import {mostObjects, rightsIn} from './subjects.js';

const mostRows = 1_000; // of the matrix of all subjects

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

// openAccess shows the page until the signal aborts.
export async function openAccess(main, {query, signal}) {
  const result = h('div', {class: 'stack'});
  const namespace = h('input', {id: 'namespace', value: query.get('namespace') ?? 'default', autocomplete: 'off', required: true});
  const show = async () => {
    try {
      const [review, all] = await Promise.all([rulesIn(namespace.value.trim(), signal), rightsIn(namespace.value.trim(), signal)]);
      result.replaceChildren(...matrices(review, namespace.value.trim()), ...everybody(all, namespace.value.trim()));
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
    }, h('h1', {}, 'Who may do what'), h('label', {class: 'inline'}, 'in the namespace', namespace), h('button', {type: 'submit'}, 'Show')),
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
    panel('resources', `You: resources in ${namespace}, and those outside of namespaces`, ['Group', 'Resource', 'Names', ...verbs, 'Other verbs'], resourceRows(status.resourceRules)),
    panel('paths', 'You: paths', ['Path', 'Verbs'], status.nonResourceRules.flatMap((rule) => rule.nonResourceURLs.map((path) => [path, rule.verbs.join(', ')]))),
  ].filter(Boolean);
}

function panel(id, title, columns, rows) {
  return h('section', {class: 'panel flush', 'aria-labelledby': id}, h('h2', {id}, title),
    h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': id}, h('table', {'aria-labelledby': id},
      h('thead', {}, h('tr', {}, columns.map((name) => h('th', {scope: 'col', class: verbs.includes(name) && 'mark'}, name)))),
      h('tbody', {}, rows.map((cells) => h('tr', {}, cells.map((cell, i) => (verbs.includes(columns[i]) ? mark(cell) : h('td', {}, cell)))))))));
}

// everybody returns the matrix of all subjects that the API shows, and why others may be missing.
function everybody({rights, refusals, cut}, namespace) {
  const rows = rights.flatMap(rowsOf);
  const parts = [...refusals.map((refusal) => problem(refusal)),
    ...cut.map((path) => h('div', {class: 'notice warn'}, `Only the first ${mostObjects} of ${path} are considered.`))];
  if (rows.length === 0 && refusals.length > 0) return parts;
  const id = 'everybody';
  const columns = ['Subject', 'Where', 'Group', 'Resource', 'Names', ...verbs, 'Other verbs'];
  const body = h('tbody', {});
  const shown = h('p', {class: 'quiet', role: 'status'});
  const filter = h('input', {id: 'subject', type: 'search', autocomplete: 'off', oninput: () => show()});
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word);
    const found = rows.filter((row) => words.every((word) => row.text.includes(word)));
    body.replaceChildren(...found.slice(0, mostRows).map((row) => h('tr', {}, row.cells.map((cell, i) => (
      verbs.includes(columns[i]) ? mark(cell) : h(i === 0 ? 'th' : 'td', {scope: i === 0 && 'row'}, cell))))));
    shown.textContent = found.length > mostRows ? `${mostRows} of ${found.length} rows` : `${found.length} ${found.length === 1 ? 'row' : 'rows'}`;
  };
  show();
  return [...parts, h('section', {class: 'panel flush', 'aria-labelledby': id},
    h('h2', {id}, `Everybody, in ${namespace} and outside of namespaces`),
    h('div', {class: 'list-head'}, h('label', {class: 'inline'}, 'Filter', filter), shown),
    h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': id}, h('table', {'aria-labelledby': id},
      h('thead', {}, h('tr', {}, columns.map((name) => h('th', {scope: 'col', class: verbs.includes(name) && 'mark'}, name)))), body)))];
}

// rowsOf returns the rows of a subject: one for each place, group, resource and set of names, with the
// verbs of all its roles.
function rowsOf({kind, name, grants}) {
  const subject = `${kind} ${name}`;
  const rows = [];
  for (const where of new Set(grants.map((grant) => grant.where))) {
    const here = grants.filter((grant) => grant.where === where);
    const rules = here.flatMap((grant) => grant.rules ?? []);
    const resources = rules.filter((rule) => rule.resources?.length).map((rule) => ({...rule, apiGroups: rule.apiGroups ?? []}));
    const paths = rules.filter((rule) => rule.nonResourceURLs?.length && where === 'everywhere');
    const cells = [
      ...resourceRows(resources),
      ...paths.flatMap((rule) => rule.nonResourceURLs.map((path) => pathRow(path, rule.verbs))),
      ...here.filter((grant) => grant.rules === null).map((grant) => [unknownRules, grant.role, unknownRules, ...verbs.map(() => false), 'unknown: the role cannot be read']),
    ];
    rows.push(...cells.map((row) => [subject, where, ...row]));
  }
  return rows.map((cells) => ({cells, text: cells.filter((cell) => typeof cell === 'string').join(' ').toLowerCase()}));
}

const unknownRules = '–';

function pathRow(path, allowed) {
  return ['paths', path, 'all', ...verbs.map((verb) => allowed.includes(verb) || allowed.includes('*')),
    allowed.includes('*') ? 'all' : allowed.filter((verb) => !verbs.includes(verb)).join(', ')];
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
