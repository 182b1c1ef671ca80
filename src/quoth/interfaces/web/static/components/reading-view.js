/** The stored text of a document around a span, with the span marked and scrolled to. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { around, clock, isSafeLink, linePath, placeName } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const CONTEXT = 1500;
const MORE = 4000;

class ReadingView extends Base {
  static properties = {
    documentId: {},
    start: { type: Number },
    end: { type: Number },
    quiet: { type: Boolean },
    playing: { type: Number },
    part: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.documentId = "";
    this.start = 0;
    /** @type {number | null} */
    this.end = null;
    this.quiet = false;
    /** the second that is played, -1 for none */
    this.playing = -1;
    this.asked = -1;
    /** @type {any} */
    this.part = null;
    this.problem = "";
    this.wanted = "";
    this.fresh = false;
    /** @type {Element | null} */
    this.line = null;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (["documentId", "start", "end"].some((each) => changed.has(each))) this.load();
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has("playing")) this.followPlaying();
    if (!changed.has("part") || !this.fresh || !this.part) return;
    this.fresh = false;
    if (!this.quiet) this.scrollToMark();
  }

  /** Keep the line that is played in the window, and fetch what comes after the last one. */
  followPlaying() {
    const line = this.querySelector(".playing");
    if (line && line !== this.line) line.scrollIntoView({ block: "nearest" });
    this.line = line;
    const { part, playing } = this;
    const last = part?.blocks[part.blocks.length - 1];
    const more = playing >= 0 && last && playing > last.locator.start && part.end < part.total_chars;
    if (more && this.asked !== part.end) {
      this.asked = part.end;
      this.later();
    }
  }

  scrollToMark() {
    this.querySelector("mark")?.scrollIntoView({ block: "center" });
  }

  /** @param {Record<string, unknown>} query */
  read(query) {
    const words = Object.entries(query).map(([key, value]) => `${key}=${value}`);
    return getJson(`/v1/documents/${encodeURIComponent(this.documentId)}/reading?${words.join("&")}`);
  }

  async load() {
    const { start, end } = this;
    const wanted = `${this.documentId} ${start} ${end}`;
    this.wanted = wanted;
    try {
      const part = await this.read(end === null ? { start, context: MORE } : { start, end, context: CONTEXT });
      if (this.wanted !== wanted) return;
      this.fresh = true;
      this.problem = "";
      this.part = part;
      this.tell("quoth-read", part);
    } catch (error) {
      this.part = null;
      this.problem = /** @type {Error} */ (error).message;
      this.tell("quoth-unread");
    }
  }

  async earlier() {
    const { part } = this;
    const more = await this.read({ start: Math.max(0, part.start - MORE), end: part.start, context: 0 });
    const blocks = more.blocks.filter((/** @type {any} */ each) => each.start < part.start);
    const box = this.closest("dialog") ?? document.documentElement;
    const below = box.scrollHeight - box.scrollTop;
    const start = blocks.length ? Math.min(more.start, part.start) : 0;
    this.part = { ...part, start, blocks: [...blocks, ...part.blocks] };
    await this.updateComplete;
    // What was read stays where it was.
    box.scrollTop = box.scrollHeight - below;
  }

  async later() {
    const { part } = this;
    const more = await this.read({ start: part.end, context: MORE });
    const blocks = more.blocks.filter((/** @type {any} */ each) => each.start >= part.end);
    this.part = { ...part, end: more.end, blocks: [...part.blocks, ...blocks] };
  }

  render() {
    if (this.problem) return html`<p class="problem" role="alert">${this.problem}</p>`;
    if (!this.part) return html`<p class="soft">${t("loading")}</p>`;
    const { start, end, total_chars: total, blocks, language } = this.part;
    return html`<div class="reading" lang=${language ?? nothing} dir="auto">
      ${start > 0 ? html`<button lang="" @click=${this.earlier}>${t("proof.earlier")}</button>` : nothing}
      ${repeat(blocks, (/** @type {any} */ each) => each.start, (each, at) => this.block(each, blocks[at - 1]))}
      ${end < total ? html`<button lang="" @click=${this.later}>${t("proof.later")}</button>` : nothing}
    </div>`;
  }

  /** @param {any} block @param {any} previous */
  block(block, previous) {
    const heading = block.section.join(" ▸ ");
    const isNew = heading && heading !== previous?.section.join(" ▸ ");
    const { kind, start, end, speaker } = block.locator;
    const now = kind === "seconds" && start <= this.playing && this.playing < end;
    return html`${isNew ? html`<p class="section">${heading}</p>` : nothing}
      ${speaker && speaker !== previous?.locator.speaker ? html`<p class="section">${speaker}</p>` : nothing}
      <p class="block ${kind} ${now ? "playing" : ""}">${this.place(block, previous)}<span>${this.text(block)}</span></p>`;
  }

  /** The time of a line of a talk, or the page where a new one begins. @param {any} block @param {any} previous */
  place(block, previous) {
    const { kind } = block.locator;
    const { unit } = block.locator;
    if (kind !== "seconds" && (!unit || block.label === previous?.label)) return nothing;
    const label = kind === "seconds" ? clock(block.locator.start) : this.counted(block);
    if (kind === "seconds" && this.parentElement?.querySelector("video, audio")) {
      return html`<button class="time" @click=${() => this.tell("quoth-seek", block.locator.start)}>${label}</button> `;
    }
    if (kind !== "seconds") return html`<span class="time">${label}</span> `;
    // Without an address of its recording a line is shown on the page of the document.
    if (!isSafeLink(block.link) || block.link.startsWith("/")) return html`<a class="time" href=${linkTo(linePath(this.documentId, block))}>${label}</a> `;
    return html`<a class="time" href=${block.link} target="_blank" rel="noopener noreferrer">${label}</a> `;
  }

  /** The page, slide, row or line of a block, whose section stands above it. @param {any} block */
  counted(block) {
    return placeName({ ...block.locator, section: null }, t);
  }

  /** @param {any} block */
  text(block) {
    const { span } = this.part;
    if (!span || span.start >= block.end || span.end <= block.start) return block.text;
    const marked = /** @type {[number, number]} */ ([Math.max(0, span.start - block.start), Math.min(block.end, span.end) - block.start]);
    const [before, inside, after] = around(block.text, marked);
    return html`${before}<mark>${inside}</mark>${after}`;
  }
}

customElements.define("reading-view", ReadingView);
