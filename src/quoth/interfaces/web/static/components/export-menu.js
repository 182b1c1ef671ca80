/** What can be done with an answer: copy it, share its address, print it, or save it in a format. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { asText } from "../text.js";
import { html } from "../vendor/lit.js";

const FORMATS = ["html", "md", "json", "csv"];
const COPIED_MS = 2000;

class ExportMenu extends Base {
  static properties = { asking: { attribute: false }, copied: { state: true } };

  constructor() {
    super();
    /** @type {import("../reduce.js").Asking} */
    this.asking = /** @type {any} */ (null);
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

  render() {
    const { answer, question, queryId } = this.asking;
    const whole = () => this.copy("text", asText(answer, question, this.address, t));
    return html`<button @click=${whole}>${t(this.copied === "text" ? "answer.copied" : "answer.copy")}</button>
      <button @click=${() => this.copy("link", this.address)}>${t(this.copied === "link" ? "answer.linkCopied" : "answer.share")}</button>
      <details class="menu"><summary class="button">${t("answer.export")}</summary>
        <div class="panel">
          ${FORMATS.map((format) => html`<a download href=${linkTo(`/v1/queries/${queryId}/export?format=${format}`)}>${t(`answer.${format}`)}</a>`)}
          <button @click=${() => window.print()}>${t("answer.print")}</button>
        </div></details>
      <span class="hidden" role="status">${this.copied ? t("answer.copied") : ""}</span>`;
  }
}

customElements.define("export-menu", ExportMenu);
