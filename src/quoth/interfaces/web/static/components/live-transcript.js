/** What is said, with the citations behind it; follows the newest words unless the reader scrolls. Tells `quoth-cite`. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { languageName, t } from "../i18n.js";
import { citationsBySegment, EMPTY, paragraphsOf } from "../live.js";
import { clock, placeName } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./hover-tip.js";

const NEAR = 48;
const CAPTIONS = ["de", "en", "es", "fr", "it", "nl", "pt"];
/** windows before the one that is spoken which are translated too, when captions are switched on */
const BEHIND = 3;

class LiveTranscript extends Base {
  static properties = {
    state: { attribute: false },
    path: { attribute: false },
    translates: { type: Boolean },
    behind: { state: true },
    language: { state: true },
    captions: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../live.js").Live} */
    this.state = EMPTY;
    /** whether the reader has scrolled away from the newest words */
    this.behind = false;
    this.top = 0;
    /** the address of the session */
    this.path = "";
    /** whether captions are offered */
    this.translates = true;
    /** the language of the captions, none where it is empty */
    this.language = "";
    /** the captions by language, window and its last segment @type {Record<string, string>} */
    this.captions = {};
    this.first = 0;
    this.asking = false;
  }

  /** @param {{index: number, transcriptId: string}} window */
  key({ index, transcriptId }) {
    return `${this.language} ${index} ${transcriptId}`;
  }

  /** @param {Event} event */
  choose(event) {
    this.language = /** @type {HTMLSelectElement} */ (event.target).value;
    this.problem = "";
    this.first = Math.max(0, Object.keys(this.state.windows).length - BEHIND);
  }

  /** Have the windows translated that have no caption yet, one after the other. */
  async fetchCaptions() {
    const missing = () => Object.values(this.state.windows)
      .find((window) => window.index >= this.first && !(this.key(window) in this.captions));
    this.asking = true;
    await this.attempt(async () => {
      for (let window = missing(); this.language && window; window = missing()) {
        const key = this.key(window);
        const { text } = await getJson(`${this.path}/windows/${window.index}/caption?language=${this.language}`);
        this.captions = { ...this.captions, [key]: text };
      }
    });
    this.asking = false;
    if (!this.language) this.problem = ""; // switched off meanwhile
  }

  get box() {
    return /** @type {HTMLElement | null} */ (this.querySelector(".transcript"));
  }

  /** Only scrolling up leaves the newest words: the box also scrolls when words are added. */
  onScroll() {
    const { box } = this;
    if (!box) return;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < NEAR) this.behind = false;
    else if (box.scrollTop < this.top) this.behind = true;
    this.top = box.scrollTop;
  }

  /** Looks once more before words are added: the browser tells of scrolling a frame later. */
  willUpdate() {
    this.onScroll();
  }

  updated() {
    if (this.language && !this.asking && !this.problem) this.fetchCaptions();
    const { box } = this;
    if (!box) return;
    if (!this.behind) box.scrollTop = box.scrollHeight;
    this.top = box.scrollTop;
  }

  render() {
    const { segments, lecture } = this.state;
    const marks = citationsBySegment(this.state);
    return html`<div class="row"><h2 class="grow">${t("live.transcript")}</h2>
        ${this.translates ? html`<label class="soft">${t("live.captions")} <select @change=${this.choose} .value=${this.language}><option value="">${t("live.captionsOff")}</option>
          ${CAPTIONS.map((code) => html`<option value=${code}>${languageName(code)}</option>`)}</select></label>` : nothing}</div>
      ${this.language && !this.problem ? html`<p class="soft" role="status">${t("live.captionsNote")}</p>` : nothing}
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div class="transcript" role="region" tabindex="0" aria-label=${t("live.transcript")} lang=${lecture?.language ?? nothing} @scroll=${this.onScroll}>
        ${segments.length ? nothing : html`<p class="soft">${t("live.silent")}</p>`}
        ${repeat(paragraphsOf(segments), ([first]) => first.segment_id, (paragraph) => html`<p dir="auto">
          <span class="time">${clock(paragraph[0].start)}${paragraph[0].speaker ? ` · ${paragraph[0].speaker}` : nothing}</span>
          ${repeat(paragraph, (segment) => segment.segment_id, (segment) => html`<span class=${segment.final === false ? "provisional" : ""}>${segment.text}</span>${this.marks(marks.get(segment.segment_id) ?? [])} `)}
        </p>${this.caption(paragraph)}`)}
      </div>
      ${this.behind ? html`<button class="newest" @click=${() => { this.behind = false; }}>↓ ${t("live.newest")}</button>` : nothing}
      <hover-tip></hover-tip>`;
  }

  /** What a paragraph says in the language of the captions. @param {import("../live.js").Segment[]} paragraph */
  caption(paragraph) {
    const ids = new Set(paragraph.map(({ segment_id: id }) => id));
    const texts = this.language ? Object.values(this.state.windows)
      .filter(({ transcriptId }) => ids.has(transcriptId)).map((window) => this.captions[this.key(window)]) : [];
    return texts.some(Boolean) ? html`<p class="caption soft" lang=${this.language} dir="auto">${texts.join(" ")}</p>` : nothing;
  }

  /** @param {any[]} citations */
  marks(citations) {
    if (!citations.length) return nothing;
    return html`<sup class="marks">${repeat(citations, (citation) => citation.id, (citation) => {
      const name = `${citation.document_name}, ${placeName(citation.locator, t)}`;
      return html`<button class="number rank-${citation.rank}" data-tip=${name} aria-label=${t("live.mark", { rank: citation.rank, name })}
        @click=${() => this.tell("quoth-cite", citation.id)}>${citation.rank}</button>`;
    })}</sup>`;
  }
}

customElements.define("live-transcript", LiveTranscript);
