/** One passage: a citation of the answer, or a passage that was found. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { around, cut, DARK, leftOut, placeName, spanOf } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import { originalLink } from "./original-link.js";

const MAX_BEFORE = 60;
const MAX_LINES_BEFORE = 2;

class EvidenceCard extends Base {
  static properties = {
    item: { attribute: false },
    mark: {},
    lit: { attribute: false },
  };

  constructor() {
    super();
    /** @type {any} */
    this.item = null;
    this.mark = "";
    this.lit = DARK;
  }

  render() {
    const { item } = this;
    const cited = "snippet" in item;
    const text = cited ? item.snippet : item.text;
    const lit = cited && this.lit.numbers.includes(item.number);
    // A passage is longer than its card: what is near its mark comes first, whichever part is lit.
    const first = item.marked ? leftOut(around(text, item.marked)[0], MAX_BEFORE, MAX_LINES_BEFORE) : 0;
    const [start, end] = (lit && spanOf(this.lit.words, text)) || item.marked || [0, 0];
    const [before, marked, after] = around(cut(text, first), start >= first ? [start - first, end - first] : null);
    // A plain file has no place to name.
    const about = [
      placeName(item.locator, t),
      cited && html`<span class="support ${item.support}">${t(`support.${item.support}`)}</span>`,
      item.changed && html`<span class="support partly">${t(`source.${item.changed}`)}</span>`,
    ].filter(Boolean);
    const light = () => this.tell("quoth-light", { numbers: cited ? [item.number] : [], words: "" });
    const dark = () => this.tell("quoth-light", DARK);
    return html`<article id=${this.mark} class="card ${lit ? "lit" : ""} ${cited ? "" : "found"}"
      @mouseenter=${light} @mouseleave=${dark} @focusin=${light} @focusout=${dark}>
      <h3>${cited ? html`<span class="number" aria-hidden="true">${item.number}</span>` : nothing}
        <button class="title" @click=${() => this.tell("quoth-open", { mark: this.mark })}>${item.document_name ?? item.document}</button></h3>
      ${about.length ? html`<p class="place">${about.map((each, at) => html`${at ? " · " : ""}${each}`)}</p>` : nothing}
      <blockquote dir="auto">${first ? html`<span class="early">${cut(text, 0, first)}</span><span class="ellipsis">… </span>` : nothing}${before}${marked ? html`<mark>${marked}</mark>` : nothing}${after}</blockquote>
      ${originalLink(item)}
    </article>`;
  }
}

customElements.define("evidence-card", EvidenceCard);
