// Builds elements. Text is always a text node: nothing here turns a string into markup.

const svgSpace = 'http://www.w3.org/2000/svg';

// h returns an element with attributes and children. An attribute whose name begins with "on" is an
// event listener; one that is true has no value, and one that is false, null or undefined is left out.
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

// svg is h for elements of SVG.
export function svg(tag, attributes, ...children) {
  return build(document.createElementNS(svgSpace, tag), attributes, children);
}

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// setText changes the text of an element if it differs, so that selections and focus survive.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// announce makes screen readers say a text.
export function announce(text) {
  setText(document.getElementById('announcer'), text);
}

// wait returns after some milliseconds, or at once when the signal aborts.
export function wait(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}

// problem returns an alert that says why a request was refused, in the words of the API's Status.
export function problem(error) {
  const causes = error.status?.details?.causes ?? [];
  const kind = error.code ? `${error.code} ${error.status?.reason ?? ''}`.trim() : '';
  return h('div', {class: 'notice bad', role: 'alert'},
    kind && h('strong', {}, kind), ' ', error.message,
    causes.length > 1 && h('ul', {}, causes.map((cause) => h('li', {}, cause.field && h('code', {}, cause.field), ' ', cause.message))));
}
