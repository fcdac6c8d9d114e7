// The kinds that the API serves, and the paths of their objects.

import {json} from './api.js';

const groupList = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

// listedKinds returns the kinds that can be listed, each in the version that its group prefers.
export async function listedKinds(signal) {
  const lists = await Promise.all(['/api', '/apis'].map((path) => json(path, {accept: groupList, signal})));
  return lists.flatMap((list) => list.items).flatMap(kindsOfGroup);
}

function kindsOfGroup({metadata, versions}) {
  const group = metadata.name ?? '';
  const found = new Map();
  for (const {version, resources} of versions) { // the preferred one first
    for (const resource of resources) {
      if (!resource.verbs.includes('list') || found.has(resource.resource)) continue;
      found.set(resource.resource, {group, version, plural: resource.resource, kind: resource.responseKind.kind, verbs: resource.verbs,
        namespaced: resource.scope === 'Namespaced'});
    }
  }
  return [...found.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

// pathOf returns the path of a collection, or of an object in it.
export function pathOf({group, version, plural}, namespace, name) {
  const parts = group ? ['apis', group, version] : ['api', version];
  if (namespace) parts.push('namespaces', namespace);
  parts.push(plural);
  if (name) parts.push(name);
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

// fragmentOf returns the fragment of the URL that shows a collection or an object.
export function fragmentOf({group, version, plural}, namespace, name) {
  const parts = [name ? 'object' : 'objects', group || 'core', version, plural];
  if (name) parts.push(namespace || '-', name);
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

// kindOf is the inverse of fragmentOf: the kind that segments of a fragment name.
export function kindOf([group, version, plural]) {
  return {group: group === 'core' ? '' : group, version, plural};
}
