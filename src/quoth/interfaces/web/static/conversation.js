/**
 * The turns of a conversation, kept with the addresses of its answers in the history of the tab.
 * @typedef {{start: number, end: number, citations: number[], support: string, marked: boolean}} Sentence
 * @typedef {{id: string, question: string, answer: string, sentences: Sentence[]}} Turn
 */

/** Questions before a follow-up that the service is told. */
const MAX_TURNS = 5;

/** Return what a follow-up is asked with. @param {Turn[]} turns */
export function historyOf(turns) {
  return turns.slice(-MAX_TURNS).map(({ question, answer }) => ({ question, answer }));
}

/** Return a question with its answer as a turn. @param {string} id @param {string} question @param {any} answer @returns {Turn} */
export function turnOf(id, question, { text, sentences }) {
  return { id, question, answer: text, sentences };
}

/** Keep turns with the address that is shown, if it is that of one of them. @param {string} id @param {Turn[]} turns */
export function keepTurns(id, turns) {
  if (turns.some((each) => each.id === id)) history.replaceState({ turns }, "");
}

/** Return the conversation of an answer: the one that is shown, or the one kept with the address; null without it. @param {string} id @param {Turn[]} shown */
export function turnsWith(id, shown) {
  const kept = history.state?.turns ?? [];
  return [shown, kept].find((turns) => turns.some((/** @type {Turn} */ each) => each.id === id)) ?? null;
}
