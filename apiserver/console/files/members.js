// What the responses of members mean.

// quorumOf counts the voters, as `quorate members` does.
export function quorumOf(members) {
  const voters = members.filter((member) => member.role !== 'nonvoter');
  const alive = voters.filter((member) => member.alive === true);
  const tolerates = alive.length - (Math.floor(voters.length / 2) + 1);
  const leader = alive.find((member) => member.role === 'leader')?.name ?? '';
  return {voters: voters.length, alive: alive.length, tolerates, leader, silent: voters.filter((member) => member.alive !== true)};
}

// verdictOf returns the state of a cluster in a line, its severity (good, warn, bad), and what to do.
export function verdictOf(quorum) {
  const count = `${quorum.alive} of ${quorum.voters} voters`;
  const silent = quorum.silent.map((member) => member.name).join(', ');
  if (quorum.tolerates < 0) {
    return {level: 'bad', line: `${count}, no quorum`, advice: `Writes and quorum reads fail; cached reads and watches go on. Start ${silent}. ` +
      'If a majority is lost for good, see quorate recover --help.'};
  }
  const line = `${count}, tolerates ${quorum.tolerates} ${quorum.tolerates === 1 ? 'failure' : 'failures'}`;
  if (quorum.leader === '') {
    return {level: 'bad', line: `${line}, no leader`, advice: 'The voters that respond should elect a leader within seconds.'};
  }
  if (silent) {
    return {level: 'warn', line, advice: `${silent} does not respond. Start what is down; if it is lost for good, run quorate remove ${quorum.silent[0].name} and add a node.`};
  }
  return {level: 'good', line, advice: ''};
}

// changesOf returns a line for each difference between two responses.
export function changesOf(before, after) {
  const lines = [];
  const leaders = [before, after].map((members) => quorumOf(members).leader);
  const terms = [before, after].map(termOf);
  if (leaders[0] !== leaders[1]) {
    lines.push(leaders[1] ? `${leaders[1]} is the leader, in term ${terms[1]}` : `${leaders[0]} is the leader no more`);
  } else if (terms[0] < terms[1]) {
    lines.push(`term ${terms[0]} ended; ${leaders[1] || 'nobody'} leads in term ${terms[1]}`);
  }
  const known = new Map(before.map((member) => [member.name, member]));
  for (const member of after) {
    const old = known.get(member.name);
    known.delete(member.name);
    if (!old) {
      lines.push(`${member.name} joined as ${nounOf(member.role)}`);
      continue;
    }
    if ((old.alive === true) !== (member.alive === true)) lines.push(`${member.name} ${member.alive ? 'responds again' : 'does not respond'}`);
    if ((old.role === 'nonvoter') !== (member.role === 'nonvoter')) lines.push(`${member.name} became ${nounOf(member.role)}`);
    const raised = new Set(old.alarms.map((alarm) => alarm.name));
    for (const alarm of member.alarms) if (!raised.delete(alarm.name)) lines.push(`alarm ${alarm.name} of ${member.name} raised`);
    for (const name of raised) lines.push(`alarm ${name} of ${member.name} cleared`);
  }
  for (const name of known.keys()) lines.push(`${name} is a member no more`);
  return lines;
}

// termOf returns the latest term that a member reported, 0 if none did.
export function termOf(members) {
  return Math.max(0, ...members.map((member) => member.term ?? 0));
}

function nounOf(role) {
  return role === 'nonvoter' ? 'a non-voter' : 'a voter';
}

// The texts of values; a dash is one that is unknown.
export const unknown = '–';

export function count(value) {
  return value === null || value === undefined ? unknown : value.toLocaleString('en');
}

export function contact(seconds) {
  if (seconds === null || seconds === undefined) return unknown;
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

export function bytes(value) {
  if (value === null || value === undefined) return unknown;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`;
}

export function stateOf(member) {
  if (member.alive === true) return 'responds';
  return member.alive === false ? 'down' : 'does not respond';
}
