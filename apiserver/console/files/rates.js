// The last hour of the node of the page: rates, latencies and changes of the term, as plots.

import {h, svg} from './dom.js';

const width = 600;
const height = 96;
const top = 8; // pixels above the largest value
const hour = 3_600_000; // milliseconds
const shortest = 300_000; // milliseconds that a plot shows at least
const gap = 2.5; // intervals after which a line is broken: the node was down

// plots are those of the page: title, unit, and a line for each series.
const plots = [
  {id: 'requests', title: 'Requests per second', text: (v) => `${v.toFixed(v < 10 ? 1 : 0)}/s`, least: 1,
    lines: [['reads', (s) => s.reads], ['writes', (s) => s.writes], ['errors', (s) => s.errors]]},
  {id: 'latency', title: 'Latency, 99th percentile', text: (v) => `${v < 10 ? v.toFixed(1) : v.toFixed(0)} ms`, least: 1,
    lines: [['reads', (s) => milliseconds(s.readP99Seconds)], ['writes', (s) => milliseconds(s.writeP99Seconds)]]},
];

function milliseconds(seconds) {
  return seconds === null ? null : seconds * 1000;
}

// hourView returns an element that shows the rates of a node.
export function hourView({samples, intervalSeconds}) {
  const now = samples.length ? Date.parse(samples.at(-1).time) : Date.now();
  const range = Math.min(hour, Math.max(shortest, samples.length ? now - Date.parse(samples[0].time) : 0));
  const x = (sample) => width - (now - Date.parse(sample.time)) / range * width;
  const terms = samples.filter((sample, i) => i > 0 && sample.term !== samples[i - 1].term);
  return h('div', {class: 'plots'}, plots.map((plot) => figure(plot, samples, {x, terms, interval: intervalSeconds * 1000})), termsText(terms, now - range, now));
}

function figure(plot, samples, {x, terms, interval}) {
  const values = plot.lines.map(([, value]) => samples.map(value));
  const most = Math.max(plot.least, ...values.flat().filter((value) => value !== null));
  const y = (value) => height - 1 - value / most * (height - top);
  const legend = plot.lines.map(([name], i) => {
    const latest = values[i].at(-1) ?? null;
    const peak = Math.max(...values[i].filter((value) => value !== null));
    return h('span', {class: `legend ${name}`}, `${name} ${latest === null ? '–' : plot.text(latest)}`,
      Number.isFinite(peak) && h('span', {class: 'quiet'}, `, at most ${plot.text(peak)}`));
  });
  return h('figure', {'aria-labelledby': `plot-${plot.id}`},
    h('figcaption', {}, h('span', {id: `plot-${plot.id}`}, plot.title), ' ', legend),
    svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'plot', role: 'img', preserveAspectRatio: 'none',
      'aria-label': `${plot.title} in the last hour: ${legend.map((entry) => entry.textContent).join('; ')}`},
    svg('line', {class: 'axis', x1: 0, x2: width, y1: height - 1, y2: height - 1}),
    terms.map((sample) => svg('line', {class: 'term', x1: x(sample), x2: x(sample), y1: 0, y2: height})),
    plot.lines.map(([name], i) => svg('path', {class: name, d: path(samples, values[i], x, y, interval)}))));
}

// path returns a line through the known values, broken where samples are missing.
function path(samples, values, x, y, interval) {
  let d = '';
  let before = null;
  samples.forEach((sample, i) => {
    if (values[i] === null) return;
    const at = Date.parse(sample.time);
    const broken = before === null || at - before > gap * interval;
    d += `${broken ? 'M' : 'L'}${x(sample).toFixed(1)} ${y(values[i]).toFixed(1)}${broken ? 'h0' : ''}`; // h0 makes a dot of a single sample
    before = at;
  });
  return d;
}

function termsText(terms, from, to) {
  const [begin, end] = [from, to].map((time) => new Date(time).toLocaleTimeString('en-GB'));
  if (terms.length === 0) return h('p', {class: 'quiet'}, `From ${begin} to ${end}. The term did not change in this time.`);
  const line = (sample) => h('li', {}, h('time', {}, new Date(sample.time).toLocaleTimeString('en-GB')), ' ',
    `term ${sample.term}, ${sample.leader ? `led by ${sample.leader}` : 'without a leader'}`);
  return h('ol', {class: 'changes', 'aria-label': `Changes of the term from ${begin} to ${end}`}, terms.toReversed().map(line));
}
