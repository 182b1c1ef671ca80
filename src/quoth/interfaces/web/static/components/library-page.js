/** The documents of a collection: add, look at, delete. */
import { getJson, send } from "../api.js";
import { Base } from "../base.js";
import { named, t } from "../i18n.js";
import { clock } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./upload-area.js";

const PAGE = 100;
const UNDO_MS = 8000;

class LibraryPage extends Base {
  static properties = {
    collections: { state: true },
    collection: { state: true },
    documents: { state: true },
    total: { state: true },
    problem: { state: true },
    leaving: { state: true },
  };

  constructor() {
    super();
    /** @type {any[]} */
    this.collections = [];
    this.collection = "";
    /** @type {any[]} */
    this.documents = [];
    /** @type {number | null} null until it is known */
    this.total = null;
    this.problem = "";
    /** @type {any} the document that is deleted unless that is undone in time */
    this.leaving = null;
    this.timer = 0;
    this.finish = () => this.deleteNow();
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("nav.library")} – quoth`;
    this.addEventListener("quoth-added", () => this.load());
    window.addEventListener("pagehide", this.finish);
    this.load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("pagehide", this.finish);
    this.deleteNow();
  }

  /** Load the first documents, as many as were shown. */
  async load() {
    await this.attempt(async () => {
      this.collections = (await getJson("/v1/collections")).collections;
      await this.fetchPage(0);
    });
  }

  /** @param {number} skip */
  async fetchPage(skip) {
    const query = new URLSearchParams({ limit: String(PAGE), skip: String(skip) });
    if (this.collection) query.set("collection", this.collection);
    const body = await getJson(`/v1/documents?${query}`);
    this.documents = [...this.documents.slice(0, skip), ...body.documents];
    this.total = body.total;
  }

  /** @param {() => Promise<void>} work */
  async attempt(work) {
    try {
      this.problem = "";
      await work();
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
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
      await this.load();
    });
    // On failure the document is in the list again, beside the reason.
    if (this.leaving === leaving) this.leaving = null;
  }

  render() {
    return html`<section class="page">
      <h1>${t("nav.library")}</h1>
      ${this.collections.length > 1 ? this.chooser() : nothing}
      <upload-area .collection=${this.collection}></upload-area>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div role="status">${this.leaving ? this.undoing(this.leaving) : nothing}</div>
      <h2>${t("library.documents")}</h2>
      ${this.total === null ? html`<p class="soft">${t("loading")}</p>` : this.table()}
    </section>`;
  }

  /** @param {any} document */
  undoing({ title }) {
    return html`<p class="row">${t("library.deleted", { title })}
      <button class="undo" @click=${this.undo}>${t("undo")}</button></p>`;
  }

  chooser() {
    const choose = (/** @type {any} */ event) => { this.collection = event.target.value; this.load(); };
    return html`<label>${t("choices.collection")} <select @change=${choose}>
      <option value="">${t("choices.default")}</option>
      ${this.collections.map((each) => html`<option value=${each.name} ?selected=${each.name === this.collection}>${each.name}</option>`)}
    </select></label>`;
  }

  table() {
    const shown = this.documents.filter((each) => each.document_id !== this.leaving?.document_id);
    if (!shown.length) return html`<p class="soft">${t("library.none")}</p>`;
    const count = (this.total ?? 0) - (this.documents.length - shown.length);
    return html`<p class="soft">${t("library.count", { count })}</p>
      <table class="table">
        <thead><tr><th scope="col">${t("library.title")}</th>
          <th scope="col">${t("library.kind")}</th>
          <th scope="col" class="wide">${t("library.language")}</th>
          <th scope="col" class="wide">${t("library.length")}</th>
          <th scope="col" class="wide">${t("library.state")}</th><td></td></tr></thead>
        <tbody>${repeat(shown, (each) => each.document_id, (each) => this.row(each))}</tbody>
      </table>
      ${this.documents.length < (this.total ?? 0)
        ? html`<button @click=${() => this.attempt(() => this.fetchPage(this.documents.length))}>${t("more")}</button>` : nothing}`;
  }

  /** @param {any} document */
  row(document) {
    const { document_id: id, title, kind, language, status, error, warnings } = document;
    const notes = [error?.message, ...warnings].filter(Boolean);
    return html`<tr>
      <td>${status === "ready" || status === "unchanged" ? html`<a href=${`/d/${id}`}>${title}</a>` : title}
        ${notes.map((each) => html`<br><small class="problem">${each}</small>`)}</td>
      <td>${kind ? named("kind", kind) : "–"}</td>
      <td class="wide">${language ?? "–"}</td>
      <td class="wide">${lengthName(document)}</td>
      <td class="wide">${named("state", status)}</td>
      <td><button aria-label=${t("library.delete", { title })} @click=${() => this.forget(document)}>${t("delete")}</button></td>
    </tr>`;
  }
}

/** @param {any} document */
function lengthName({ pages, seconds }) {
  if (pages) return t("library.pages", { count: pages });
  return seconds ? clock(seconds) : "–";
}

customElements.define("library-page", LibraryPage);
