/** A document at a place: `/d/ID?start=…&end=…`. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, nothing } from "../vendor/lit.js";
import "./document-about.js";
import "./media-player.js";
import "./page-image.js";
import "./reading-view.js";

class DocumentPage extends Base {
  static properties = { route: { attribute: false }, part: { state: true }, playing: { state: true }, unread: { state: true } };

  constructor() {
    super();
    /** @type {import("../router.js").Route} */
    this.route = { page: "document", id: "", mark: "", question: "", start: 0, end: null, view: "" };
    /** @type {any} */
    this.part = null;
    this.playing = -1;
    this.unread = false;
    this.addEventListener("quoth-unread", () => {
      this.unread = true;
    });
    this.addEventListener("quoth-time", (event) => {
      this.playing = /** @type {CustomEvent} */ (event).detail;
    });
    this.addEventListener("quoth-seek", (event) => {
      /** @type {any} */ (this.querySelector("media-player"))?.seek(/** @type {CustomEvent} */ (event).detail);
    });
    this.addEventListener("quoth-read", (event) => {
      this.part = /** @type {CustomEvent} */ (event).detail;
      document.title = `${this.part.title} – quoth`;
    });
  }

  render() {
    const { id, start, end } = this.route;
    const { part } = this;
    const seconds = part?.blocks.find((/** @type {any} */ each) => each.end > start)?.locator.start ?? 0;
    return html`<section class="page document">
      ${this.unread ? nothing : html`<h1>${part?.title ?? t("loading")}</h1>`}
      <document-about .documentId=${id} .start=${start}></document-about>
      ${part?.kind === "pdf" && end ? html`<page-image .documentId=${id} .start=${start} .end=${end}></page-image>` : nothing}
      ${part?.kind === "transcript" ? html`<media-player .documentId=${id} .media=${part.media ?? ""} .seconds=${seconds} .link=${part.blocks[0]?.link ?? ""}></media-player>` : nothing}
      <reading-view .documentId=${id} .start=${start} .end=${end} .quiet=${part?.kind === "pdf" && !!end} .playing=${this.playing}></reading-view>
    </section>`;
  }
}

customElements.define("document-page", DocumentPage);
