/** A PDF as a whole: `/pdf/ID?start=…&end=…#page=12`, with the words of a span marked. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { language, t } from "../i18n.js";
import { openPdf } from "../pdf.js";
import { linkTo, routeOf } from "../router.js";
import { html, nothing } from "../vendor/lit.js";
import "./pdf-page.js";

const MARGIN = 40;
const WIDEST = 960;
const STEP = 1.2;
const LIMITS = [0.25, 4];
/** What a reader scrolls with. */
const SCROLLING = ["wheel", "touchmove", "keydown", "pointerdown"];

class PdfReader extends Base {
  static properties = {
    pdf: { state: true },
    labels: { state: true },
    title: { state: true },
    scale: { state: true },
    current: { state: true },
    near: { state: true },
    marks: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.route = routeOf(location.href);
    /** @type {import("../vendor/pdfjs/pdf.min.mjs").PdfDocument | null} */
    this.pdf = null;
    /** @type {string[] | null} */
    this.labels = null;
    this.title = "";
    this.scale = 1;
    this.shape = { width: 612, height: 792 };
    this.current = 1;
    /** @type {Set<number>} pages across the line */
    this.across = new Set();
    /** the page that was gone to, until the reader scrolls */
    this.wanted = 0;
    /** @type {Set<number>} pages near the window */
    this.near = new Set();
    /** @type {Map<number, number[][]>} */
    this.marks = new Map();
    this.shown = false;
    document.documentElement.lang = language;
    this.observer = new IntersectionObserver((seen) => this.onSeen(seen), { rootMargin: "100% 0px" });
    // The page that is read is the one across a line in the upper part of the window: of two pages
    // in view the one that was reached, not the last lines of the page before it.
    this.read = new IntersectionObserver((seen) => this.onRead(seen), { rootMargin: "-30% 0px -70% 0px" });
  }

  connectedCallback() {
    super.connectedCallback();
    this.addEventListener("quoth-drawn", () => this.showMark());
    window.addEventListener("scroll", () => this.count(), { passive: true });
    for (const name of SCROLLING) window.addEventListener(name, () => { this.wanted = 0; }, { passive: true });
    window.addEventListener("hashchange", () => this.goTo(pageOf(location.hash)));
    this.open();
  }

  get path() {
    return `/v1/documents/${encodeURIComponent(this.route.id)}`;
  }

  async open() {
    try {
      const opened = openPdf(linkTo(`${this.path}/original`)).promise;
      const [pdf, about, marks] = await Promise.all([opened, getJson(this.path), this.fetchMarks()]);
      this.title = about.title;
      document.title = `${about.title} – quoth`;
      const first = await pdf.getPage(1);
      this.shape = first.getViewport({ scale: 1 });
      this.scale = Math.min(WIDEST, document.documentElement.clientWidth - MARGIN) / this.shape.width;
      this.labels = await pdf.getPageLabels();
      this.marks = marks;
      this.pdf = pdf;
      await this.updateComplete;
      this.goTo(pageOf(location.hash) ?? [...marks.keys()][0] ?? 1);
      this.querySelectorAll("pdf-page").forEach((page) => { this.observer.observe(page); this.read.observe(page); });
    } catch (error) {
      // A picture has pages, too, but is no PDF file: its page is shown beside its text.
      const { name } = /** @type {Error} */ (error);
      if (name === "InvalidPDFException") location.replace(linkTo(`/d/${this.route.id}${location.search}`));
      this.problem = /** @type {Error} */ (error).message;
    }
  }

  /** The rectangles of the span by page; without its file a document has none. */
  async fetchMarks() {
    const { start, end } = this.route;
    if (!end) return new Map();
    const { pages } = await getJson(`${this.path}/marks?start=${start}&end=${end}`).catch(() => ({ pages: [] }));
    return new Map(pages.map((/** @type {any} */ page) => [page.page, page.rectangles]));
  }

  /** @param {IntersectionObserverEntry[]} seen */
  onSeen(seen) {
    this.near = withSeen(this.near, seen);
  }

  /** @param {IntersectionObserverEntry[]} seen */
  onRead(seen) {
    this.across = withSeen(this.across, seen);
    this.count();
  }

  /** Tell the page that is read: the one that was gone to, and at the end of all the last, which may not reach the line. */
  count() {
    const { clientHeight, scrollHeight, scrollTop } = document.documentElement;
    const atEnd = scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 2;
    // Between two pages the one before is still read.
    this.current = this.wanted || (atEnd && this.pdf?.numPages) || [...this.across].pop() || this.current;
  }

  /** @param {number | null} number */
  goTo(number) {
    this.wanted = number ?? 0;
    if (number) this.querySelector(`#page-${number}`)?.scrollIntoView();
    this.count();
  }

  /** Bring the marked words into view, once. */
  showMark() {
    const mark = this.querySelector(".marks rect");
    if (mark && !this.shown) mark.scrollIntoView({ block: "center" });
    this.shown ||= !!mark;
  }

  /** Go to a page by its printed label, or by its number. @param {any} event */
  choose(event) {
    const wanted = event.target.value.trim();
    const at = this.labels?.indexOf(wanted) ?? -1;
    const number = at >= 0 ? at + 1 : Number(wanted);
    if (this.querySelector(`#page-${CSS.escape(String(number))}`)) location.hash = `page=${number}`;
    else event.target.value = this.labelOf(this.current);
  }

  /** @param {number} by */
  zoom(by) {
    this.scale = Math.min(LIMITS[1], Math.max(LIMITS[0], this.scale * by));
  }

  /** @param {number} number */
  labelOf(number) {
    return this.labels?.[number - 1] || String(number);
  }

  render() {
    return html`<header class="pdf-bar row">
        <a class="button" href=${linkTo(`/d/${this.route.id}${location.search}`)}>← ${t("pdf.text")}</a>
        <h1 class="grow">${this.title || (this.problem ? "" : t("loading"))}</h1>
        ${this.pdf ? this.tools(this.pdf.numPages) : nothing}
      </header>
      <main class="pdf-pages">${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
        ${this.pdf ? Array.from({ length: this.pdf.numPages }, (_each, at) => this.page(at + 1)) : nothing}</main>`;
  }

  /** @param {number} count */
  tools(count) {
    return html`<label>${t("pdf.page")} <input aria-label=${t("pdf.page")} .value=${this.labelOf(this.current)} @change=${this.choose}>
        <span>${t("pdf.of", { at: this.current, total: count })}</span></label>
      <button aria-label=${t("pdf.smaller")} @click=${() => this.zoom(1 / STEP)}>−</button>
      <button aria-label=${t("pdf.larger")} @click=${() => this.zoom(STEP)}>+</button>
      <a class="button wide" download href=${linkTo(`${this.path}/original`)}>${t("pdf.save")}</a>`;
  }

  /** @param {number} number */
  page(number) {
    return html`<pdf-page id=${`page-${number}`} .pdf=${this.pdf} .number=${number} .label=${this.labelOf(number)} .scale=${this.scale}
      .shape=${this.shape} .near=${this.near.has(number)} .rectangles=${this.marks.get(number) ?? []}></pdf-page>`;
  }
}

/**
 * Return the numbers of pages with those that came into view and without those that left it; there may be
 * several changes of one page since the last time.
 * @param {Set<number>} before @param {IntersectionObserverEntry[]} seen
 */
function withSeen(before, seen) {
  const pages = new Set(before);
  for (const { target, isIntersecting } of seen) {
    const { number } = /** @type {any} */ (target);
    if (isIntersecting) pages.add(number);
    else pages.delete(number);
  }
  return pages;
}

/** Return the page that a fragment names, null for none. @param {string} hash */
function pageOf(hash) {
  return Number(/^#page=(\d+)/.exec(hash)?.[1]) || null;
}

customElements.define("pdf-reader", PdfReader);
