/**
 * The turns of a conversation, kept with the addresses of its answers in the history of the tab.
 * @typedef {{start: number, end: number, citations: number[], support: string, marked: boolean}} Sentence
 * @typedef {{id: string, question: string, answer: string, sentences: Sentence[]}} Turn
 */

/** Questions before a follow-up that the service is told. */
const MAX_TURNS = 5;
const ANSWER = "quoth-answer-";

/** Return what a follow-up is asked with. @param {Turn[]} turns */
export function historyOf(turns) {
  return turns.slice(-MAX_TURNS).map(({ question, answer }) => ({ question, answer }));
}

/**
 * Return a question with its answer as a turn.
 * @param {string} id @param {string} question @param {any} answer @returns {Turn}
 */
export function turnOf(id, question, { text, sentences }) {
  return { id, question, answer: text, sentences };
}

/**
 * Return what is kept with the address that is shown: turns, and of a question without an answer its
 * place among them and how it was asked.
 * @returns {{turns: Turn[], at?: number, filters?: Record<string, string>, choices?: any}}
 */
export function kept() {
  const { turns = [], ...asked } = history.state ?? {};
  // What an earlier version of the app kept has no sentences.
  return { ...asked, turns: turns.map((/** @type {Turn} */ each) => ({ ...each, sentences: each.sentences ?? [] })) };
}

/** Keep turns with the address of one of them, if it is shown. @param {string} id @param {Turn[]} turns */
export function keepTurns(id, turns) {
  const isShown = location.pathname.endsWith(`/q/${id}`);
  if (isShown && turns.some((each) => each.id === id)) history.replaceState({ turns }, "");
}

/**
 * Return the conversation of an answer: the one that is shown, or the one kept with the address.
 * @param {string} id @param {Turn[]} shown @returns {Turn[] | null}
 */
export function turnsWith(id, shown) {
  return [shown, kept().turns].find((turns) => turns.some((each) => each.id === id)) ?? null;
}

/**
 * Keep an answer for this tab: a visitor with a shared address alone cannot read it from the service again.
 * @param {string} id @param {{question: string, answer: any}} record
 */
export function keepAnswer(id, record) {
  const text = JSON.stringify({ ...record, kept: Date.now() });
  /** @type {string[] | null} */
  let older = null;
  for (;;) {
    try {
      return sessionStorage.setItem(ANSWER + id, text);
    } catch {
      // The tab has no room for more: the oldest of its answers make room, as far as there are any.
      older ??= namesByAge();
      const oldest = older.shift();
      if (oldest === undefined) return;
      sessionStorage.removeItem(oldest);
    }
  }
}

function answerNames() {
  return Object.keys(sessionStorage).filter((name) => name.startsWith(ANSWER));
}

/** Return the names of the answers of this tab, the oldest first. */
function namesByAge() {
  const ages = answerNames().map((name) => ({ name, kept: JSON.parse(sessionStorage[name]).kept ?? 0 }));
  return ages.sort((one, other) => one.kept - other.kept).map(({ name }) => name);
}

/** Return an answer that was kept for this tab, null for none. @param {string} id */
export function keptAnswer(id) {
  return JSON.parse(sessionStorage.getItem(ANSWER + id) ?? "null");
}

/** Remove the answers that were kept for this tab: another person may sign in. */
export function forgetAnswers() {
  answerNames().forEach((name) => sessionStorage.removeItem(name));
}
