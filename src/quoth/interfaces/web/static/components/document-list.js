/**
 * The documents of a collection in a table that holds only what is near the window: parts of a
 * hundred rows are fetched when they come near, and become empty space when they are far.
 * Tells `quoth-edit` and `quoth-forget`.
 */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { kindName, languageName, named, t } from "../i18n.js";
import { linkTo } from "../router.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import { lengthName } from "./document-about.js";

const PART = 100;
const ROW_PX = 53;
const NEAR = "600px 0px";

class DocumentList extends Base {
  static properties = {
    collection: {},
    words: {},
    unready: { type: Boolean },
    failed: { type: Number },
    leaving: {},
    writable: { type: Boolean },
    total: { state: true },
    parts: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.collection = "";
    this.words = "";
    /** whether only those are shown that are not ready */
    this.unready = false;
    /** how many of all are not ready */
    this.failed = 0;
    /** the id of a document that is about to be deleted */
    this.leaving = "";
    this.writable = true;
    /** @type {number | null} null until it is known */
    this.total = null;
    /** @type {Map<number, any[]>} documents by part */
    this.parts = new Map();
    /** @type {Map<number, number>} heights in pixels of parts that were shown */
    this.heights = new Map();
    /** @type {Set<number>} parts near the window */
    this.near = new Set();
    this.turn = 0;
    this.observer = new IntersectionObserver((seen) => this.onSeen(seen), { rootMargin: NEAR });
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.observer.disconnect();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (["collection", "words", "unready"].some((name) => changed.has(name))) this.load();
  }

  updated() {
    this.querySelectorAll("tbody").forEach((part) => this.observer.observe(part));
  }

  /** Load what is shown again. */
  async load() {
    const turn = ++this.turn;
    const shown = [...this.parts.keys()];
    const loaded = new Map();
    for (const at of shown.length ? shown : [0]) {
      const documents = await this.fetchPart(at, turn);
      if (turn !== this.turn) return;
      if (documents) loaded.set(at, documents);
    }
    this.parts = loaded;
  }

  /** @param {number} at @param {number} turn */
  async fetchPart(at, turn) {
    const query = new URLSearchParams({ limit: String(PART), skip: String(at * PART) });
    if (this.collection) query.set("collection", this.collection);
    if (this.words) query.set("words", this.words);
    if (this.unready) query.set("state", "unready");
    try {
      const body = await getJson(`/v1/documents?${query}`);
      if (turn !== this.turn) return null;
      this.problem = "";
      this.total = body.total;
      return body.documents;
    } catch (error) {
      if (turn === this.turn) this.problem = /** @type {Error} */ (error).message;
      return null;
    }
  }

  /** @param {IntersectionObserverEntry[]} seen */
  async onSeen(seen) {
    const parts = new Map(this.parts);
    for (const { target, isIntersecting, boundingClientRect } of seen) {
      const at = Number(/** @type {HTMLElement} */ (target).dataset.part);
      if (isIntersecting) this.near.add(at);
      else this.near.delete(at);
      if (!isIntersecting && parts.delete(at)) this.heights.set(at, boundingClientRect.height);
    }
    this.parts = parts;
    for (const at of this.near) {
      if (this.parts.has(at)) continue;
      const documents = await this.fetchPart(at, this.turn);
      if (documents && this.near.has(at)) this.parts = new Map(this.parts).set(at, documents);
    }
  }

  render() {
    if (this.problem) return html`<p class="problem" role="alert">${this.problem}</p>`;
    if (this.total === null) return html`<p class="soft">${t("loading")}</p>`;
    if (!this.total) return html`<p class="soft">${t(this.words ? "library.noMatch" : "library.none")}</p>`;
    const parts = Array.from({ length: Math.ceil(this.total / PART) }, (_part, at) => at);
    // Those that are not ready are counted above, unless what is listed was searched for.
    const others = (this.leaving ? 1 : 0) + (this.words || this.unready ? 0 : this.failed);
    return html`<p class="soft" role="status">${t("library.count", { count: Math.max(0, this.total - others) })}</p>
      <table class="table documents" aria-rowcount=${this.total + 1}>
        <thead><tr aria-rowindex="1"><th scope="col">${t("library.title")}</th>
          <th scope="col" class="wide">${t("library.kind")}</th>
          <th scope="col" class="wide">${t("library.language")}</th>
          <th scope="col" class="wide">${t("library.length")}</th>
          <th scope="col" class="wide">${t("library.state")}</th>
          ${this.writable ? html`<td class="tools"></td>` : nothing}</tr></thead>
        ${parts.map((at) => this.section(at))}
      </table>`;
  }

  /** @param {number} at */
  section(at) {
    const documents = this.parts.get(at);
    const rows = Math.min(PART, (this.total ?? 0) - at * PART);
    const height = this.heights.get(at) ?? rows * ROW_PX;
    return html`<tbody data-part=${at}>${documents
      ? repeat(documents, (document) => document.document_id, (document, row) => this.row(document, at * PART + row))
      : html`<tr aria-hidden="true"><td colspan="6"><svg class="space" width="1" height=${height}></svg></td></tr>`}</tbody>`;
  }

  /** @param {any} document @param {number} at */
  row(document, at) {
    const { document_id: id, title, language, status, error, warnings } = document;
    if (id === this.leaving) return nothing;
    const ready = status === "ready" || status === "unchanged";
    const notes = [error?.message, ...warnings].filter(Boolean);
    return html`<tr aria-rowindex=${at + 2}>
      <td>${ready ? html`<a href=${linkTo(`/d/${id}`)}>${title}</a>` : title}
        <small class="narrow ${error ? "problem" : ""}">${kindName(document)} · ${named("state", status)}</small>
        ${notes.map((note) => html`<br><small class=${error ? "problem" : "soft"}>${note}</small>`)}</td>
      <td class="wide">${kindName(document)}</td>
      <td class="wide">${language ? languageName(language) : "–"}</td>
      <td class="wide">${lengthName(document) || "–"}</td>
      <td class="wide ${error ? "problem" : ""}">${named("state", status)}</td>
      ${this.writable ? html`<td class="tools"><div class="row">
        ${ready ? html`<button aria-label=${t("library.edit", { title })} @click=${() => this.tell("quoth-edit", document)}>${t("edit")}</button>` : nothing}
        <button aria-label=${t("library.delete", { title })} @click=${() => this.tell("quoth-forget", document)}>${t("delete")}</button></div></td>` : nothing}
    </tr>`;
  }
}

customElements.define("document-list", DocumentList);
