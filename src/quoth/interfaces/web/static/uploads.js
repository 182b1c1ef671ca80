/** Sending of files, with progress: bytes while they are sent, passages while they are read. */
import { getJson, postJson, Problem, send } from "./api.js";
import { t } from "./i18n.js";
import { linkTo } from "./router.js";
import { readEvents } from "./sse.js";

/**
 * @typedef {object} Upload
 * @property {string} name
 * @property {string} state  waiting, sending, queued, running, ready, unchanged, stopped or failed
 * @property {number} share  0 to 1
 * @property {string} detail what went wrong
 * @property {string} [id]
 * @property {{at: number, of: number}} [passages] that are read
 * @property {number} [left] minutes until it is read, where that can be told
 * @property {Job} [job] of a file: what is sent
 * @property {boolean} [broken] whether its sending broke and can go on
 *
 * @typedef {{file: File, sidecar?: File, collection: string, abort: AbortController}} Job
 */

/** What was sent since the page was loaded: the list stays while other pages are open. @type {Upload[]} */
export const sent = [];

/** Return whether a file is being sent or waits for that: leaving the page would stop it. @param {Upload} upload */
export const isSending = ({ state }) => state === "sending" || state === "waiting";

/** Return whether nothing more happens to an upload. @param {Upload} upload */
export const hasEnded = ({ state }) => ["ready", "unchanged", "failed", "stopped"].includes(state);

window.addEventListener("beforeunload", (event) => {
  if (sent.some(isSending)) event.preventDefault();
});

const AGAIN_MS = 3_000;
/** Files of this size or more are sent so that their sending can go on where it broke. */
const RESUMABLE_BYTES = 2 ** 20;
/** Statuses of requests that may work later as they are. */
const LATER = [401, 404, 409, 429];
const SIDECAR = ".meta.json";

/** Paths of files that were dropped with their folders. @type {WeakMap<File, string>} */
const dropped = new WeakMap();

/** @param {File} file */
export const pathOf = (file) => dropped.get(file) || file.webkitRelativePath || file.name;

/** Return each file with the one that describes it (`talk.srt.meta.json` or `talk.meta.json`), if that is there. @param {File[]} files @returns {{file: File, sidecar?: File}[]} */
export function withSidecars(files) {
  const sidecars = new Map(files.filter((each) => each.name.endsWith(SIDECAR)).map((each) => [pathOf(each), each]));
  const pairs = files.filter((each) => !each.name.endsWith(SIDECAR)).map((file) => {
    const path = pathOf(file);
    return { file, sidecar: sidecars.get(path + SIDECAR) ?? sidecars.get(path.replace(/\.[^./]+$/, "") + SIDECAR) };
  });
  const used = new Set(pairs.map(({ sidecar }) => sidecar));
  return [...pairs, ...[...sidecars.values()].filter((each) => !used.has(each)).map((file) => ({ file }))];
}

/**
 * Send a file and follow it until it is read; `tell` gets its state at every step.
 * @param {Job} job @param {(upload: Upload) => void} tell @param {string} [id] of the upload, where its sending goes on
 */
export async function sendFile({ file, sidecar, collection, abort: { signal } }, tell, id = "") {
  const name = pathOf(file);
  await follow({ id, name }, tell, async (note) => {
    const query = new URLSearchParams({ name, ...(collection && { collection }), ...(sidecar && { sidecar: await sidecar.text() }) });
    if (file.size < RESUMABLE_BYTES) {
      return transfer("POST", `/v1/uploads?${query}`, file, {}, signal, (sent) => note({ name, state: "sending", share: sent / file.size, detail: "" }));
    }
    const begun = await beginUpload(query, file, id);
    if (signal.aborted) await deleteUpload(begun.id);
    if (begun.state !== "receiving") return begun;
    const from = begun.received;
    const told = (/** @type {number} */ sent) => note({ id: begun.id, name, state: "sending", share: (from + sent) / file.size, detail: "" });
    told(0);
    return transfer("PATCH", `/v1/uploads/${begun.id}`, file.slice(from), { "upload-offset": String(from) }, signal, told);
  });
}

/** Return the upload that was begun, or begin one. @param {URLSearchParams} query @param {File} file @param {string} id */
async function beginUpload(query, file, id) {
  const known = id && await getJson(`/v1/uploads/${encodeURIComponent(id)}`).catch((error) => {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  });
  return known || getJson(`/v1/uploads?${query}`, { method: "POST", headers: { "upload-length": String(file.size) } });
}

/** Delete an upload with what arrived of it. @param {string} id */
export function deleteUpload(id) {
  return send(`/v1/uploads/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/**
 * Have the service fetch a web page.
 * @param {string} url @param {string} collection @param {(upload: Upload) => void} tell
 */
export async function sendPage(url, collection, tell) {
  await follow({ name: url }, tell, async () => {
    const response = await postJson("/v1/uploads", { url, ...(collection && { collection }) });
    return { ...await response.json(), known: response.status === 200 };
  });
}

/** @param {{id?: string, name: string}} known @param {(upload: Upload) => void} tell @param {(note: (upload: Upload) => void) => Promise<any>} begin */
async function follow({ id: before, name }, tell, begin) {
  /** @type {Upload} */
  let last = { id: before, name, state: "sending", share: 0, detail: "" };
  const note = (/** @type {Upload} */ upload) => { last = upload; tell(upload); };
  try {
    note(last);
    const upload = await begin(note);
    const left = minutesLeft();
    for (;;) {
      await read(upload.id, (stored) => note({ ...shown(name, stored, upload.known), left: left(stored.progress, performance.now()) }));
      if (hasEnded(last)) return;
      // The service goes on with a file that it has: it is asked again when the connection is back.
      note({ ...last, detail: t("live.lost") });
      await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
    }
  } catch (error) {
    const { id, state: at } = last;
    const status = error instanceof Problem ? error.status : 0;
    if (at !== "sending" && status === 404) tell({ name, state: "stopped", share: 1, detail: "" });
    else {
      const broken = at === "sending" && (status < 400 || status >= 500 || LATER.includes(status));
      tell({ id, name, state: "failed", share: 1, detail: status ? /** @type {Error} */ (error).message : t("library.broke"), broken });
    }
  }
}

/** Read the events of an upload until they or the connection end. @param {string} id @param {(upload: any) => void} tell */
async function read(id, tell) {
  try {
    for await (const { data } of readEvents(await send(`/v1/uploads/${id}/events`))) {
      if (data.upload) tell(data.upload);
    }
  } catch (error) {
    if (error instanceof Problem && error.status >= 400 && error.status < 500) throw error;
  }
}

/** @param {string} name @param {any} upload @param {boolean} known whether it was sent before @returns {Upload} */
function shown(name, { id, state: stored, progress: { chunks, of_chunks: of }, error }, known) {
  const passages = of ? { at: chunks, of } : undefined;
  const state = known && stored === "ready" ? "unchanged" : stored;
  return { id, name, state, share: of ? chunks / of : 0, passages, detail: error?.message ?? "" };
}

/** Return a function that tells the minutes left from how fast passages were read since it was first called. */
export function minutesLeft() {
  /** @type {{at: number, now: number} | null} */
  let first = null;
  return (/** @type {{chunks: number, of_chunks: number}} */ { chunks, of_chunks: of }, /** @type {number} */ now) => {
    if (!chunks) return undefined;
    first ??= { at: chunks, now };
    const read = chunks - first.at;
    return read > 0 ? Math.max(1, Math.ceil(((of - chunks) * (now - first.now)) / read / 60_000)) : undefined;
  };
}

/**
 * Send bytes; `fetch` does not tell how many were sent.
 * @param {string} method @param {string} path @param {Blob} bytes @param {Record<string, string>} headers
 * @param {AbortSignal} signal @param {(sent: number) => void} tell
 */
function transfer(method, path, bytes, headers, signal, tell) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open(method, linkTo(path));
    Object.entries({ "content-type": "application/octet-stream", ...headers }).forEach((each) => request.setRequestHeader(...each));
    request.responseType = "json";
    request.upload.onprogress = (event) => tell(event.loaded);
    request.onload = () => {
      const body = request.response ?? {};
      if (request.status < 300) resolve({ ...body, known: request.status === 200 && method === "POST" });
      else reject(new Problem(request.status, body.detail ?? request.statusText, body.code));
    };
    request.onerror = () => reject(new Error());
    request.onabort = request.onerror;
    signal.addEventListener("abort", () => request.abort());
    request.send(bytes);
  });
}

/** Return the files that were dropped, those in folders too. @param {DataTransfer} transfer @returns {Promise<File[]>} */
export async function droppedFiles(transfer) {
  // Items can be read only during the event: all are taken before anything is awaited.
  const entries = [...transfer.items].map((each) => each.webkitGetAsEntry() ?? each.getAsFile());
  const found = await Promise.all(entries.map((each) => (each instanceof File ? [each] : each ? filesOf(each) : [])));
  return found.flat();
}

/** @param {any} entry @returns {Promise<File[]>} */
async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    dropped.set(file, entry.fullPath.slice(1));
    return [file];
  }
  const reader = entry.createReader();
  /** @type {File[]} */
  const found = [];
  // A reader gives a part of the entries at a time, and an empty part at the end.
  for (;;) {
    const part = /** @type {any[]} */ (await new Promise((resolve, reject) => reader.readEntries(resolve, reject)));
    if (!part.length) return found;
    for (const each of part) found.push(...(await filesOf(each)));
  }
}
