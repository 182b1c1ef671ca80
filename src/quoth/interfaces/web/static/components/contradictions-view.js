/** Citations that contradict each other, side by side. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { placeName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

class ContradictionsView extends Base {
  static properties = { answer: { attribute: false } };

  constructor() {
    super();
    /** @type {any} */
    this.answer = null;
  }

  render() {
    const pairs = this.answer?.contradictions ?? [];
    if (!pairs.length) return nothing;
    return html`<section class="contradictions"><h2>${t("contradictions.title")}</h2>
      ${pairs.map((/** @type {any} */ pair) => this.pair(pair))}</section>`;
  }

  /** @param {{first: number, second: number, about: string}} pair */
  pair({ first, second, about }) {
    return html`<p class="soft">${t("contradictions.about", { about })}</p>
      <div class="sides">${[first, second].map((number) => this.side(number))}</div>`;
  }

  /** @param {number} number of a citation */
  side(number) {
    const citation = this.answer.citations.find((/** @type {any} */ item) => item.number === number);
    if (!citation) return nothing;
    return html`<div class="side"><button class="title" @click=${() => this.tell("quoth-open", { mark: `c${number}` })}>
        <span class="number" aria-hidden="true">${number}</span> ${citation.document_name}</button>
      <p class="place">${placeName(citation.locator, t)}</p>
      <blockquote dir="auto">${citation.snippet}</blockquote></div>`;
  }
}

customElements.define("contradictions-view", ContradictionsView);
