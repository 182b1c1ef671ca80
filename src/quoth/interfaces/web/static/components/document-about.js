/** What a document is: kind, length, language, state, warnings, and its outline with links to its sections. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { collectionName, dayName, isPicture, kindName, languageName, named, t } from "../i18n.js";
import { linkTo } from "../router.js";
import { clock, placeName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

/** How wide a page of a picture is drawn, in pixels. */
const WIDTH = 1000;

class DocumentAbout extends Base {
  static properties = { documentId: {}, start: { type: Number }, document: { state: true }, outline: { state: true } };

  constructor() {
    super();
    this.documentId = "";
    /** where the text that is shown begins */
    this.start = 0;
    /** @type {any} */
    this.document = null;
    /** @type {{sections: any[], more: boolean}} */
    this.outline = { sections: [], more: false };
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("documentId")) this.load();
  }

  async load() {
    const path = `/v1/documents/${encodeURIComponent(this.documentId)}`;
    // The text below says what went wrong.
    this.document = await getJson(path).catch(() => null);
    if (this.document) this.outline = await getJson(`${path}/outline`).catch(() => this.outline);
  }

  render() {
    if (!this.document) return nothing;
    const { kind, language, status, collection, speaker, date, warnings, error, metadata } = this.document;
    const facts = [
      kind && kindName(this.document), lengthName(this.document), language && languageName(language), speaker,
      date && dayName(date), named("state", status), collectionName(collection),
      ...Object.entries(metadata).map(([key, value]) => `${key}: ${[value].flat().join(", ")}`),
    ];
    const notes = [error?.message, ...warnings].filter(Boolean);
    return html`<p class="soft">${facts.filter(Boolean).join(" · ")}</p>
      ${notes.map((note) => html`<p class="problem">${note}</p>`)}
      ${this.outline.sections.length ? this.contents() : nothing}
      ${kind === "pdf" && this.document.pages ? this.pages(this.document.pages) : nothing}
      ${kind === "pdf" && !isPicture(this.document)
        ? html`<p><a href=${linkTo(`/pdf/${encodeURIComponent(this.documentId)}${location.search}`)}>${t("proof.readOn")}</a></p>`
        : nothing}`;
  }

  /** @param {number} count pages, each drawn small when it comes into view; no reader of PDF opens those of a picture */
  pages(count) {
    const id = encodeURIComponent(this.documentId);
    const drawn = (/** @type {number} */ page, /** @type {number} */ width) => `/v1/documents/${id}/pages/${page}/image?width=${width}`;
    const whole = (/** @type {number} */ page) => (isPicture(this.document) ? drawn(page, WIDTH) : `/pdf/${id}#page=${page}`);
    return html`<details class="thumbnails"><summary>${t("document.pages", { count })}</summary>
      <div>${Array.from({ length: count }, (_, at) => html`<a href=${linkTo(whole(at + 1))}><img
        loading="lazy" alt=${at + 1} src=${linkTo(drawn(at + 1, 200))}></a>`)}</div></details>`;
  }

  contents() {
    const { sections, more } = this.outline;
    const now = sections.findLast((section) => section.start <= this.start);
    return html`<details class="outline"><summary>${t("document.outline", { count: sections.length })}</summary>
      <ol class="list">${sections.map((section) => html`<li class=${`level-${Math.min(section.level, 4)}`}>
        <a class="grow" aria-current=${section === now ? "location" : "false"}
          href=${linkTo(`/d/${this.document.document_id}?start=${section.start}&end=${section.end}`)}>${section.title}</a>
        <span class="soft">${placeName({ ...section.locator, section: null, speaker: null }, t)}</span></li>`)}</ol>
      ${more ? html`<p class="soft">${t("document.more")}</p>` : nothing}</details>`;
  }
}

/** @param {any} document */
export function lengthName({ kind, pages, seconds }) {
  if (pages) return t(kind === "slides" ? "library.slides" : "library.pages", { count: pages });
  return seconds ? clock(seconds) : "";
}

customElements.define("document-about", DocumentAbout);
