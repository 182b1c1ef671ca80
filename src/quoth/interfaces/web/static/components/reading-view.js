/** The stored text of a document around a span, with the span marked and scrolled to. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { rowUnder, withTables } from "../tables.js";
import { around, clock, isSafeLink, lengthOf, linePath, placeName } from "../text.js";
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
    broken: { state: true },
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
    /** why the text before or after could not be read */
    this.broken = "";
    /** @type {any} */
    this.part = null;
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

  /** @param {string} documentId @param {Record<string, unknown>} query */
  read(documentId, query) {
    const words = Object.entries(query).map(([key, value]) => `${key}=${value}`);
    return getJson(`/v1/documents/${encodeURIComponent(documentId)}/reading?${words.join("&")}`);
  }

  async load() {
    const { start, end } = this;
    const wanted = `${this.documentId} ${start} ${end}`;
    this.wanted = wanted;
    try {
      const part = await this.read(this.documentId, end === null ? { start, context: MORE } : { start, end, context: CONTEXT });
      if (this.wanted !== wanted) return;
      this.fresh = true;
      this.problem = "";
      this.broken = "";
      this.part = part;
      this.tell("quoth-read", part);
    } catch (error) {
      this.part = null;
      this.problem = /** @type {Error} */ (error).message;
      this.tell("quoth-unread");
    }
  }

  /** Read what comes before or after, null where that fails. @param {Record<string, unknown>} query */
  async readOn(query) {
    this.broken = "";
    return this.read(this.part.document_id, query).catch((error) => {
      this.broken = error.message;
      return null;
    });
  }

  async earlier() {
    const { part } = this;
    const more = await this.readOn({ start: Math.max(0, part.start - MORE), end: part.start, context: 0 });
    if (!more || this.part !== part) return;
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
    const more = await this.readOn({ start: part.end, context: MORE });
    if (!more || this.part !== part) return;
    const blocks = more.blocks.filter((/** @type {any} */ each) => each.start >= part.end);
    this.part = { ...part, end: more.end, blocks: [...part.blocks, ...blocks] };
  }

  render() {
    if (this.problem) return html`<p class="problem" role="alert">${this.problem}</p>`;
    if (!this.part) return html`<p class="soft">${t("loading")}</p>`;
    const { start, end, total_chars: total, blocks, language } = this.part;
    const groups = withTables(blocks);
    return html`<div class="reading" lang=${language ?? nothing} dir="auto">
      ${start > 0 ? html`<button lang="" @click=${this.earlier}>${t("proof.earlier")}</button>` : nothing}
      ${repeat(groups, ({ block }) => block.start, (group, at) => this.group(group, groups[at - 1]))}
      ${end < total ? html`<button lang="" @click=${this.later}>${t("proof.later")}</button>` : nothing}
    </div>
    ${this.broken ? html`<p class="problem" role="alert">${this.broken}</p>` : nothing}`;
  }

  /** A block, or a table of several. @param {any} group @param {any} above the group before */
  group({ block, header, rows }, above) {
    const previous = above && (above.rows.at(-1) ?? above.block);
    if (!rows.length) return this.block(block, previous);
    const names = header.map((/** @type {any} */ cell) => cell.text);
    return html`${this.heading(block, previous)}<div class="scroll"><table class="rows">
      <thead><tr><td class="time">${this.place(block, previous)}</td>${header.map((/** @type {any} */ cell) => html`<th scope="col">${this.text(block, cell)}</th>`)}</tr></thead>
      <tbody>${rows.map((/** @type {any} */ row, /** @type {number} */ at) => html`<tr><td class="time">${this.place(row, rows[at - 1] ?? block)}</td>
        ${rowUnder(row.text, names)?.map((cell) => html`<td>${cell ? this.text(row, cell) : nothing}</td>`)}</tr>`)}</tbody></table></div>`;
  }

  /** What stands above a block where a section begins. @param {any} block @param {any} previous */
  heading(block, previous) {
    const heading = block.section.join(" ▸ ");
    const isNew = heading && heading !== previous?.section.join(" ▸ ");
    return isNew ? html`<p class="section">${heading}</p>` : nothing;
  }

  /** @param {any} block @param {any} previous */
  block(block, previous) {
    const { kind, start, end, speaker } = block.locator;
    const timed = kind === "seconds"; // Other texts write their speakers themselves.
    const now = timed && start <= this.playing && this.playing < end;
    return html`${this.heading(block, previous)}
      ${timed && speaker && speaker !== previous?.locator.speaker ? html`<p class="section">${speaker}</p>` : nothing}
      <p class="block ${kind} ${now ? "playing" : ""}">${this.place(block, previous)}<span>${this.text(block)}</span></p>`;
  }

  /** The time of a line of a talk, or the page where a new one begins. @param {any} block @param {any} previous */
  place(block, previous) {
    const { kind } = block.locator;
    const { unit } = block.locator;
    if (kind !== "seconds" && (!unit || block.label === previous?.label)) return nothing;
    const label = kind === "seconds" ? clock(block.locator.start) : this.counted(block);
    if (kind === "seconds" && this.part.media) {
      return html`<button class="time" @click=${() => this.tell("quoth-seek", block.locator.start)}>${label}</button> `;
    }
    if (kind !== "seconds") return html`<span class="time">${label}</span> `;
    // Without an address of its recording a line is shown on the page of the document.
    if (!isSafeLink(block.link) || block.link.startsWith("/")) return html`<a class="time" href=${linkTo(linePath(this.part.document_id, block))}>${label}</a> `;
    return html`<a class="time" href=${block.link} target="_blank" rel="noopener noreferrer">${label}</a> `;
  }

  /** The page, slide, row or line of a block, whose section stands above it. @param {any} block */
  counted(block) {
    return placeName({ ...block.locator, section: null }, t);
  }

  /** A block with what is quoted of it marked, or a part of it. @param {any} block @param {{text: string, at: number}} [part] */
  text(block, { text, at } = { text: block.text, at: 0 }) {
    const { span } = this.part;
    const first = block.start + lengthOf(block.text.slice(0, at));
    const last = first + lengthOf(text);
    if (!span || span.start >= last || span.end <= first) return text;
    const [before, inside, after] = around(text, [Math.max(first, span.start) - first, Math.min(last, span.end) - first]);
    return html`${before}<mark>${inside}</mark>${after}`;
  }
}

customElements.define("reading-view", ReadingView);
