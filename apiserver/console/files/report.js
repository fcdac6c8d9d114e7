// Reads a report of quorate-chaos or of make bench, and builds what it shows.
//
// The policy of the page lets no browser parse HTML here: DOMParser takes Trusted Types only, and
// there are none. So this module reads the plain HTML that reports consist of, and creates the
// elements, attributes and classes listed below, and nothing else. A file can make it show text,
// tables and drawings; scripts, styles, links, images and forms are never created.

import {h, svg} from './dom.js';

// maxReportBytes bounds the file, and maxReportNodes the elements and texts that are created of it. A
// report has some 1,500 for each phase.
export const maxReportBytes = 32 << 20;
const maxReportNodes = 400_000;
const maxDepth = 40; // of elements in each other

const number = /^-?\d+(\.\d+)?$/;
const anyText = /^/;
const position = {x: number, y: number, dx: number, dy: number};

// elements are those of HTML that a report has, with their attributes and what these may be.
const elements = {
  ...Object.fromEntries(['h1', 'h2', 'h3', 'p', 'span', 'b', 'br', 'code', 'section', 'summary', 'ul', 'li', 'thead', 'tbody', 'tr', 'th', 'td']
    .map((name) => [name, {}])),
  details: {open: /^$/},
  table: {'aria-label': anyText},
  div: {tabindex: /^0$/, role: /^group$/, 'aria-label': anyText},
};

// shapes are the elements of SVG.
const shapes = {
  svg: {viewBox: /^[\d. ]+$/, role: /^img$/, 'aria-label': anyText},
  text: {...position, 'text-anchor': /^(start|middle|end)$/},
  line: {x1: number, x2: number, y1: number, y2: number},
  rect: {...position, width: number, height: number, rx: number},
  path: {d: /^[MLh\d. -]*$/},
  title: {},
};

const classes = new Set(['axis', 'bad', 'badge', 'bars', 'cards', 'curve', 'figures', 'first', 'good', 'hover', 'key', 'large', 'n', 'name', 'panel',
  'quiet', 'rule', 'second', 'soft', 'target', 'title', 'warn', 'wide']);

const empty = new Set(['br', 'img', 'input', 'link', 'meta', 'base', 'hr', 'embed', 'source']); // they have no end
const hidden = new Set(['script', 'style', 'iframe', 'textarea', 'noscript', 'template', 'object']); // what is in them is no text to show

// readReport returns the element of a report and remarks about what it lacks. It throws if the text
// is no report.
export function readReport(text) {
  const builder = new Builder();
  for (const token of tokens(text)) {
    if (builder.add(token)) break;
  }
  return builder.result();
}

class Builder {
  open = []; // elements without an end as yet, the outermost first, with their names in the file
  left = 0; // elements that were left out
  drawings = []; // titles of frames with a script of their own
  created = 0; // elements and texts
  ended = false;

  // add takes the next token and returns whether the report has ended.
  add(token) {
    if (!this.root) this.begin(token);
    else if (token.text !== undefined) this.append(token.text);
    else if (token.end) this.close(token.name);
    else this.create(token);
    return this.ended;
  }

  begin({name, attributes}) {
    if (name !== 'main' || attributes?.class !== 'report') return;
    this.root = h('div', {class: 'report'});
    this.open.push({name, element: this.root});
  }

  close(name) {
    const at = this.open.findLastIndex((o) => o.name === name);
    if (at >= 0) this.open.length = at;
    this.ended = at === 0;
  }

  create({name, attributes, closed}) {
    if (name === 'iframe') this.drawings.push(attributes.title ?? '');
    const within = this.open.at(-1).element;
    const drawn = name === 'svg' || within instanceof SVGElement;
    const known = drawn ? shapes : elements;
    if (!Object.hasOwn(known, name)) {
      if (name !== 'iframe') this.left++;
      return;
    }
    if (this.open.length > maxDepth) throw new Error(`The file has more than ${maxDepth} elements in each other, which no report has.`);
    const element = (drawn ? svg : h)(name, permitted(attributes, known[name]));
    this.append(element);
    if (!closed && !empty.has(name)) this.open.push({name, element});
  }

  append(node) {
    if (++this.created > maxReportNodes) throw new Error(`The file has more than ${maxReportNodes.toLocaleString('en')} elements and texts, which no report has.`);
    this.open.at(-1).element.append(node);
  }

  result() {
    if (!this.root) throw new Error('The file is no report of quorate-chaos or of make bench.');
    const remarks = [];
    if (!this.ended) remarks.push('The file ends before its report does.');
    if (this.left > 0) remarks.push(`${this.left.toLocaleString('en')} elements that no report has were left out.`);
    if (this.drawings.length > 0) remarks.push(`Left out, since they contain scripts: ${this.drawings.join('; ')}. Open the file by itself to see them.`);
    return {element: this.root, remarks};
  }
}

// permitted returns the attributes that an element may have, and of its classes those of reports.
function permitted(attributes, known) {
  const kept = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'class') kept.class = value.split(' ').filter((one) => classes.has(one)).join(' ');
    else if (Object.hasOwn(known, name) && known[name].test(value)) kept[name] = value;
  }
  return kept;
}

const tagName = /<\/?([a-zA-Z][a-zA-Z0-9]*)/y;
const attribute = /\s+([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?/y;
const tagEnd = /\s*(\/?)>/y;

// tokens yields the tags and the texts of a file. Its time is linear in the length of the file.
function* tokens(text) {
  for (let at = 0; at < text.length;) {
    const begin = text.indexOf('<', at);
    if (begin !== at) yield {text: decoded(text.slice(at, begin < 0 ? text.length : begin))};
    if (begin < 0) return;
    if (text.startsWith('<!', begin)) { // a comment, or the type of the document
      at = behind(text, text.startsWith('<!--', begin) ? '-->' : '>', begin + 2);
      continue;
    }
    const tag = tagAt(text, begin);
    yield tag;
    at = tag.next;
    if (hidden.has(tag.name) && !tag.end && !tag.closed) at = endOf(text, tag.name, at);
  }
}

// tagAt returns the tag at a position, or the text "<" if there is none.
function tagAt(text, begin) {
  const name = matched(tagName, text, begin);
  if (!name) return {text: '<', next: begin + 1};
  let next = tagName.lastIndex;
  const attributes = {};
  for (let found; (found = matched(attribute, text, next)); next = attribute.lastIndex) {
    attributes[found[1]] = decoded(found[2] ?? found[3] ?? found[4] ?? '');
  }
  const end = matched(tagEnd, text, next);
  if (!end) return {text: '<', next: begin + 1};
  return {name: name[1], end: text[begin + 1] === '/', attributes, closed: end[1] !== '', next: tagEnd.lastIndex};
}

function matched(expression, text, at) {
  expression.lastIndex = at;
  return expression.exec(text);
}

// behind returns the position behind the next mark, the end of the text if there is none.
function behind(text, mark, from) {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at + mark.length;
}

// endOf returns the position of the end tag of an element whose content is not read.
function endOf(text, name, from) {
  const end = new RegExp(`</${name}`, 'gi');
  end.lastIndex = from;
  return end.exec(text)?.index ?? text.length;
}

const named = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"};

// decoded replaces the character references that html/template writes.
function decoded(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g, (_, decimal, hex, name) => {
    if (name) return named[name];
    const code = decimal ? Number(decimal) : parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}
