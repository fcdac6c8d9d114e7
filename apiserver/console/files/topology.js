// Draws the members of a cluster: cards on an ellipse, joined to the leader.

import {svg} from './dom.js';
import {contact, count, quorumOf, stateOf, unknown} from './members.js';

const card = {width: 178, height: 66};

// topology returns a picture of the members. Each keeps its place when roles change.
export function topology(members) {
  const radius = {x: Math.max(250, members.length * 44), y: Math.max(112, members.length * 24)};
  const width = 2 * radius.x + card.width + 24;
  const height = 2 * radius.y + card.height + 24;
  const places = members.map((member, i) => ({member, ...placeOf(i, members.length, radius, width / 2, height / 2)}));
  const leader = places.find((place) => place.member.role === 'leader' && place.member.alive === true);
  const others = places.filter((place) => place !== leader);
  const top = Math.min(...places.map((place) => place.y)) - card.height / 2 - 8;
  const bottom = Math.max(...places.map((place) => place.y)) + card.height / 2 + 8;
  return svg('svg', {class: 'topology', viewBox: `0 ${top} ${width} ${bottom - top}`, role: 'img', 'aria-label': described(members)},
    leader && others.map((place) => link(leader, place)),
    places.map(node),
    leader && others.map((place) => label(leader, place)));
}

function placeOf(i, n, radius, x, y) {
  if (n === 1) return {x, y};
  const angle = n === 2 ? Math.PI * (1 - i) : 2 * Math.PI * i / n - Math.PI / 2;
  return {x: x + radius.x * Math.cos(angle), y: y + radius.y * Math.sin(angle)};
}

function link(leader, {x, y, member}) {
  return svg('line', {class: `link ${classOf(member)}`, x1: leader.x, y1: leader.y, x2: x, y2: y});
}

function label(leader, {x, y, member}) {
  const text = member.alive === true ? `lag ${count(member.lag)} · ${contact(member.lastContactSeconds)}` : stateOf(member);
  return svg('text', {class: 'link-label', x: (leader.x + x) / 2, y: (leader.y + y) / 2 + 4, 'text-anchor': 'middle'}, text);
}

function node({x, y, member}) {
  const left = x - card.width / 2;
  const upper = y - card.height / 2;
  const role = member.role === 'nonvoter' ? 'non-voter' : member.role;
  const state = member.alive === true ? `applied ${count(member.appliedIndex)}` : stateOf(member);
  return svg('g', {class: `node ${classOf(member)}`},
    svg('rect', {x: left, y: upper, width: card.width, height: card.height, rx: 8}),
    svg('circle', {class: 'dot', cx: left + 18, cy: upper + 24, r: 5}),
    svg('text', {class: 'name', x: left + 32, y: upper + 29}, shortened(member.name)),
    svg('text', {class: 'role', x: left + card.width - 14, y: upper + 28, 'text-anchor': 'end'}, role),
    svg('text', {class: 'state', x: left + 14, y: upper + 51}, state),
    svg('text', {class: 'state', x: left + card.width - 14, y: upper + 51, 'text-anchor': 'end'},
      member.alarms.length ? `${member.alarms.length} alarm${member.alarms.length > 1 ? 's' : ''}` : ''));
}

function classOf(member) {
  const state = member.alive === true ? 'up' : 'down';
  return `${member.role} ${state}${member.alarms.length ? ' alarmed' : ''}`;
}

function shortened(name) {
  return name.length > 9 ? `${name.slice(0, 8)}…` : name;
}

function described(members) {
  const leader = quorumOf(members).leader || unknown;
  return `${members.length} nodes, leader ${leader}: ` +
    members.map((member) => `${member.name} ${member.role}, ${stateOf(member)}`).join('; ');
}
