/** What is said, with the citations behind it; follows the newest words unless the reader scrolls. Tells `quoth-cite`. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { citationsBySegment, EMPTY, paragraphsOf } from "../live.js";
import { clock, placeName } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./hover-tip.js";

const NEAR = 48;

class LiveTranscript extends Base {
  static properties = { state: { attribute: false }, behind: { state: true } };

  constructor() {
    super();
    /** @type {import("../live.js").Live} */
    this.state = EMPTY;
    /** whether the reader has scrolled away from the newest words */
    this.behind = false;
    this.top = 0;
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
    const { box } = this;
    if (!box) return;
    if (!this.behind) box.scrollTop = box.scrollHeight;
    this.top = box.scrollTop;
  }

  render() {
    const { segments, lecture } = this.state;
    const marks = citationsBySegment(this.state);
    return html`<div class="row"><h2>${t("live.transcript")}</h2></div>
      <div class="transcript" role="region" tabindex="0" aria-label=${t("live.transcript")} lang=${lecture?.language ?? nothing} @scroll=${this.onScroll}>
        ${segments.length ? nothing : html`<p class="soft">${t("live.silent")}</p>`}
        ${repeat(paragraphsOf(segments), ([first]) => first.segment_id, (paragraph) => html`<p dir="auto">
          <span class="time">${clock(paragraph[0].start)}${paragraph[0].speaker ? ` · ${paragraph[0].speaker}` : nothing}</span>
          ${repeat(paragraph, (segment) => segment.segment_id, (segment) => html`<span class=${segment.final === false ? "provisional" : ""}>${segment.text}</span>${this.marks(marks.get(segment.segment_id) ?? [])} `)}
        </p>`)}
      </div>
      ${this.behind ? html`<button class="newest" @click=${() => { this.behind = false; }}>↓ ${t("live.newest")}</button>` : nothing}
      <hover-tip></hover-tip>`;
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
