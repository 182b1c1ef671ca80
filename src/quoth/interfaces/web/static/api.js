/** Requests to the service; every failure is a `Problem` with a sentence for people. */
import { t } from "./i18n.js";
import { linkTo } from "./router.js";
import { readEvents } from "./sse.js";

/** Pauses before a broken answer is asked for again: a service restarts within seconds. */
const RECOVERY_MS = [0, 500, 1500, 3000, 5000, 10_000];

export class Problem extends Error {
  /** @param {number} status @param {string} detail @param {string} code */
  constructor(status, detail, code = "") {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/**
 * Send a request and return its response; raises Problem, and Error where the service cannot be reached.
 * A 401 also opens the sign-in page.
 * @param {string} path @param {RequestInit} [options]
 */
export async function send(path, options = {}) {
  const response = await fetch(linkTo(path), { credentials: "same-origin", ...options }).catch((error) => {
    throw error instanceof TypeError ? new Error(t("status.offline")) : error;
  });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  if (response.status === 401) window.dispatchEvent(new CustomEvent("quoth-signed-out"));
  throw new Problem(response.status, body.detail ?? response.statusText, body.code);
}

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
export async function getJson(path, options) {
  return (await send(path, options)).json();
}

/** @param {string} method @param {string} path @param {unknown} body @param {RequestInit} [options] */
export function sendJson(method, path, body, options = {}) {
  const headers = { "content-type": "application/json" };
  return send(path, { method, headers, body: JSON.stringify(body), ...options });
}

/** @param {string} path @param {unknown} body @param {RequestInit} [options] */
export function postJson(path, body, options = {}) {
  return sendJson("POST", path, body, options);
}

/**
 * Ask a question; yields the events of the answer as plain values with their field `event`.
 * The last one is `done`, `error`, also where the question is refused, or `broken`; none comes once it is aborted.
 * @param {object} body @param {AbortSignal} signal @returns {AsyncGenerator<any>}
 */
export async function* askStream(body, signal) {
  try {
    const response = await postJson("/v1/query", { ...body, stream: true }, { signal });
    for await (const { event, data } of readEvents(response)) {
      if (signal.aborted) return;
      yield { ...data, event };
      if (event === "done" || event === "error") return;
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Problem) {
      yield { event: "error", status: error.status, code: error.code, detail: error.message };
      return;
    }
  }
  if (!signal.aborted) yield { event: "broken" };
}

/** Return a stored answer; its citations say what became of their documents since. @param {string} id @returns {Promise<any>} */
export async function storedAnswer(id) {
  const record = await getJson(`/v1/queries/${encodeURIComponent(id)}`);
  for (const { number, change } of record.changed)
    record.answer.citations.find((/** @type {any} */ each) => each.number === number).changed = change;
  return record;
}

/** Return the stored answer of a stream that broke, null where there is none. @param {string} id @param {AbortSignal} signal */
export async function recoveredAnswer(id, signal) {
  for (const wait of RECOVERY_MS) {
    await new Promise((resolve) => { setTimeout(resolve, wait); });
    if (signal.aborted) return null;
    try {
      return await storedAnswer(id);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return null;
    }
  }
  return null;
}
