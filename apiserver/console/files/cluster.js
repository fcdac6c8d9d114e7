// The page of the cluster: its members, refreshed every two seconds from this node.

import {json} from './api.js';
import {announce, h, problem, setText, svg, wait} from './dom.js';
import {bytes, changesOf, contact, count, quorumOf, stateOf, termOf, unknown, verdictOf} from './members.js';
import {hourView} from './rates.js';
import {topology} from './topology.js';

const interval = 2_000; // milliseconds
const maxChanges = 200; // lines of the list of changes
const maxSamples = 150; // of the rate of log entries: five minutes
const hourInterval = 10_000; // milliseconds between reads of the last hour: that of its samples

// columns are those of the table of members.
const columns = [
  ['Name', (m) => m.name], ['Role', (m) => (m.role === 'nonvoter' ? 'non-voter' : m.role)], ['State', stateOf],
  ['Term', (m) => count(m.term), true], ['Applied', (m) => count(m.appliedIndex), true], ['Last index', (m) => count(m.lastIndex), true],
  ['Lag', (m) => count(m.lag), true], ['Contact', (m) => contact(m.lastContactSeconds), true],
  ['Free disk', (m) => bytes(m.diskFreeBytes), true], ['Version', (m) => m.version ?? unknown],
  ['API', (m) => m.apiAddr || unknown], ['Peer', (m) => m.peerAddr], ['Alarms', (m) => m.alarms.map((a) => a.name).join(', ') || (m.alive ? 'none' : unknown)],
];

// openCluster shows the page until the signal aborts.
export async function openCluster(main, {signal}) {
  const view = newView();
  main.replaceChildren(view.root);
  let before = null;
  followHour(view, signal);
  while (!signal.aborted) {
    try {
      const {members} = await json('/cluster/v1/members', {signal});
      if (signal.aborted) return;
      members.sort((a, b) => (a.name < b.name ? -1 : 1));
      view.problem.replaceChildren();
      render(view, members, before);
      before = members;
    } catch (error) {
      if (signal.aborted) return;
      showProblem(view, error, before);
      if (error.code === 403) return; // it stays forbidden
    }
    await wait(interval, signal);
  }
}

// followHour shows the last hour of this node until the signal aborts. A user who may not read it does
// not see its panel.
async function followHour(view, signal) {
  while (!signal.aborted) {
    try {
      const rates = await json('/cluster/v1/rates', {signal});
      view.hour.replaceChildren(hourView(rates));
      view.hourPanel.hidden = false;
    } catch (error) {
      if (error.code === 403 || error.code === 404) return;
    }
    await wait(hourInterval, signal);
  }
}

function newView() {
  const view = {
    problem: h('div', {}), verdict: h('h1', {id: 'verdict'}, 'Members'), advice: h('p', {}), facts: h('dl', {class: 'facts'}), picture: h('div', {}),
    rows: h('tbody', {}), alarms: h('section', {'aria-labelledby': 'alarms', hidden: true}), changes: h('ol', {class: 'changes', role: 'log', 'aria-labelledby': 'changes'}),
    rate: h('div', {class: 'rate'}), hour: h('div', {}), samples: [], byName: new Map(), sample: null, values: new Map(),
  };
  for (const name of ['Leader', 'Term', 'Last log index', 'Log entries']) {
    const value = h('dd', {}, unknown);
    view.values.set(name, value);
    view.facts.append(h('div', {}, h('dt', {}, name), value));
  }
  view.hourPanel = h('section', {class: 'panel', 'aria-labelledby': 'hour', hidden: true}, h('h2', {id: 'hour'}, 'The last hour of this node'), view.hour);
  view.banner = h('div', {class: 'verdict'}, h('div', {}, view.verdict, view.advice), view.facts);
  view.root = h('div', {class: 'cluster'}, view.problem, view.banner, view.alarms,
    h('div', {class: 'columns'},
      h('section', {class: 'panel', 'aria-labelledby': 'picture'}, h('h2', {id: 'picture'}, 'Nodes'), view.picture),
      h('div', {class: 'stack'},
        h('section', {class: 'panel', 'aria-labelledby': 'rate'}, h('h2', {id: 'rate'}, 'Log entries per second, last five minutes'), view.rate),
        h('section', {class: 'panel grow', 'aria-labelledby': 'changes'}, h('h2', {id: 'changes'}, 'Changes since this page was opened'), view.changes))),
    view.hourPanel,
    h('section', {class: 'panel flush', 'aria-labelledby': 'members'}, h('h2', {id: 'members'}, 'Members'),
      h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': 'members'},
        h('table', {class: 'members', 'aria-labelledby': 'members'},
          h('thead', {}, h('tr', {}, columns.map(([name, , number]) => h('th', {scope: 'col', class: number && 'number'}, name)))), view.rows))));
  addChange(view, 'page opened');
  return view;
}

function render(view, members, before) {
  const quorum = quorumOf(members);
  const verdict = verdictOf(quorum);
  view.banner.className = `verdict ${verdict.level}`;
  setText(view.verdict, verdict.line);
  setText(view.advice, verdict.advice);
  setText(view.values.get('Leader'), quorum.leader || unknown);
  setText(view.values.get('Term'), count(termOf(members) || null));
  const last = Math.max(...members.map((member) => member.lastIndex ?? 0));
  setText(view.values.get('Last log index'), count(last || null));
  renderRate(view, last);
  replaceIfChanged(view.picture, topology(members));
  renderRows(view, members);
  renderAlarms(view, members);
  if (!before) return;
  const changes = changesOf(before, members);
  for (const line of changes) addChange(view, line);
  if (changes.length) announce(`${verdict.line}. ${changes.join('. ')}`);
}

// replaceIfChanged leaves an equal element in place, so that the browser neither paints nor reads it
// again.
function replaceIfChanged(parent, child) {
  if (parent.firstElementChild?.isEqualNode(child)) return;
  parent.replaceChildren(child);
}

function renderRows(view, members) {
  for (const [name, row] of view.byName) {
    if (members.some((member) => member.name === name)) continue;
    row.remove();
    view.byName.delete(name);
  }
  members.forEach((member, i) => {
    let row = view.byName.get(member.name);
    if (!row) {
      row = h('tr', {}, columns.map(([name, , number]) => (name === 'Name' ? h('th', {scope: 'row'}) : h('td', {class: number && 'number'}))));
      view.byName.set(member.name, row);
    }
    if (view.rows.children[i] !== row) view.rows.insertBefore(row, view.rows.children[i] ?? null);
    row.className = `${member.role} ${member.alive === true ? 'up' : 'down'}`;
    columns.forEach(([name, text], column) => {
      if (name === 'API' && member.apiAddr) consoleLink(row.children[column], member.apiAddr);
      else setText(row.children[column], text(member));
    });
  });
}

// consoleLink shows an address as a link to that node's console.
function consoleLink(cell, address) {
  if (cell.textContent === address) return;
  const here = address === location.host;
  cell.replaceChildren(here ? address : h('a', {href: `https://${address}/console/`, rel: 'noreferrer'}, address));
}

// adviceOf returns what to do about an alarm, as the API says it, so that all interfaces agree.
function adviceOf(alarm) {
  const text = alarm.advice ?? '';
  return text && `. ${text[0].toUpperCase()}${text.slice(1)}.`;
}

function renderAlarms(view, members) {
  const items = members.flatMap((member) => member.alarms.map((alarm) => h('li', {}, h('strong', {}, member.name, ': ', alarm.name), ' ', alarm.message, adviceOf(alarm))));
  view.alarms.hidden = items.length === 0;
  const list = h('div', {class: 'notice bad'}, h('h2', {id: 'alarms'}, 'Alarms'), h('ul', {}, items));
  replaceIfChanged(view.alarms, list);
}

// renderRate adds a sample of the last index of the log and draws the differences.
function renderRate(view, last) {
  const now = performance.now();
  if (view.sample && last > 0 && last >= view.sample.last) {
    view.samples.push((last - view.sample.last) / ((now - view.sample.now) / 1000));
    if (view.samples.length > maxSamples) view.samples.shift();
  }
  if (last > 0) view.sample = {last, now};
  const latest = view.samples.at(-1);
  setText(view.values.get('Log entries'), latest === undefined ? unknown : `${latest.toFixed(latest < 10 ? 1 : 0)}/s`);
  view.rate.replaceChildren(sparkline(view.samples));
}

function sparkline(samples) {
  const width = 600;
  const height = 72;
  const top = Math.max(10, ...samples);
  const x = (i) => width - (samples.length - 1 - i) * (width / (maxSamples - 1));
  const y = (value) => height - 2 - value / top * (height - 16);
  const points = samples.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`);
  const most = Math.max(0, ...samples);
  return svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'spark', role: 'img', preserveAspectRatio: 'none',
    'aria-label': `at most ${most.toFixed(0)} log entries per second`},
  svg('line', {class: 'axis', x1: 0, x2: width, y1: height - 1, y2: height - 1}),
  points.length > 1 && svg('polygon', {points: `${x(0)},${height} ${points.join(' ')} ${width},${height}`}),
  points.length > 1 && svg('polyline', {points: points.join(' ')}));
}

function addChange(view, line) {
  view.changes.prepend(h('li', {}, h('time', {}, new Date().toLocaleTimeString('en-GB')), ' ', line));
  while (view.changes.children.length > maxChanges) view.changes.lastElementChild.remove();
}

// showProblem says why there is no news. What was shown last stays, marked as old.
function showProblem(view, error, before) {
  const notice = problem(error);
  const others = (before ?? []).filter((member) => member.apiAddr && member.apiAddr !== location.host);
  if (!error.code && others.length) {
    notice.append(' What is shown is of before. Other nodes: ',
      ...others.flatMap((member) => [h('a', {href: `https://${member.apiAddr}/console/`, rel: 'noreferrer'}, member.name), ' ']));
  }
  view.banner.className = 'verdict unknown';
  if (!view.problem.firstElementChild) addChange(view, error.message);
  replaceIfChanged(view.problem, notice);
}
