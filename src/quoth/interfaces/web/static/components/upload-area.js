/** Files are dropped or chosen here, each with its progress and its error; tells `quoth-added`. */
import { Base } from "../base.js";
import { named, t } from "../i18n.js";
import { deleteUpload, droppedFiles, hasEnded, isSending, pathOf, sendFile, sendPage, sent, withSidecars } from "../uploads.js";
import { aboutService } from "../service.js";
import { html, nothing } from "../vendor/lit.js";

const AT_ONCE = 3;

class UploadArea extends Base {
  static properties = { collection: {}, uploads: { state: true }, over: { state: true }, pages: { state: true }, problem: { state: true } };

  constructor() {
    super();
    this.collection = "";
    this.uploads = [...sent];
    this.over = false;
    /** @type {boolean | null} whether the service fetches web pages, null until it is known */
    this.pages = null;
    // Also of files whose sending another element began: it is gone when the page is opened again.
    this.noted = (/** @type {any} */ { detail }) => {
      this.uploads = [...sent];
      if (hasEnded(detail)) this.tell("quoth-added");
    };
  }

  async connectedCallback() {
    super.connectedCallback();
    window.addEventListener("quoth-upload", this.noted);
    this.pages = (await aboutService()).web_pages;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("quoth-upload", this.noted);
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    const { collection } = this;
    const waiting = withSidecars([...files].filter((each) => !each.name.startsWith(".")));
    let at = sent.length;
    const end = sent.push(...waiting.map((pair) => ({
      name: pathOf(pair.file), state: "waiting", share: 0, detail: "", job: { ...pair, collection, abort: new AbortController() },
    })));
    this.uploads = [...sent];
    const sendNext = async () => {
      while (at < end) await this.sendOne(at++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
  }

  /** Send a file, or the rest of it, unless it was stopped. @param {number} at its place among those sent */
  async sendOne(at) {
    const { id, state, job } = sent[at];
    if (job && state !== "stopped") await sendFile(job, (upload) => this.note(at, { ...upload, job }), id);
  }

  /** Keep the row of one upload up to date, also for the page when it is opened again. @param {number} at @param {import("../uploads.js").Upload} upload */
  note(at, upload) {
    if (sent[at]?.state === "stopped") return; // its events end with an error
    sent[at] = upload;
    window.dispatchEvent(new CustomEvent("quoth-upload", { detail: upload }));
  }

  /** Stop an upload that waits, is sent or is read. @param {import("../uploads.js").Upload} upload */
  async stop(upload) {
    const at = sent.indexOf(upload);
    const { id = "", job, state } = upload;
    const stopped = { ...upload, state: "stopped" };
    if (isSending(upload)) {
      this.note(at, stopped);
      job?.abort.abort();
      // Where the service cannot be reached, it deletes later by itself what arrived.
      if (id) await deleteUpload(id).catch(() => {});
      return;
    }
    await this.attempt(async () => {
      await deleteUpload(id);
      this.note(at, stopped);
    });
  }

  /** @param {DragEvent} event */
  async drop(event) {
    event.preventDefault();
    this.over = false;
    if (event.dataTransfer) await this.add(await droppedFiles(event.dataTransfer));
  }

  /** @param {any} event */
  fetchPage(event) {
    event.preventDefault();
    const input = event.target.elements.url;
    const url = input.value.trim();
    const at = sent.length;
    if (url) sendPage(url, this.collection, (upload) => this.note(at, upload));
    input.value = "";
  }

  render() {
    const choose = (/** @type {any} */ event) => { this.add(event.target.files); event.target.value = ""; };
    return html`<div class="drop ${this.over ? "over" : ""}" @drop=${this.drop}
        @dragover=${(/** @type {Event} */ event) => { event.preventDefault(); this.over = true; }}
        @dragleave=${() => { this.over = false; }}>
        <p>${t("library.drop")}</p>
        <div class="row">
          <label class="button">${t("library.choose")}<input class="hidden" type="file" multiple @change=${choose}></label>
          <label class="button">${t("library.chooseFolder")}<input class="hidden" type="file" multiple webkitdirectory @change=${choose}></label>
        </div>
      </div>
      ${this.pages ? html`<form class="inline" @submit=${this.fetchPage}>
        <label>${t("library.url")}<input name="url" type="url" placeholder="https://" required></label>
        <button>${t("library.fetch")}</button>
      </form>` : nothing}
      ${this.pages === false ? html`<p class="soft">${t("library.noUrls")} <code>quoth add URL</code></p>` : nothing}
      ${this.uploads.length ? this.sent() : nothing}`;
  }

  /** The files that were sent: those that failed first, since they need attention. */
  sent() {
    const state = (/** @type {string} */ name) => this.uploads.filter((upload) => upload.state === name);
    const failed = state("failed");
    const done = this.uploads.every(hasEnded);
    const ready = state("ready").length + state("unchanged").length;
    const summary = t("library.summary", { total: this.uploads.length, ready, failed: failed.length });
    return html`<h2>${t("library.uploads")}</h2>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <p role="status" class=${done && failed.length ? "problem" : "soft"}>${summary}</p>
      <ul class="list uploads">${[...failed, ...this.uploads.filter((upload) => !failed.includes(upload))].map((upload) => this.row(upload))}</ul>`;
  }

  /** @param {import("../uploads.js").Upload} upload */
  row(upload) {
    const { broken, id, job, name, state, share, detail, passages, left } = upload;
    const running = state === "sending" || state === "running";
    const stoppable = job && isSending(upload) || id && ["queued", "running"].includes(state);
    const button = (/** @type {string} */ key, /** @type {() => unknown} */ act) => html`<button aria-label=${`${t(key)}: ${name}`} @click=${act}>${t(key)}</button>`;
    return html`<li><span class="grow">${name}${detail ? html`<br><small class="problem">${detail}</small>` : nothing}</span>
      ${running ? html`<progress max="1" value=${share || nothing} aria-label=${name}></progress>` : nothing}
      ${passages && state === "running" ? html`<span class="soft">${t("library.passages", passages)}${left ? html` · ${t("library.left", { count: left })}` : nothing}</span>` : nothing}
      <span class=${state === "failed" ? "problem" : "soft"}>${named("state", state)}</span>
      ${stoppable ? button("library.stop", () => this.stop(upload)) : nothing}
      ${broken && job ? button("library.sendAgain", () => this.sendOne(sent.indexOf(upload))) : nothing}</li>`;
  }
}

customElements.define("upload-area", UploadArea);
