// Who may do what: the rights that roles and bindings give to users, groups and service accounts, from
// the objects that the API lets the user of the page read.

import {json} from './api.js';

const base = '/apis/rbac.authorization.k8s.io/v1';
const pageSize = 500; // objects of one request
export const mostObjects = 5_000; // of each kind

// rightsIn returns the subjects with the rules that apply to them in a namespace, the refusals of what
// the API did not show, and the paths of lists that are too long to be read whole.
export async function rightsIn(namespace, signal) {
  const refusals = [], cut = [];
  const read = async (path) => {
    try {
      const {items, whole} = await listAll(`${base}/${path}`, signal);
      if (!whole) cut.push(path);
      return items;
    } catch (error) {
      if (error.code !== 403) throw error;
      refusals.push(error);
      return [];
    }
  };
  const within = `namespaces/${encodeURIComponent(namespace)}`;
  const [clusterBindings, bindings, clusterRoles, roles] = await Promise.all(
    ['clusterrolebindings', `${within}/rolebindings`, 'clusterroles', `${within}/roles`].map(read));
  const rulesOf = rulesByRole(clusterRoles, roles);
  const subjects = new Map();
  for (const [where, list] of [['everywhere', clusterBindings], [namespace, bindings]]) {
    for (const binding of list) {
      for (const subject of binding.subjects ?? []) {
        const key = JSON.stringify([subject.kind, nameOf(subject)]);
        if (!subjects.has(key)) subjects.set(key, []);
        subjects.get(key).push({where, role: `${binding.roleRef.kind} ${binding.roleRef.name}`, rules: rulesOf(binding.roleRef)});
      }
    }
  }
  const rights = [...subjects].sort().map(([key, grants]) => {
    const [kind, name] = JSON.parse(key);
    return {kind, name, grants};
  });
  return {rights, refusals, cut};
}

// rulesByRole returns a function from the reference to a role to its rules, null if they are unknown.
function rulesByRole(clusterRoles, roles) {
  const rules = new Map();
  for (const [kind, list] of [['ClusterRole', clusterRoles], ['Role', roles]]) {
    for (const role of list) rules.set(`${kind} ${role.metadata.name}`, role.rules ?? []);
  }
  return ({kind, name}) => rules.get(`${kind} ${name}`) ?? null;
}

// nameOf returns the name of a subject; that of a service account has its namespace.
function nameOf(subject) {
  return subject.kind === 'ServiceAccount' ? `${subject.namespace}/${subject.name}` : subject.name;
}

async function listAll(path, signal) {
  const items = [];
  let next = '';
  do {
    const page = await json(path, {query: {limit: String(pageSize), continue: next}, signal});
    items.push(...page.items);
    next = page.metadata.continue ?? '';
  } while (next && items.length < mostObjects);
  return {items, whole: !next};
}
