// Signs the user in and shows the page that the fragment of the URL names.

import {session, setSession, Unreachable} from './api.js';
import {openAccess} from './access.js';
import {openCluster} from './cluster.js';
import {announce, problem, wait} from './dom.js';
import {openLog} from './log.js';
import {openObject} from './object.js';
import {openObjects} from './objects.js';
import {openOperations} from './operations.js';
import {openSignIn, whoAmI} from './signin.js';

// pages are the functions that show a page, by the first segment of the fragment. Each fills main
// and runs until its signal aborts.
const pages = {
  cluster: {title: 'Cluster', open: openCluster},
  log: {title: 'Log', open: openLog},
  objects: {title: 'Objects', open: openObjects},
  object: {title: 'Object', open: openObject, within: 'objects'},
  access: {title: 'Access', open: openAccess},
  operations: {title: 'Operations', open: openOperations},
};

const retryAfter = 2_000; // milliseconds

const main = document.getElementById('main');
const navigation = document.getElementById('pages');
const signOut = document.getElementById('sign-out');
const userName = document.getElementById('user');

let current = new AbortController();
let user = null; // as the API knows him; null until he has signed in

function turn() {
  current.abort();
  current = new AbortController();
  return current.signal;
}

function showUser() {
  navigation.hidden = signOut.hidden = !user;
  userName.textContent = user?.username ?? '';
  userName.title = user ? `groups: ${(user.groups ?? []).join(', ')}` : '';
}

function signIn(reason) {
  setSession(null);
  user = null;
  showUser();
  announce('');
  document.title = 'Sign in · Quorate';
  openSignIn(main, {
    reason, signal: turn(),
    entered: (who) => {
      user = who;
      show();
    },
  });
}

function show() {
  const signal = turn();
  showUser();
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const segments = path.split('/').map(decoded);
  const page = pages[segments[0]] ?? pages.cluster;
  for (const link of navigation.querySelectorAll('a')) {
    if (pages[link.hash.slice(2)] === page || page.within === link.hash.slice(2)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${page.title} · Quorate ${location.host}`;
  main.replaceChildren();
  page.open(main, {segments: segments.slice(1), query: new URLSearchParams(query), signal}).catch((error) => {
    if (!signal.aborted) main.replaceChildren(problem(error));
  });
}

// decoded decodes a segment of the fragment; what a user typed need not be encoded.
function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

// start signs in with what this tab has kept. A node that does not respond is asked again.
async function start() {
  if (!session()) return signIn();
  const signal = turn();
  while (!signal.aborted) {
    try {
      user = await whoAmI(signal);
      return show();
    } catch (error) {
      if (signal.aborted) return;
      main.replaceChildren(problem(error));
      if (!(error instanceof Unreachable) && error.code !== 503) return signIn(error);
    }
    await wait(retryAfter, signal);
  }
}

signOut.addEventListener('click', () => signIn());
document.addEventListener('unauthenticated', (event) => {
  if (user) signIn(event.detail);
});
addEventListener('hashchange', () => {
  if (!user) return;
  show();
  main.focus(); // so that a keyboard or screen reader goes on in the new page
});
document.getElementById('skip').addEventListener('click', () => main.focus());

const theme = document.getElementById('theme');
theme.value = document.documentElement.dataset.theme;
theme.addEventListener('change', () => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem('quorate-theme', theme.value);
});

start();
