/** Opening of PDF files with pdf.js: in a worker, by ranges, and from this service alone. */
import { getDocument, GlobalWorkerOptions } from "./vendor/pdfjs/pdf.min.mjs";

const FILES = new URL("./vendor/pdfjs/", import.meta.url).href;
const WORKER = `${FILES}pdf.worker.min.mjs`;
const RANGE_BYTES = 65_536;

/** Start the worker of pdf.js; the policy of Trusted Types lets pass its address and no other. */
function startWorker() {
  /** @type {any} */
  const types = /** @type {any} */ (window).trustedTypes;
  const rules = { createScriptURL: (/** @type {string} */ address) => {
    if (address !== WORKER) throw new TypeError("This script is not the worker of pdf.js.");
    return address;
  } };
  const address = types ? types.createPolicy("quoth-pdf-worker", rules).createScriptURL(WORKER) : WORKER;
  return new Worker(address, { type: "module" });
}

/** Open a file of the service; pages are fetched when they are shown. @param {string} url */
export function openPdf(url) {
  GlobalWorkerOptions.workerPort ??= startWorker();
  return getDocument({
    url,
    withCredentials: true,
    disableAutoFetch: true,
    disableStream: true,
    rangeChunkSize: RANGE_BYTES,
    isEvalSupported: false,
    enableXfa: false,
    cMapUrl: `${FILES}cmaps/`,
    standardFontDataUrl: `${FILES}standard_fonts/`,
    wasmUrl: `${FILES}wasm/`,
    iccUrl: `${FILES}iccs/`,
  });
}
