/** One passage: a citation of the answer, or a passage that was found. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { around, isSafeLink, placeName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

const MAX_BEFORE = 60;

class EvidenceCard extends Base {
  static properties = {
    item: { attribute: false },
    mark: {},
    lit: { type: Boolean },
  };

  constructor() {
    super();
    /** @type {any} */
    this.item = null;
    this.mark = "";
    this.lit = false;
  }

  render() {
    const { item } = this;
    const cited = "snippet" in item;
    const [whole, marked, after] = around(cited ? item.snippet : item.text, item.marked);
    // A passage that was found is long: what is near the question comes first.
    const before = cited || !marked || whole.length < MAX_BEFORE ? whole : `… ${whole.slice(-MAX_BEFORE).replace(/^\S*\s+/, "")}`;
    const light = (/** @type {number[]} */ numbers) => () => this.tell("quoth-light", numbers);
    const numbers = cited ? [item.number] : [];
    return html`<article id=${this.mark} class="card ${this.lit ? "lit" : ""} ${cited ? "" : "found"}"
      @mouseenter=${light(numbers)} @mouseleave=${light([])} @focusin=${light(numbers)} @focusout=${light([])}>
      <h3>${cited ? html`<span class="number" aria-hidden="true">${item.number}</span>` : nothing}
        <button class="title" @click=${() => this.tell("quoth-open", { mark: this.mark })}>${item.document_name ?? item.document}</button></h3>
      <p class="place">${placeName(item.locator, t)}${cited
        ? html` · <span class="support ${item.support}">${t(`support.${item.support}`)}</span>`
        : nothing}${item.changed ? html` · <span class="support partly">${t(`source.${item.changed}`)}</span>` : nothing}</p>
      <blockquote dir="auto">${before}${marked ? html`<mark>${marked}</mark>` : nothing}${after}</blockquote>
      ${isSafeLink(item.link)
        ? html`<a class="original" href=${linkTo(item.link)} target="_blank" rel="noopener noreferrer">${t("proof.original")}</a>`
        : nothing}
    </article>`;
  }
}

customElements.define("evidence-card", EvidenceCard);
