/**
 * The proof of a citation: beside the answer on wide screens, a full-screen dialog on others;
 * with `modal` a dialog on all, and with `quoted` the passage alone, for those who may not read the
 * document: an audience of a live session.
 * Tells `quoth-walk` with the place of the citation to show, and `quoth-close`.
 */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { cut, lengthOf, placeName, spanOf } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import "./explained-list.js";
import "./media-player.js";
import { originalLink } from "./original-link.js";
import "./page-image.js";
import "./reading-view.js";

const WIDE = window.matchMedia("(min-width: 1024px)");
const STEP = 32;
const LEAST = 320;

class ProofPane extends Base {
  static properties = {
    items: { attribute: false },
    at: { type: Number },
    back: {},
    words: {},
    modal: { type: Boolean },
    quoted: { type: Boolean },
    span: { state: true },
    share: { state: true },
    playing: { state: true },
    part: { state: true },
    gone: { state: true },
  };

  constructor() {
    super();
    /** @type {{mark: string, item: any}[]} */
    this.items = [];
    this.at = 0;
    this.back = "";
    /** the sentence of the citation that is marked, "" for all of it */
    this.words = "";
    this.modal = false;
    this.quoted = false;
    /** @type {{documentId: string, start: number, end: number, passage?: string} | null} */
    this.span = null;
    /** the width of the pane in percent of the window */
    this.share = 46;
    this.playing = -1;
    /** what was read of the document last @type {any} */
    this.part = null;
    /** whether the document is not there any more, or is another one */
    this.gone = false;
    this.addEventListener("quoth-time", (event) => {
      this.playing = /** @type {CustomEvent} */ (event).detail;
    });
    this.addEventListener("quoth-read", (event) => {
      this.part = /** @type {CustomEvent} */ (event).detail;
    });
    this.addEventListener("quoth-unread", () => {
      this.gone = true;
    });
    /** @type {Element | null} where focus returns to */
    this.opener = null;
    this.onKey = this.onKey.bind(this);
    this.show = this.show.bind(this);
    this.addEventListener("quoth-seek", (event) => {
      /** @type {any} */ (this.querySelector("media-player"))?.seek(/** @type {CustomEvent} */ (event).detail);
    });
  }

  connectedCallback() {
    super.connectedCallback();
    this.opener = document.activeElement;
    document.addEventListener("keydown", this.onKey);
    WIDE.addEventListener("change", this.show);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    document.removeEventListener("keydown", this.onKey);
    WIDE.removeEventListener("change", this.show);
    const { opener, back } = this;
    // A card that opened the pane was replaced by it: the new card, or the sentence, takes focus.
    setTimeout(() => {
      if (opener instanceof HTMLElement && opener.isConnected && opener !== document.body) opener.focus();
      else if (back) /** @type {HTMLElement | null} */ (document.querySelector(`#${CSS.escape(back)} button`))?.focus();
    });
  }

  get dialog() {
    return /** @type {HTMLDialogElement} */ (this.querySelector("dialog"));
  }

  show() {
    this.dialog.close();
    if (WIDE.matches && !this.modal) this.dialog.show();
    else this.dialog.showModal();
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (!this.dialog.open) this.show();
    if (["at", "items", "words"].some((each) => changed.has(each))) this.locate();
  }

  async locate() {
    const { item } = this.items[this.at];
    const span = await (this.quoted ? passageOf(item) : placeOf(item, this.words)).catch(() => null);
    const late = item !== this.items[this.at]?.item;
    if (!late) {
      this.playing = -1;
      this.gone = !span;
    }
    if (late || JSON.stringify(span) === JSON.stringify(this.span)) return;
    if (span?.documentId !== this.span?.documentId) this.part = null;
    this.span = span;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || at.matches?.("input, textarea, select, video, audio, [role=separator]")) return;
    if (document.querySelector("dialog.help[open]")) return;
    if (event.key === "Escape") this.close(event);
    if (event.key === "ArrowLeft") this.walk(-1);
    if (event.key === "ArrowRight") this.walk(1);
  }

  /** @param {Event} event */
  close(event) {
    event.preventDefault();
    this.tell("quoth-close");
  }

  /** @param {number} by */
  walk(by) {
    if (this.items[this.at + by]) this.tell("quoth-walk", this.at + by);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const handle = /** @type {HTMLElement} */ (event.currentTarget);
    if (handle.hasPointerCapture(event.pointerId)) this.resize(window.innerWidth - event.clientX);
  }

  /** @param {KeyboardEvent} event */
  onHandleKey(event) {
    const by = event.key === "ArrowLeft" ? STEP : event.key === "ArrowRight" ? -STEP : 0;
    if (by) this.resize(this.dialog.offsetWidth + by);
  }

  /** @param {number} width in pixels */
  resize(width) {
    const within = Math.max(LEAST, Math.min(window.innerWidth - 1.25 * LEAST, width));
    this.share = Math.round((100 * within) / window.innerWidth);
    document.documentElement.style.setProperty("--pane", `${Math.round(within)}px`);
  }

  render() {
    const { item } = this.items[this.at];
    const title = item.document_name ?? item.document;
    const place = placeName(item.locator, t);
    const original = originalLink(item, this.span, !this.quoted && !this.gone);
    return html`<dialog class="proof ${this.modal ? "boxed" : ""}" aria-label=${t("proof.title", { title })} @cancel=${this.close}>
      <div class="handle" role="separator" aria-orientation="vertical" tabindex="0" aria-label=${t("proof.resize")} aria-valuenow=${this.share}
        @pointerdown=${(/** @type {any} */ event) => event.currentTarget.setPointerCapture(event.pointerId)}
        @pointermove=${this.drag} @keydown=${this.onHandleKey}></div>
      ${this.bar()}
      <h2>${title}</h2>
      <p class="place">${place}${place && original !== nothing ? " · " : ""}${original}</p>
      ${this.gone ? this.asCited(item) : this.span ? this.views(item.locator) : html`<p class="soft">${t("loading")}</p>`}
    </dialog>`;
  }

  /** The words as they were cited, where the document is not what it was. @param {any} item */
  asCited(item) {
    return html`<p class="status doubt">${t("proof.gone")}</p>
      <blockquote class="reading" dir="auto">${item.snippet ?? item.text}</blockquote>`;
  }

  bar() {
    const { at, items } = this;
    return html`<div class="row bar">
      <button aria-label=${t("proof.previous")} ?disabled=${at === 0} @click=${() => this.walk(-1)}>←</button>
      <span class="soft">${at + 1} / ${items.length}</span>
      <button aria-label=${t("proof.next")} ?disabled=${at === items.length - 1} @click=${() => this.walk(1)}>→</button>
      <span class="grow"></span>
      <button autofocus aria-label=${t("proof.close")} @click=${this.close}>✕</button>
    </div>`;
  }

  /** @param {any} locator */
  views(locator) {
    const { documentId, start, end, passage } = /** @type {any} */ (this.span);
    if (passage) return this.passage(passage);
    const page = this.items[this.at].item.page_number;
    const shown = { pages: this.pageImage, seconds: this.player }[/** @type {string} */ (locator.kind)];
    return html`${shown ? shown.call(this, locator) : nothing}
      ${page ? html`<explained-list .documentId=${documentId} .page=${page}></explained-list>` : nothing}
      <reading-view .documentId=${documentId} .start=${start} .end=${end} .quiet=${locator.kind === "pages"} .playing=${this.playing}></reading-view>`;
  }

  /** @param {string} text */
  passage(text) {
    const { snippet } = this.items[this.at].item;
    const at = text.indexOf(snippet);
    const [before, after] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + snippet.length)];
    return html`<blockquote class="reading" dir="auto"><p class="block">${before}${at < 0 ? nothing : html`<mark>${snippet}</mark>`}${after}</p></blockquote>`;
  }

  pageImage() {
    const { documentId, start, end } = /** @type {any} */ (this.span);
    return html`<page-image .documentId=${documentId} .start=${start} .end=${end}></page-image>`;
  }

  /** @param {any} locator */
  player(locator) {
    const { part, span } = this;
    const media = part?.media ?? "";
    const at = span?.start ?? 0;
    const read = media && part.start <= at && at < part.end;
    const block = read && part.blocks.find((/** @type {any} */ each) => each.end > at);
    const { start } = block ? block.locator : locator;
    return html`<media-player .documentId=${span?.documentId} .media=${media} .seconds=${start} .link=${this.items[this.at].item.link ?? ""}></media-player>`;
  }
}

/** Return a citation of a live session with the whole text of its passage. @param {any} item */
async function passageOf(item) {
  const { full_chunk_text: passage } = await getJson(`/v1/citations/${encodeURIComponent(item.id)}`);
  return passage ? { documentId: item.document_id, start: 0, end: 0, passage } : null;
}

/** Return the span of a citation, or of a sentence in it, or of a passage that was found. @param {any} item @param {string} words */
async function placeOf(item, words) {
  const documentId = item.document_id;
  if ("snippet_start" in item) {
    const [start, end] = [item.snippet_start, item.span_end || item.snippet_end];
    const whole = !words || lengthOf(item.snippet) === end - start;
    const within = spanOf(words, whole ? item.snippet : await textOf(documentId, start, end));
    return within ? { documentId, start: start + within[0], end: start + within[1] } : { documentId, start, end };
  }
  const path = `/v1/documents/${documentId}/passages?window=0&around=${item.chunk_id}`;
  const [passage] = (await getJson(path)).passages;
  const [first, last] = item.marked ?? [0, passage.end - passage.start];
  return { documentId, start: passage.start + first, end: passage.start + last };
}

/** Return the text of a span, its blocks at their offsets, "" without the document. @param {string} documentId @param {number} start @param {number} end */
async function textOf(documentId, start, end) {
  const path = `/v1/documents/${encodeURIComponent(documentId)}/reading?start=${start}&end=${end}&context=0`;
  const { blocks } = await getJson(path).catch(() => ({ blocks: [] }));
  let text = "";
  for (const each of blocks) text += " ".repeat(each.start - blocks[0].start - lengthOf(text)) + each.text;
  return blocks.length ? cut(text, start - blocks[0].start, end - blocks[0].start) : "";
}

customElements.define("proof-pane", ProofPane);
