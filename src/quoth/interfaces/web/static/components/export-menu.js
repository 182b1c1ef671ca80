/** What can be done with an answer: copy it, share its address, print it, or save it in a format. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { asText, linePath } from "../text.js";
import { html } from "../vendor/lit.js";

const FORMATS = ["html", "md", "json", "csv"];
const COPIED_MS = 2000;

class ExportMenu extends Base {
  static properties = { asking: { attribute: false }, guest: { type: Boolean }, copied: { state: true } };

  constructor() {
    super();
    /** @type {import("../reduce.js").Asking} */
    this.asking = /** @type {any} */ (null);
    /** whether the visitor cannot read stored answers, whose addresses open nothing then */
    this.guest = true;
    this.copied = "";
  }

  get address() {
    return `${location.origin}${linkTo("/q/")}${this.asking.queryId}`;
  }

  /** @param {string} what @param {string} text */
  async copy(what, text) {
    await navigator.clipboard.writeText(text);
    this.copied = what;
    setTimeout(() => { this.copied = ""; }, COPIED_MS);
  }

  text() {
    const { answer, question } = this.asking;
    if (!this.guest) return asText(answer, question, this.address, t);
    const inDocument = (/** @type {any} */ { document_id: id, snippet_start: start, snippet_end: end }) => location.origin + linkTo(linePath(id, { start, end }));
    return asText(answer, question, "", t, inDocument);
  }

  render() {
    return html`<button @click=${() => this.copy("text", this.text())}>${t(this.copied === "text" ? "answer.copied" : "answer.copy")}</button>
      ${this.guest ? this.printing() : this.stored()}
      <span class="hidden" role="status">${this.copied ? t("answer.copied") : ""}</span>`;
  }

  printing() {
    return html`<button @click=${() => window.print()}>${t("answer.print")}</button>`;
  }

  /** What needs the stored answer. */
  stored() {
    const { queryId } = this.asking;
    return html`<button @click=${() => this.copy("link", this.address)}>${t(this.copied === "link" ? "answer.linkCopied" : "answer.share")}</button>
      <details class="menu"><summary class="button">${t("answer.export")}</summary>
        <div class="panel">
          ${FORMATS.map((format) => html`<a download href=${linkTo(`/v1/queries/${queryId}/export?format=${format}`)}>${t(`answer.${format}`)}</a>`)}
          ${this.printing()}
        </div></details>`;
  }
}

customElements.define("export-menu", ExportMenu);
