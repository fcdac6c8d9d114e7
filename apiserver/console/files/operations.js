// The page of operations: what an operator does to the cluster, with a question before each change.

import {json} from './api.js';
import {downloadBackup} from './backup.js';
import {announce, h, problem} from './dom.js';
import {bytes} from './members.js';
import {reportViewer} from './reports.js';

const commandTime = 65_000; // milliseconds; the server limits a command to 60 s

// openOperations shows the page until the signal aborts.
export async function openOperations(main, {signal}) {
  const voters = h('select', {id: 'transfer-name'}, h('option', {value: ''}, 'the best candidate'));
  const members = h('select', {id: 'remove-name'}, h('option', {value: ''}, 'choose a member'));
  const call = (name, query) => json(`/cluster/v1/${name}`, {method: 'POST', query, signal, time: commandTime});
  main.replaceChildren(h('div', {class: 'cluster'}, h('h1', {}, 'Operations'),
    operation({
      id: 'checksum', title: 'Compare the states of all nodes', label: 'Compare',
      text: 'Each node computes a checksum of its objects at the same entry of the log.', run: () => call('checksum'), shown: checksums,
    }),
    operation({
      id: 'snapshot', title: 'Write a snapshot', label: 'Write',
      text: 'This node writes its state to disk and trims its log. Nodes do so by themselves; do it now before an upgrade, or when the disk is short of space.',
      run: () => call('snapshot'), shown: (answer) => `Snapshot ${answer.id} holds the state up to entry ${answer.index.toLocaleString('en')}.`,
    }),
    operation({
      id: 'transfer', title: 'Transfer leadership', label: 'Transfer', controls: h('label', {class: 'inline'}, 'to', voters),
      text: 'Another voter becomes the leader. Writes wait for some milliseconds.',
      question: () => `Transfer leadership to ${voters.value || 'the best candidate'}?`,
      run: () => call('transfer-leader', {name: voters.value}), shown: () => 'Leadership was transferred.',
    }),
    operation({
      id: 'remove', title: 'Remove a dead member', label: 'Remove', controls: h('label', {class: 'inline'}, 'Member', members), danger: true,
      text: 'The member loses its vote for good, and never joins again with its data. It must not run any more.',
      question: () => members.value && `Remove ${members.value} for good?`,
      run: () => call('remove', {name: members.value}), shown: () => `${members.value} was removed.`,
    }),
    operation({
      id: 'backup', title: 'Download a backup', label: 'Download',
      text: 'The whole state, from this node. The browser holds it in memory or in its temporary files until it is whole: ' +
        'take a backup of many gigabytes with quorate backup FILE, which also verifies it.',
      question: () => 'Download a backup? It contains all objects, and Secrets in clear text.',
      run: (progress) => downloadBackup(progress, signal),
      shown: ({name, size}) => `${name} has ${bytes(size)}. It holds no key: keep the cluster's key as well. quorate restore verifies the file.`,
    }),
    reportViewer()));
  try {
    const all = (await json('/cluster/v1/members', {signal})).members;
    voters.append(...all.filter((member) => member.role === 'voter').map((member) => h('option', {}, member.name)));
    members.append(...all.filter((member) => member.alive !== true).map((member) => h('option', {}, member.name)));
  } catch (error) {
    if (!signal.aborted) main.firstElementChild.prepend(problem(error));
  }
}

function operation({id, title, text, label, controls, danger, question, run, shown}) {
  const result = h('div', {'aria-live': 'polite'});
  const button = h('button', {type: 'button', id, class: danger && 'danger', 'aria-describedby': `${id}-text`, onclick: ask}, label);
  async function ask() {
    const asked = question?.();
    if (question && !asked) return;
    if (asked && !await confirmed(asked, label, danger)) return;
    button.disabled = true;
    const progress = h('p', {class: 'quiet'}, 'Waiting for the cluster…');
    result.replaceChildren(progress);
    try {
      const answer = shown(await run(progress));
      result.replaceChildren(h('div', {class: 'notice good'}, answer));
      announce(`${title}: done`);
    } catch (error) {
      result.replaceChildren(problem(error));
    }
    button.disabled = false;
  }
  return h('section', {class: 'panel operation', 'aria-labelledby': `${id}-title`},
    h('div', {}, h('h2', {id: `${id}-title`}, title), h('p', {id: `${id}-text`}, text)),
    h('div', {class: 'actions'}, controls, button), result);
}

// confirmed asks a question and returns whether the user agrees.
function confirmed(question, label, danger) {
  return new Promise((resolve) => {
    const dialog = h('dialog', {
      'aria-labelledby': 'question',
      onclose: () => {
        dialog.remove();
        resolve(dialog.returnValue === 'yes');
      },
    }, h('h1', {id: 'question'}, question), h('div', {class: 'actions'},
      h('button', {type: 'button', id: 'confirm', class: danger ? 'danger' : 'primary', onclick: () => dialog.close('yes')}, label),
      h('button', {type: 'button', autofocus: true, onclick: () => dialog.close('')}, 'Cancel')));
    document.body.append(dialog);
    dialog.showModal();
  });
}

function checksums(answer) {
  const verdict = answer.diverged?.length ? `Diverged: ${answer.diverged.join(', ')}.` : 'No node has diverged.';
  return h('div', {}, `${verdict} Compared at entry ${answer.index.toLocaleString('en')}:`,
    h('ul', {}, answer.nodes.map((node) => h('li', {}, h('strong', {}, node.name), ' ', h('code', {}, node.checksum ?? ''), node.problem))));
}
