// Requests to the API of this node, as the user who signed in.

import {wait} from './dom.js';

const sessionKey = 'quorate-session';
const requestTime = 20_000; // milliseconds for a request that is not a watch
const repeatAfter = 250; // milliseconds until a read is repeated
const maxLine = 32 << 20; // bytes of one event of a watch

const tableOf = 'application/json;as=Table;v=v1;g=meta.k8s.io';

// Refusal is a response that is not a success, with the Status that the API sent.
export class Refusal extends Error {
  constructor(status, code) {
    super(status?.message || `the server responded with status ${code}`);
    this.status = status;
    this.code = code;
  }
}

// Unreachable means that the node did not respond.
export class Unreachable extends Error {
  constructor(cause) {
    super('This node does not respond.', {cause});
  }
}

// session returns how the user signed in: {token} or {certificate: true}, null if he did not.
export function session() {
  return JSON.parse(sessionStorage.getItem(sessionKey) ?? 'null');
}

export function setSession(value) {
  if (value) sessionStorage.setItem(sessionKey, JSON.stringify(value));
  else sessionStorage.removeItem(sessionKey);
}

async function send(path, {method = 'GET', accept = 'application/json', type, body, signal, query, repeatable = method === 'GET'} = {}) {
  const url = new URL(path, location.origin);
  url.searchParams.set('pretty', 'false');
  for (const [name, value] of Object.entries(query ?? {})) if (value) url.searchParams.set(name, value);
  const headers = {Accept: accept};
  if (type) headers['Content-Type'] = type;
  const {token} = session() ?? {};
  if (token) headers.Authorization = `Bearer ${token}`;
  const options = {method, headers, body, signal, cache: 'no-store', credentials: 'same-origin', redirect: 'error'};
  const response = await (repeatable ? fetchTwice(url, options) : fetchOnce(url, options));
  if (response.ok) return response;
  const refusal = await refusalOf(response);
  if (response.status === 401) document.dispatchEvent(new CustomEvent('unauthenticated', {detail: refusal}));
  throw refusal;
}

async function fetchOnce(url, options) {
  try {
    return await fetch(url, options);
  } catch (cause) {
    throw new Unreachable(cause);
  }
}

// fetchTwice repeats a read whose connection broke: a browser breaks all of them when an interface of
// the machine changes.
async function fetchTwice(url, options) {
  try {
    return await fetchOnce(url, options);
  } catch (error) {
    await wait(repeatAfter, options.signal);
    if (options.signal?.aborted) throw error;
    return fetchOnce(url, options);
  }
}

async function refusalOf(response) {
  const text = await response.text();
  try {
    return new Refusal(JSON.parse(text), response.status);
  } catch {
    // A Status in YAML, or the answer of something between the browser and the node.
    return new Refusal({message: text.match(/^message: (.*)$/m)?.[1] ?? text.split('\n', 1)[0]}, response.status);
  }
}

// limited returns a signal that aborts when another does or the time for a request has passed.
function limited({signal, time = requestTime}) {
  const timeout = AbortSignal.timeout(time);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

// json returns the response to a request as JSON.
export async function json(path, options = {}) {
  const response = await send(path, {...options, signal: limited(options)});
  return response.json();
}

// text returns the response to a request as it was sent.
export async function text(path, options = {}) {
  const response = await send(path, {...options, signal: limited(options)});
  return response.text();
}

// download returns the body of a response as a Blob, and calls received with the bytes so far. It
// throws Unreachable if the connection breaks before the end. The time of a download has no bound.
export async function download(path, {received, ...options}) {
  const response = await send(path, {...options, accept: '*/*'});
  const reader = response.body.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (cause) {
      throw new Unreachable(cause);
    }
    if (part.done) break;
    parts.push(part.value);
    size += part.value.length;
    received(size);
  }
  return new Blob(parts, {type: 'application/octet-stream'});
}

// post sends an object as JSON and returns the response.
export function post(path, object, options = {}) {
  return json(path, {...options, method: 'POST', type: 'application/json', body: JSON.stringify(object)});
}

// table returns one page of a list as a Table.
export function table(path, query, signal) {
  return json(path, {accept: tableOf, query, signal});
}

// watch yields the events of a watch of Tables, bookmarks included. It returns when the server ends
// the stream, and throws a Refusal for an event of the type ERROR.
export function watch(path, query, signal) {
  return events(path, {accept: tableOf, query: {...query, allowWatchBookmarks: 'true'}, signal});
}

// objects is watch for whole objects, without bookmarks.
export function objects(path, query, signal) {
  return events(path, {query, signal});
}

async function* events(path, options) {
  const response = await send(path, {...options, query: {...options.query, watch: 'true'}});
  for await (const line of lines(response.body)) {
    const event = JSON.parse(line);
    if (event.type === 'ERROR') throw new Refusal(event.object, event.object.code);
    yield event;
  }
}

async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      let part;
      try {
        part = await reader.read();
      } catch (cause) {
        throw new Unreachable(cause); // the connection broke
      }
      if (part.done) return;
      const parts = (rest + part.value).split('\n');
      rest = parts.pop();
      if (rest.length > maxLine) throw new Error(`an event is longer than ${maxLine} bytes`);
      yield* parts.filter((line) => line !== '');
    }
  } finally {
    await reader.cancel().catch(() => {}); // a stream that broke has nothing to cancel
  }
}
