/** Sending of files, with progress: bytes while they are sent, passages while they are read. */
import { postJson, Problem, send } from "./api.js";
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
 */

/** What was sent since the page was loaded: the list stays while other pages are open. @type {Upload[]} */
export const sent = [];

/** Return whether a file is being sent: leaving the page would stop it. */
export const isSending = () => sent.some(({ state }) => state === "sending" || state === "waiting");

/** Return whether nothing more happens to an upload. @param {Upload} upload */
export const hasEnded = ({ state }) => ["ready", "unchanged", "failed", "stopped"].includes(state);

window.addEventListener("beforeunload", (event) => {
  if (isSending()) event.preventDefault();
});

const AGAIN_MS = 3_000;
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
 * @param {{file: File, sidecar?: File}} sent @param {string} collection @param {(upload: Upload) => void} tell
 */
export async function sendFile({ file, sidecar }, collection, tell) {
  const name = pathOf(file);
  await follow(name, tell, async () => {
    const query = new URLSearchParams({ name, ...(collection && { collection }), ...(sidecar && { sidecar: await sidecar.text() }) });
    return post(`/v1/uploads?${query}`, file, (share) => tell({ name, state: "sending", share, detail: "" }));
  });
}

/**
 * Have the service fetch a web page.
 * @param {string} url @param {string} collection @param {(upload: Upload) => void} tell
 */
export async function sendPage(url, collection, tell) {
  await follow(url, tell, async () => {
    const response = await postJson("/v1/uploads", { url, ...(collection && { collection }) });
    return { ...await response.json(), known: response.status === 200 };
  });
}

/** @param {string} name @param {(upload: Upload) => void} tell @param {() => Promise<any>} begin */
async function follow(name, tell, begin) {
  /** @type {Upload} */
  let last = { name, state: "sending", share: 0, detail: "" };
  const note = (/** @type {Upload} */ upload) => { last = upload; tell(upload); };
  try {
    note(last);
    const upload = await begin();
    const left = minutesLeft();
    for (;;) {
      await read(upload.id, (stored) => note({ ...shown(name, stored, upload.known), left: left(stored.progress, performance.now()) }));
      if (hasEnded(last)) return;
      // The service goes on with a file that it has: it is asked again when the connection is back.
      note({ ...last, detail: t("live.lost") });
      await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
    }
  } catch (error) {
    const gone = last.id && error instanceof Problem && error.status === 404;
    tell({ name, state: gone ? "stopped" : "failed", share: 1, detail: gone ? "" : /** @type {Error} */ (error).message });
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

/** `fetch` does not tell how much was sent. @param {string} path @param {File} file @param {(share: number) => void} tell */
function post(path, file, tell) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", linkTo(path));
    request.setRequestHeader("content-type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = (event) => tell(event.loaded / event.total);
    request.onload = () => {
      const body = request.response ?? {};
      if (request.status < 300) resolve({ ...body, known: request.status === 200 });
      else reject(new Problem(request.status, body.detail ?? request.statusText, body.code));
    };
    request.onerror = () => reject(new Problem(0, request.statusText || "The connection broke."));
    request.send(file);
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
