// The download of a backup, which the browser keeps until it is whole, and then saves as a file.

import {download} from './api.js';
import {setText} from './dom.js';
import {bytes} from './members.js';

// downloadBackup fetches a backup, shows its progress in an element, and saves it. It returns the name
// and the size of the file.
export async function downloadBackup(progress, signal) {
  const file = await download('/cluster/v1/backup', {signal, received: (size) => setText(progress, `${bytes(size)} received…`)});
  const name = `quorate-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser has opened it by then
  return {name, size: file.size};
}
