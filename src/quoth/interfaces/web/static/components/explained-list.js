/** Who explained a page: the moments of live lectures that cite it. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { clock } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

class ExplainedList extends Base {
  static properties = { documentId: {}, page: { type: Number }, moments: { state: true } };

  constructor() {
    super();
    this.documentId = "";
    /** the number of the PDF page */
    this.page = 0;
    /** @type {any[]} */
    this.moments = [];
    this.wanted = "";
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("documentId") || changed.has("page")) this.load();
  }

  async load() {
    const wanted = `/v1/documents/${encodeURIComponent(this.documentId)}/explained?page_number=${this.page}`;
    this.wanted = wanted;
    // Where sessions may not be read, there is nothing to show.
    const { moments } = await getJson(wanted).catch(() => ({ moments: [] }));
    if (this.wanted === wanted) this.moments = moments;
  }

  render() {
    if (!this.moments.length) return nothing;
    return html`<h3>${t("live.explained")}</h3>
      <ul class="bullets">${this.moments.map(({ title, start, address }) => html`<li><a href=${linkTo(address)}>${title}, ${clock(start)}</a></li>`)}</ul>`;
  }
}

customElements.define("explained-list", ExplainedList);
