// Objects as text, in the formats that the API reads and writes.

import {h} from './dom.js';

// formats are the formats by name: their media type, and where the resource version and the uid are.
export const formats = {
  YAML: {type: 'application/yaml', version: /^( {2}resourceVersion: ")([^"]*)(")$/m, uid: /^ {2}uid: "?([0-9a-f-]+)"?$/m, key: /^(\s*(?:- )*)([^\s"'#:][^:]*|"[^"]*")(:)(?=\s|$)/},
  JSON: {type: 'application/json', version: /^( {4}"resourceVersion": ")([^"]*)(")/m, uid: /^ {4}"uid": "([^"]*)"/m, key: /^(\s*)("(?:[^"\\]|\\.)*")(:)/},
};
for (const format of Object.values(formats)) {
  format.versionOf = (text) => text.match(format.version)?.[2] ?? '';
  format.uidOf = (text) => text.match(format.uid)?.[1];
}

// withVersion returns a text with another resource version.
export function withVersion(text, format, version) {
  return text.replace(formats[format].version, `$1${version}$3`);
}

// ownText returns a text without metadata.managedFields, which the API keeps when an update leaves
// them out.
export function ownText(full, format) {
  if (format === 'YAML') return full.replace(/^ {2}managedFields:\n(?: {2}-.*\n| {4}.*\n)*/m, '');
  const object = JSON.parse(full);
  delete object.metadata?.managedFields;
  return `${JSON.stringify(object, null, 2)}\n`;
}

// codeView returns an element that shows a text with its keys set apart.
export function codeView(text, format) {
  const lines = text.trimEnd().split('\n').map((line) => {
    const found = line.match(formats[format].key);
    if (!found) return h('span', {class: 'line'}, `${line}\n`);
    return h('span', {class: 'line'}, found[1], h('span', {class: 'key'}, found[2]), `${line.slice(found[1].length + found[2].length)}\n`);
  });
  return h('pre', {class: 'code', tabindex: '0', role: 'region', 'aria-label': `${format} of the object`}, lines);
}
