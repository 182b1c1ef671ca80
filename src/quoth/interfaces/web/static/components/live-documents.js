/** What a session cites: whole collections, or single documents of others. Tells `quoth-lecture` what it is now. */
import { getJson, sendJson } from "../api.js";
import { Base } from "../base.js";
import { collectionName, named, t } from "../i18n.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./upload-area.js";

const MAX_LISTED = 20;

class LiveDocuments extends Base {
  static properties = {
    lecture: { attribute: false },
    collections: { attribute: false },
    uploads: { type: Boolean },
    listed: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {any} */
    this.lecture = null;
    /** @type {any[] | null} */
    this.collections = null;
    /** whether the speaker may add documents */
    this.uploads = false;
    /** documents by the name of their collection @type {Record<string, any[]>} */
    this.listed = {};
  }

  /** @param {"collections" | "documents"} kind @param {string} name @param {boolean} attached */
  attach(kind, name, attached) {
    const names = this.lecture[kind].filter((/** @type {string} */ known) => known !== name).concat(attached ? [name] : []);
    return this.attempt(async () => {
      const path = `/v1/sessions/${this.lecture.session_id}`;
      this.tell("quoth-lecture", await (await sendJson("PATCH", path, { [kind]: names })).json());
    });
  }

  /** @param {string} collection @param {string} [words] */
  list(collection, words = "") {
    return this.attempt(async () => {
      const query = new URLSearchParams({ collection, words, limit: String(MAX_LISTED) });
      const { documents } = await getJson(`/v1/documents?${query}`);
      this.listed = { ...this.listed, [collection]: documents };
    });
  }

  render() {
    const { collections, documents } = this.lecture;
    const attached = collections.length + documents.length;
    return html`<details class="menu"><summary class="button">${t("library.documents")} <span class="badge">${attached}</span></summary><div class="panel">
      ${(this.collections ?? []).map((each) => this.collection(each))}
      ${collections.length && this.uploads ? html`<p class="soft">${t("live.addTo", { name: collections[0] })}</p>
        <upload-area .collection=${collections[0]}></upload-area>` : nothing}
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}</div></details>`;
  }

  /** @param {any} collection */
  collection({ name, documents: count }) {
    const whole = this.lecture.collections.includes(name);
    return html`<label class="check"><input type="checkbox" .checked=${whole}
        @change=${(/** @type {any} */ event) => this.attach("collections", name, event.target.checked)}> ${collectionName(name)} <span class="soft">${t("library.count", { count })}</span></label>
      ${whole ? nothing : html`<details class="single" @toggle=${(/** @type {any} */ event) => { if (event.target.open) this.list(name); }}>
        <summary>${t("live.single", { name })}</summary>
        <input type="search" aria-label=${t("live.findDocument", { name })} placeholder=${t("live.findDocument", { name })}
          @input=${(/** @type {any} */ event) => this.list(name, event.target.value)}>
        ${repeat(this.listed[name] ?? [], (each) => each.document_id, (each) => this.document(each))}
      </details>`}`;
  }

  /** @param {any} document */
  document({ document_id: id, title, status }) {
    return html`<label class="check"><input type="checkbox" .checked=${this.lecture.documents.includes(id)}
      @change=${(/** @type {any} */ event) => this.attach("documents", id, event.target.checked)}> ${title}
      ${status === "ready" ? nothing : html`<span class="soft">${named("state", status, status)}</span>`}</label>`;
  }
}

customElements.define("live-documents", LiveDocuments);
