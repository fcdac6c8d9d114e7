// The page where a user signs in: with a token, or with the certificate of the browser.

import {post, setSession} from './api.js';
import {h, problem} from './dom.js';

// whoAmI returns the name and groups by which the API knows the user.
export async function whoAmI(signal) {
  const review = await post('/apis/authentication.k8s.io/v1/selfsubjectreviews',
    {kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1'}, {signal, repeatable: true});
  return review.status.userInfo;
}

// openSignIn shows the form. entered is called with the user once the API has accepted the
// credentials; reason, if any, says why the user has to sign in again.
export function openSignIn(main, {reason, entered, signal}) {
  const result = h('div', {});
  const token = h('input', {id: 'token', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true});
  const enter = async (session) => {
    result.replaceChildren();
    setSession(session);
    try {
      entered(await whoAmI(signal));
    } catch (error) {
      setSession(null);
      if (signal.aborted) return;
      result.replaceChildren(problem(error));
      token.focus();
    }
  };
  const form = h('form', {
    class: 'panel sign-in', 'aria-labelledby': 'sign-in',
    onsubmit: (event) => {
      event.preventDefault();
      enter({token: token.value.trim()});
    },
  },
  h('h1', {id: 'sign-in'}, 'Sign in to ', location.host),
  reason && problem(reason),
  h('label', {for: 'token'}, 'Bearer token'), token,
  h('div', {class: 'actions'},
    h('button', {type: 'submit', class: 'primary'}, 'Sign in'),
    h('button', {type: 'button', onclick: () => enter({certificate: true})}, 'Use the browser’s certificate')),
  result,
  h('p', {class: 'quiet'}, 'An administrator’s token is in the file ', h('code', {}, 'admin.token'), ' of the data directory. ',
    h('code', {}, 'quorate token create --user U --group G'), ' makes one for a user.'),
  h('p', {class: 'quiet'}, 'This tab keeps the token until you sign out or close it. The console shows what the API allows this user, and nothing else.'));
  main.replaceChildren(form);
  token.focus();
}
