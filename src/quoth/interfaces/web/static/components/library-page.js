/** The documents of a collection: add, find, correct, delete. */
import { getJson, send } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { go } from "../router.js";
import { aboutService } from "../service.js";
import { html, nothing } from "../vendor/lit.js";
import "./collection-bar.js";
import "./document-form.js";
import "./document-list.js";
import "./upload-area.js";
import "./watched-folders.js";

const UNDO_MS = 8000;
const TYPING_MS = 250;

class LibraryPage extends Base {
  static properties = {
    collections: { state: true },
    collection: { attribute: false },
    words: { state: true },
    unready: { state: true },
    failed: { state: true },
    writable: { state: true },
    operator: { state: true },
    problem: { state: true },
    leaving: { state: true },
  };

  constructor() {
    super();
    /** @type {any[]} */
    this.collections = [];
    /** the one that is shown, as its address says, empty for the default one */
    this.collection = "";
    this.standard = "default";
    this.words = "";
    this.unready = false;
    /** how many documents are not ready */
    this.failed = 0;
    this.writable = true;
    this.operator = false;
    /** @type {any} the document that is deleted unless that is undone in time */
    this.leaving = null;
    this.timer = 0;
    this.typing = 0;
    this.finish = () => this.deleteNow();
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("nav.library")} – quoth`;
    this.addEventListener("quoth-added", () => this.refresh());
    this.addEventListener("quoth-edited", () => this.refresh());
    this.addEventListener("quoth-forget", (event) => this.forget(/** @type {CustomEvent} */ (event).detail));
    this.addEventListener("quoth-edit", (event) => {
      /** @type {any} */ (this.querySelector("document-form")).open(/** @type {CustomEvent} */ (event).detail);
    });
    this.addEventListener("quoth-collection", (event) => {
      const name = /** @type {CustomEvent} */ (event).detail;
      go(name ? `/library?${new URLSearchParams({ collection: name })}` : "/library", { replace: true });
    });
    window.addEventListener("pagehide", this.finish);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("collection")) this.load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("pagehide", this.finish);
    this.deleteNow();
  }

  async load() {
    await this.attempt(async () => {
      const query = new URLSearchParams({ limit: "1", state: "unready", ...(this.collection && { collection: this.collection }) });
      const { collections } = await getJson("/v1/collections");
      // The address of a collection that was deleted shows the default one.
      if (this.collection && !collections.some((/** @type {any} */ { name }) => name === this.collection)) {
        go("/library", { replace: true });
        return;
      }
      const [{ total }, session, service] = await Promise.all([
        getJson(`/v1/documents?${query}`), getJson("/v1/session"), aboutService(),
      ]);
      this.collections = collections;
      this.failed = total;
      this.unready &&= total > 0;
      this.writable = session.scopes.includes("ingest");
      this.operator = session.operator;
      this.standard = service.collection || "default";
    });
  }

  /** Show what has changed. */
  async refresh() {
    await Promise.all([this.load(), /** @type {any} */ (this.querySelector("document-list"))?.load()]);
  }

  /** Take a document out of the list, and delete it when the time to undo that is over. @param {any} document */
  async forget(document) {
    if (!window.confirm(`${document.title}\n\n${t("library.confirm")}`)) return;
    await this.deleteNow();
    this.leaving = document;
    this.timer = setTimeout(this.finish, UNDO_MS);
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.querySelector(".undo"))?.focus();
  }

  undo() {
    clearTimeout(this.timer);
    this.leaving = null;
  }

  async deleteNow() {
    const { leaving } = this;
    if (!leaving) return;
    clearTimeout(this.timer);
    await this.attempt(async () => {
      await send(`/v1/documents/${leaving.document_id}`, { method: "DELETE", keepalive: true });
      if (this.isConnected) await this.refresh();
    });
    // On failure the document is in the list again, beside the reason.
    if (this.leaving === leaving) this.leaving = null;
  }

  /** @param {any} event */
  search(event) {
    clearTimeout(this.typing);
    const words = event.target.value.trim();
    this.typing = setTimeout(() => { this.words = words; }, TYPING_MS);
  }

  render() {
    const { collection, collections, standard, writable } = this;
    return html`<section class="page">
      <h1>${t("nav.library")}</h1>
      <collection-bar .collections=${collections} .collection=${collection} .standard=${standard} .writable=${writable}></collection-bar>
      ${writable ? html`<upload-area .collection=${collection}></upload-area>` : nothing}
      ${this.operator ? html`<watched-folders></watched-folders>` : nothing}
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div role="status">${this.leaving ? this.undoing(this.leaving) : nothing}</div>
      <h2>${t("library.documents")}</h2>
      <div class="inline"><label>${t("library.search")}<input type="search" @input=${this.search}></label>
        ${this.failed ? html`<label class="check"><input type="checkbox" .checked=${this.unready}
          @change=${(/** @type {any} */ event) => { this.unready = event.target.checked; }}> ${t("library.unready", { count: this.failed })}</label>` : nothing}</div>
      <document-list .collection=${collection} .words=${this.words} .unready=${this.unready}
        .failed=${this.failed - (this.leaving && this.leaving.status !== "ready" ? 1 : 0)} .writable=${writable}
        .leaving=${this.leaving?.document_id ?? ""}></document-list>
      <document-form></document-form>
    </section>`;
  }

  /** @param {any} document */
  undoing({ title }) {
    return html`<p class="row">${t("library.deleted", { title })}
      <button class="undo" @click=${this.undo}>${t("undo")}</button></p>`;
  }
}

customElements.define("library-page", LibraryPage);
