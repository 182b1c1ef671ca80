/**
 * The turns of a conversation, kept with the address of its last answer in the history of the tab.
 * @typedef {{id: string, question: string, answer: string}} Turn
 */

/** Questions before a follow-up that the service is told. */
const MAX_TURNS = 5;

/** Return what a follow-up is asked with. @param {Turn[]} turns */
export function historyOf(turns) {
  return turns.slice(-MAX_TURNS).map(({ question, answer }) => ({ question, answer }));
}

/** Return the turns before a question: one that is asked again is no follow-up of itself. @param {string} question @param {string} shown the id of the answer that is shown @param {Turn[]} turns */
export function turnsBefore(question, shown, turns) {
  const last = turns[turns.length - 1];
  return last && last.id === shown && last.question === question ? turns.slice(0, -1) : turns;
}

/** Keep turns with the address that is shown, if it is that of the last one. @param {string} id @param {Turn[]} turns */
export function keepTurns(id, turns) {
  if (turns.length && turns[turns.length - 1].id === id) history.replaceState({ turns }, "");
}

/** Return the turns up to an answer, of those kept with the address or of others; null without it. @param {string} id @param {Turn[]} others */
export function turnsUntil(id, others) {
  for (const turns of [history.state?.turns ?? [], others]) {
    const at = turns.findIndex((/** @type {Turn} */ each) => each.id === id);
    if (at >= 0) return turns.slice(0, at + 1);
  }
  return null;
}
