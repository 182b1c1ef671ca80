/** The pages of a PDF as the service draws them, with rectangles around the words of a span. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { html, nothing, svg } from "../vendor/lit.js";

const WIDTH = 1000;

class PageImage extends Base {
  static properties = {
    documentId: {},
    start: { type: Number },
    end: { type: Number },
    marks: { state: true },
  };

  constructor() {
    super();
    this.documentId = "";
    this.start = 0;
    this.end = 0;
    /** @type {any} */
    this.marks = null;
    this.wanted = "";
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (["documentId", "start", "end"].some((each) => changed.has(each))) this.load();
  }

  async load() {
    const wanted = `/v1/documents/${encodeURIComponent(this.documentId)}/marks?start=${this.start}&end=${this.end}`;
    this.wanted = wanted;
    // Without its file a document still has its text, which is shown below.
    const marks = await getJson(wanted).catch(() => ({ pages: [] }));
    if (this.wanted === wanted) this.marks = marks;
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (!changed.has("marks") || !this.wanted) return;
    const mark = this.querySelector("rect");
    const text = /** @type {any} */ (this.parentElement?.querySelector("reading-view"));
    if (text) text.quiet = !!mark; // A text that comes later scrolls to its mark itself.
    if (mark) mark.scrollIntoView({ block: "center" });
    else text?.scrollToMark();
  }

  render() {
    if (!this.marks?.pages.length) return nothing;
    return html`${this.marks.exact ? nothing : html`<p class="soft">${t("proof.inexact")}</p>`}
      ${this.marks.pages.map((/** @type {any} */ page) => this.page(page))}`;
  }

  /** @param {any} page rectangles are shares of the page from its upper left corner */
  page({ page, label, width, height, rectangles }) {
    const image = linkTo(`/v1/documents/${encodeURIComponent(this.documentId)}/pages/${page}/image?width=${WIDTH}`);
    return html`<figure class="page-image">
      <svg viewBox="0 0 ${width} ${height}" role="img" aria-label=${t("proof.pageImage", { page: label })}>
        <image href=${image} width="100%" height="100%"></image>
        ${rectangles.map((/** @type {number[]} */ [x0, y0, x1, y1]) => svg`<rect x=${x0 * width} y=${y0 * height}
          width=${(x1 - x0) * width} height=${(y1 - y0) * height}></rect>`)}
      </svg>
      <figcaption class="row"><span class="grow">${t("place.page", { page: label })}</span>
        ${this.marks.picture ? nothing : html`<a href=${linkTo(`/pdf/${encodeURIComponent(this.documentId)}?start=${this.start}&end=${this.end}#page=${page}`)}>${t("proof.readOn")}</a>`}</figcaption>
    </figure>`;
  }
}

customElements.define("page-image", PageImage);
