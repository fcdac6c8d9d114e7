// The part of the page of operations that shows a report from the user's disk.

import {announce, h, problem} from './dom.js';
import {bytes} from './members.js';
import {maxReportBytes, readReport} from './report.js';

// reportViewer returns the elements: a panel with the choice of a file, and the place of the report.
export function reportViewer() {
  const shown = h('div', {});
  const refusal = h('div', {});
  const input = h('input', {
    type: 'file', id: 'report', accept: '.html', 'aria-labelledby': 'report-title', 'aria-describedby': 'report-text',
    onclick: () => { input.value = ''; }, // so that the same file can be chosen again after it has changed
    onchange: () => input.files.length > 0 && show(input.files[0]),
  });

  async function show(file) {
    const close = () => {
      shown.replaceChildren();
      input.focus();
    };
    try {
      if (file.size > maxReportBytes) throw new Error(`${file.name} has ${bytes(file.size)}, and a report at most ${bytes(maxReportBytes)}.`);
      const {element, remarks} = readReport(await file.text());
      const section = h('section', {class: 'report-frame', tabindex: '-1', 'aria-label': `Report ${file.name}`},
        h('div', {class: 'actions'}, h('p', {class: 'quiet'}, 'From your disk: ', h('code', {}, file.name)), h('span', {class: 'fill'}),
          h('button', {type: 'button', id: 'report-close', onclick: close}, 'Close the report')),
        remarks.map((remark) => h('p', {class: 'notice warn'}, remark)), element);
      refusal.replaceChildren();
      shown.replaceChildren(section);
      section.focus(); // which scrolls it into view, and where a screen reader goes on
      announce(`Report ${file.name} shown`);
    } catch (error) {
      shown.replaceChildren();
      refusal.replaceChildren(problem(error));
    }
  }

  return [h('section', {class: 'panel operation', 'aria-labelledby': 'report-title'},
    h('div', {}, h('h2', {id: 'report-title'}, 'View a report'),
      h('p', {id: 'report-text'}, 'A file of ', h('code', {}, 'quorate-chaos --report'), ' or of ', h('code', {}, 'make bench'),
        '. It is read in this browser and sent nowhere.')),
    h('div', {class: 'actions'}, input), refusal), shown];
}
