/** Requests to the service; every failure is a `Problem` with a sentence for people. */
import { linkTo } from "./router.js";
import { readEvents } from "./sse.js";

export class Problem extends Error {
  /** @param {number} status @param {string} detail @param {string} code */
  constructor(status, detail, code = "") {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/**
 * Send a request and return its response; raises Problem. A 401 also opens the sign-in page.
 * @param {string} path @param {RequestInit} [options]
 */
export async function send(path, options = {}) {
  const response = await fetch(linkTo(path), { credentials: "same-origin", ...options });
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
 * @param {object} body @param {AbortSignal} signal
 */
export async function* askStream(body, signal) {
  const response = await postJson("/v1/query", { ...body, stream: true }, { signal });
  for await (const { event, data } of readEvents(response)) yield { ...data, event };
}

/** @param {string} id @returns {Promise<any>} */
export function storedAnswer(id) {
  return getJson(`/v1/queries/${encodeURIComponent(id)}`);
}
