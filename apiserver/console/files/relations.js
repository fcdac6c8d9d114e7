// Finds the owners and dependants of an object by ownerReferences. The API has no index of dependants,
// so the metadata of all objects that may have the owner is listed, within bounds.

import {json} from './api.js';
import {listedKinds, pathOf} from './discovery.js';

const metadataOf = (kind) => `application/json;as=${kind};g=meta.k8s.io;v=v1`;
const maxListed = 500; // objects of each kind
const maxNodes = 60; // owners and dependants together
const maxDepth = 6;
const atOnce = 4; // lists

// relations returns the graph around an object: its nodes, each with the kind, namespace, name and
// depth (negative for owners), the edges from owners to dependants as pairs of nodes, and what is
// missing, as lines.
export async function relations({kind, namespace, name, path}, signal) {
  const kinds = await listedKinds(signal);
  const {metadata} = await json(path, {accept: metadataOf('PartialObjectMetadata'), query: {resourceVersion: '0'}, signal});
  const full = kinds.find((k) => k.group === kind.group && k.plural === kind.plural) ?? kind;
  const graph = {nodes: [], edges: [], missing: []};
  const start = addNode(graph, {kind: full, namespace, name, uid: metadata.uid, owners: metadata.ownerReferences, depth: 0});
  await addOwners(graph, start, kinds, signal);
  const children = await listChildren(graph, namespace, kinds, signal);
  addDependants(graph, start, children);
  return graph;
}

function addNode(graph, node) {
  graph.nodes.push(node);
  return node;
}

// addOwners follows the references upwards. An owner that does not exist, or that the user may not
// read, is a node without further owners.
async function addOwners(graph, start, kinds, signal) {
  const pending = [start];
  while (pending.length > 0) {
    const node = pending.shift();
    for (const reference of node.owners ?? []) {
      let owner = graph.nodes.find((known) => known.uid === reference.uid);
      if (!owner) {
        if (graph.nodes.length >= maxNodes / 2 || node.depth <= -maxDepth) return void graph.missing.push('There are more owners.');
        owner = addNode(graph, await readOwner(reference, node, kinds, signal));
        pending.push(owner);
      }
      graph.edges.push([owner, node]);
    }
  }
}

async function readOwner(reference, of, kinds, signal) {
  const group = reference.apiVersion.includes('/') ? reference.apiVersion.split('/')[0] : '';
  const kind = kinds.find((k) => k.group === group && k.kind === reference.kind);
  const node = {kind: kind ?? {kind: reference.kind}, namespace: kind?.namespaced ? of.namespace : '', name: reference.name, uid: reference.uid, depth: of.depth - 1};
  if (!kind) return {...node, problem: 'its kind is not served'};
  try {
    const {metadata} = await json(pathOf(kind, node.namespace, node.name), {accept: metadataOf('PartialObjectMetadata'), query: {resourceVersion: '0'}, signal});
    return metadata.uid === reference.uid ? {...node, owners: metadata.ownerReferences} : {...node, problem: 'it was deleted'};
  } catch (error) {
    if (error.code !== 404 && error.code !== 403) throw error;
    return {...node, problem: error.code === 404 ? 'it was deleted' : 'you may not read it'};
  }
}

// listChildren returns the objects by the uids of their owners. An owner in a namespace has dependants
// in this namespace only.
async function listChildren(graph, namespace, kinds, signal) {
  const pending = kinds.filter((k) => k.kind !== 'Event' && (k.namespaced || !namespace));
  const children = new Map();
  const seen = new Set(); // uids: some kinds are served in several groups
  let refused = 0;
  const add = (kind, {metadata}) => {
    if (!metadata.ownerReferences || seen.has(metadata.uid)) return;
    seen.add(metadata.uid);
    for (const {uid} of metadata.ownerReferences) {
      children.set(uid, [...(children.get(uid) ?? []), {kind, namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid}]);
    }
  };
  const work = async () => {
    for (let kind = pending.shift(); kind; kind = pending.shift()) {
      try {
        const query = {resourceVersion: '0', limit: maxListed};
        const list = await json(pathOf(kind, namespace), {accept: metadataOf('PartialObjectMetadataList'), query, signal});
        for (const item of list.items) add(kind, item);
        if (list.metadata.continue) graph.missing.push(`Only the first ${maxListed} ${kind.plural} were searched for dependants.`);
      } catch (error) {
        if (error.code !== 403 && error.code !== 404 && error.code !== 405) throw error;
        if (error.code === 403) refused++;
      }
    }
  };
  await Promise.all(Array.from({length: atOnce}, work));
  if (refused > 0) graph.missing.push(`Dependants of ${refused} kinds are not shown, since you may not list these kinds.`);
  return children;
}

function addDependants(graph, start, children) {
  const pending = [start];
  while (pending.length > 0) {
    const node = pending.shift();
    for (const child of children.get(node.uid) ?? []) {
      let known = graph.nodes.find((other) => other.uid === child.uid);
      if (!known) {
        if (graph.nodes.length >= maxNodes || node.depth >= maxDepth) return void graph.missing.push('There are more dependants.');
        known = addNode(graph, {...child, depth: node.depth + 1});
        pending.push(known);
      }
      if (!graph.edges.some(([from, to]) => from === node && to === known)) graph.edges.push([node, known]);
    }
  }
}
