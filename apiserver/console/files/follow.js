// Follows a collection: lists it page by page as Tables, then watches it from the version of the list.

import {table, watch} from './api.js';
import {wait} from './dom.js';

const pageSize = 500; // objects of one request
const retryAfter = 1_500; // milliseconds
const resumeAfter = 200; // milliseconds after the server ended a watch

// follow reports the rows of a collection until the signal aborts. It throws what the API refuses
// for good. Reads are cached ones (resourceVersion=0), which a node without a quorum serves as well;
// the watch then brings every later change. on has the methods
//
//	columns(definitions)  before the first rows
//	rows(map, complete)   all rows by uid, at each page of the first list and after each later list
//	changed(type, row)    one change
//	state(text)           live, loading, or why the connection is lost
export async function follow({path, query, signal, on}) {
  let first = true;
  while (!signal.aborted) {
    let version;
    try {
      on.state('loading');
      version = await list(path, query, signal, on, first);
      first = false;
      await watchFrom(version, path, query, signal, on);
    } catch (error) {
      if (signal.aborted) return;
      if (error.code === 410) continue; // the continue token or the version has expired: list anew
      if (isFinal(error)) throw error;
      on.state(`retrying: ${error.message}`);
      await wait(retryAfter, signal);
    }
  }
}

// isFinal reports whether a request would be refused again.
function isFinal(error) {
  return error.code >= 400 && error.code < 500 && error.code !== 429;
}

async function list(path, query, signal, on, progressive) {
  const rows = new Map();
  let page = await table(path, {...query, limit: pageSize, resourceVersion: '0'}, signal);
  on.columns(page.columnDefinitions);
  for (;;) {
    for (const row of page.rows) rows.set(row.object.metadata.uid, row);
    const next = page.metadata.continue;
    if (progressive || !next) on.rows(rows, !next);
    if (!next) return page.metadata.resourceVersion;
    page = await table(path, {...query, limit: pageSize, continue: next}, signal);
  }
}

// watchFrom reports changes after a version until the version has expired.
async function watchFrom(version, path, query, signal, on) {
  while (!signal.aborted) {
    try {
      on.state('live');
      for await (const event of watch(path, {...query, resourceVersion: version}, signal)) {
        version = event.object.metadata.resourceVersion;
        for (const row of event.object.rows) on.changed(event.type, row);
      }
      await wait(resumeAfter, signal);
    } catch (error) {
      if (signal.aborted || error.code === 410 || isFinal(error)) throw error;
      on.state(`retrying: ${error.message}`);
      await wait(retryAfter, signal);
    }
  }
}
