/** One page of a PDF: drawn while it is near the window, with its text over it and a span marked. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, nothing, svg } from "../vendor/lit.js";
import { TextLayer } from "../vendor/pdfjs/pdf.min.mjs";

class PdfPage extends Base {
  static properties = {
    pdf: { attribute: false },
    number: { type: Number },
    label: {},
    scale: { type: Number },
    shape: { attribute: false },
    near: { type: Boolean },
    rectangles: { attribute: false },
  };

  constructor() {
    super();
    /** @type {import("../vendor/pdfjs/pdf.min.mjs").PdfDocument | null} */
    this.pdf = null;
    this.number = 1;
    this.label = "";
    this.scale = 1;
    /** the width and height in points, those of the first page until its own are known */
    this.shape = { width: 612, height: 792 };
    this.near = false;
    /** @type {number[][]} shares of the page from its upper left corner */
    this.rectangles = [];
    /** @type {import("../vendor/pdfjs/pdf.min.mjs").RenderTask | null} */
    this.task = null;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.task?.cancel();
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    const { width, height } = this.shape;
    this.style.width = `${width * this.scale}px`;
    this.style.height = `${height * this.scale}px`;
    if (this.near && (changed.has("near") || changed.has("scale"))) this.draw();
    if (!this.near && changed.has("near")) this.clear();
  }

  clear() {
    this.task?.cancel();
    this.querySelector(".textLayer")?.replaceChildren();
  }

  async draw() {
    this.task?.cancel();
    const canvas = this.querySelector("canvas");
    const page = await this.pdf?.getPage(this.number);
    if (!page || !canvas || !this.near) return;
    const viewport = page.getViewport({ scale: this.scale });
    const whole = page.getViewport({ scale: 1 });
    this.shape = { width: whole.width, height: whole.height };
    const dense = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = Math.floor(viewport.width * dense);
    canvas.height = Math.floor(viewport.height * dense);
    const task = page.render({ canvas, viewport, transform: dense === 1 ? null : [dense, 0, 0, dense, 0, 0] });
    this.task = task;
    // A page that leaves the window, or is drawn at another size, ends its drawing.
    const drawn = await task.promise.then(() => true, () => false);
    if (!drawn || this.task !== task) return;
    await this.writeText(page, viewport);
    this.tell("quoth-drawn", this.number);
  }

  /** @param {import("../vendor/pdfjs/pdf.min.mjs").PdfPage} page @param {import("../vendor/pdfjs/pdf.min.mjs").Viewport} viewport */
  async writeText(page, viewport) {
    const container = /** @type {HTMLElement | null} */ (this.querySelector(".textLayer"));
    if (!container) return;
    container.replaceChildren();
    container.style.setProperty("--total-scale-factor", String(this.scale));
    await new TextLayer({ textContentSource: page.streamTextContent(), container, viewport }).render();
  }

  render() {
    const place = t("place.page", { page: this.label });
    if (!this.near) return html`<span class="hidden">${place}</span>`;
    return html`<canvas role="img" aria-label=${place}></canvas><div class="textLayer"></div>
      ${this.rectangles.length ? this.marks() : nothing}`;
  }

  marks() {
    return html`<svg class="marks" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
      ${this.rectangles.map(([x0, y0, x1, y1]) => svg`<rect x=${x0} y=${y0} width=${x1 - x0} height=${y1 - y0}></rect>`)}</svg>`;
  }
}

customElements.define("pdf-page", PdfPage);
