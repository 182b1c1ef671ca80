/**
 * The state of one question as a pure function of the events that came.
 *
 * Beside the events of the service: `asked`, `stopped`, `recovering`, `broken`, `restored` and `error`.
 * @typedef {"idle" | "searching" | "writing" | "done" | "stopped" | "recovering" | "broken" | "failed"} Phase
 * @typedef {object} Asking
 * @property {Phase} phase
 * @property {string} question
 * @property {string} queryId   empty until the first event names it
 * @property {any[]} hits
 * @property {string} text      what was streamed so far, provisional
 * @property {any[]} citations
 * @property {any[]} evidence   verbatim sentences, shown while a model writes
 * @property {any[]} verified
 * @property {any} answer       the whole answer once it is complete
 * @property {boolean} restored whether the answer is the stored one
 * @property {number} rating    1 or -1 as it was stored with the answer, 0 without
 * @property {{status: number, code: string, detail: string} | null} problem
 */

/** @type {Asking} */
export const IDLE = Object.freeze({
  phase: "idle",
  question: "",
  queryId: "",
  hits: [],
  text: "",
  citations: [],
  evidence: [],
  verified: [],
  answer: null,
  restored: false,
  rating: 0,
  problem: null,
});

/**
 * Return the state after an event; unknown events change nothing.
 * @param {Asking} state @param {any} event @returns {Asking}
 */
export function reduce(state, event) {
  // What comes after the end, such as an event already on its way when it was stopped, is late.
  if (["done", "stopped", "failed"].includes(state.phase) && !OPENING.has(event.event)) return state;
  switch (event.event) {
    case "asked":
      return { ...IDLE, phase: "searching", question: event.question };
    case "status":
      return event.query_id ? { ...state, queryId: event.query_id } : state;
    case "hits":
      return { ...state, hits: event.hits };
    case "evidence":
      return { ...state, evidence: event.citations };
    case "token":
      return { ...state, phase: "writing", text: state.text + event.text };
    case "citation":
      return { ...state, citations: withCitation(state.citations, event.citation) };
    case "verification":
      return { ...state, verified: [...state.verified, event] };
    case "done":
      return completed(state, event.answer);
    case "restored":
      return { ...completed({ ...IDLE, question: event.question }, event.answer), restored: true, rating: event.rating ?? 0 };
    case "stopped":
      return { ...state, phase: "stopped" };
    case "recovering":
      return { ...state, phase: "recovering" };
    case "broken":
      return { ...state, phase: "broken" };
    case "error":
      return { ...state, phase: "failed", problem: { status: event.status ?? 0, code: event.code ?? "", detail: event.detail ?? "" } };
    default:
      return state;
  }
}

const OPENING = new Set(["asked", "restored"]);

/** @param {any[]} citations @param {any} citation */
function withCitation(citations, citation) {
  return [...citations.filter((each) => each.number !== citation.number), citation];
}

/** @param {Asking} state @param {any} answer @returns {Asking} */
function completed(state, answer) {
  const { query_id: queryId, text, citations } = answer;
  return { ...state, phase: "done", queryId, text, citations, answer, problem: null };
}

/** Return whether an answer is on its way. @param {Asking} state */
export function isRunning(state) {
  return ["searching", "writing", "recovering"].includes(state.phase);
}
