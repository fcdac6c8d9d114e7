// Shows the owners and dependants of an object as a picture of links, and as a list.

import {fragmentOf} from './discovery.js';
import {h, problem, svg} from './dom.js';
import {relations} from './relations.js';

const box = {width: 196, height: 44, column: 252, row: 56, margin: 8};
const maxText = 24; // characters of a name in a box

// showRelations replaces the content of a page by the graph around its object.
export async function showRelations(page, close) {
  const back = h('button', {type: 'button', class: 'primary', onclick: close}, 'Back to the object');
  const state = h('p', {class: 'quiet', role: 'status'}, 'Searching for owners and dependants…');
  const result = h('div', {class: 'stack relations'});
  page.content.replaceChildren(h('div', {class: 'actions'}, back, state), result);
  back.focus();
  try {
    const graph = await relations(page, page.signal);
    const owners = graph.nodes.filter((node) => node.depth < 0).length;
    const dependants = graph.nodes.filter((node) => node.depth > 0).length;
    state.textContent = `${owners} ${owners === 1 ? 'owner' : 'owners'}, ${dependants} ${dependants === 1 ? 'dependant' : 'dependants'}`;
    result.replaceChildren(...[picture(graph), list(graph), ...[...new Set(graph.missing)].map((line) => h('div', {class: 'notice warn'}, line))].filter(Boolean));
  } catch (error) {
    if (!page.signal.aborted) state.replaceWith(problem(error));
  }
}

// picture places the nodes in columns by depth, owners at the left.
function picture({nodes, edges}) {
  const least = Math.min(...nodes.map((node) => node.depth));
  const columns = new Map();
  for (const node of nodes) columns.set(node.depth, [...(columns.get(node.depth) ?? []), node]);
  const tallest = Math.max(...[...columns.values()].map((column) => column.length));
  const places = new Map();
  for (const [depth, column] of columns) {
    column.forEach((node, i) => places.set(node, {
      x: box.margin + (depth - least) * box.column, y: box.margin + (i + (tallest - column.length) / 2) * box.row,
    }));
  }
  const width = 2 * box.margin + (columns.size - 1) * box.column + box.width;
  const height = 2 * box.margin + (tallest - 1) * box.row + box.height;
  return h('div', {class: 'panel scroll', tabindex: '0', role: 'region', 'aria-label': 'Owners and dependants as a picture'},
    svg('svg', {class: 'graph', viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': 'Owners at the left, dependants at the right'},
      edges.map(([from, to]) => edge(places.get(from), places.get(to))), nodes.map((node) => nodeView(node, places.get(node)))));
}

function edge(from, to) {
  const [x1, y1, x2, y2] = [from.x + box.width, from.y + box.height / 2, to.x, to.y + box.height / 2];
  const middle = (x1 + x2) / 2;
  return svg('path', {class: 'edge', d: `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`});
}

function nodeView(node, {x, y}) {
  const parts = [
    svg('rect', {x, y, width: box.width, height: box.height, rx: 7}),
    svg('text', {class: 'kind', x: x + 11, y: y + 17}, node.problem ? `${node.kind.kind}: ${node.problem}` : node.kind.kind),
    svg('text', {class: 'name', x: x + 11, y: y + 34}, node.name.length > maxText ? `${node.name.slice(0, maxText - 1)}…` : node.name),
  ];
  const attributes = {class: `box ${node.depth === 0 ? 'self' : ''} ${node.problem ? 'gone' : ''}`};
  if (node.depth === 0 || node.problem) return svg('g', attributes, parts);
  return svg('a', {...attributes, href: fragmentOf(node.kind, node.namespace, node.name), 'aria-label': labelOf(node)}, parts);
}

function labelOf(node) {
  const role = node.depth === 0 ? 'this object' : node.depth < 0 ? 'owner' : 'dependant';
  return `${node.kind.kind ?? node.kind.plural} ${node.namespace ? `${node.namespace}/` : ''}${node.name}, ${node.problem ?? role}`;
}

// list returns the same as a tree of links, from the uppermost owners down. A node with several owners
// occurs below each.
function list({nodes, edges}) {
  const item = (node, above) => {
    const below = edges.filter(([from, to]) => from === node && !above.includes(to)).map(([, to]) => item(to, [...above, node]));
    const text = labelOf(node);
    return h('li', {}, node.depth === 0 || node.problem ? h('strong', {}, text) : h('a', {href: fragmentOf(node.kind, node.namespace, node.name)}, text),
      below.length > 0 && h('ul', {}, below));
  };
  const roots = nodes.filter((node) => !edges.some(([, to]) => to === node));
  return h('details', {class: 'panel'}, h('summary', {}, 'As a list'), h('ul', {}, roots.map((node) => item(node, []))));
}
