/** An answer: sentences with numbered markers and their support in words. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { paragraphs } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

const MARKER = /\[(\d+)\]/;

class AnswerView extends Base {
  static properties = {
    asking: { attribute: false },
    lit: { attribute: false },
    selected: { attribute: false },
    prefix: { attribute: false },
  };

  constructor() {
    super();
    /** @type {import("../reduce.js").Asking} */
    this.asking = /** @type {any} */ (null);
    /** @type {Set<number>} numbers of citations whose sentences light up */
    this.lit = new Set();
    this.selected = "";
    /** what ids begin with, where two answers are on one page */
    this.prefix = "";
  }

  render() {
    const { answer, text } = this.asking;
    const body = answer ? paragraphs(answer).map((each) => this.paragraph(each)) : this.provisional(text);
    return html`<div class="answer" aria-busy=${answer ? "false" : "true"}>${body}</div>
      ${answer ? this.rejected(answer) : nothing}`;
  }

  /** Text whose sentences are not verified yet. @param {string} text */
  provisional(text) {
    return text.split(/\n\s*\n/).map((each) => html`<p class="provisional">${each
      .split(MARKER)
      .map((part, at) => (at % 2 ? html`<sup class="number">${part}</sup>` : part))}</p>`);
  }

  /** @param {import("../text.js").Piece[]} pieces */
  paragraph(pieces) {
    return html`<p>${pieces.map((each) => (each.index < 0 ? html`${each.text} ` : this.sentence(each)))}</p>`;
  }

  /** @param {import("../text.js").Piece} piece */
  sentence(piece) {
    const id = `s${piece.index + 1}`;
    const lit = piece.citations.some((each) => this.lit.has(each)) ? "lit" : "";
    const chosen = this.selected === id ? "chosen" : "";
    const light = (/** @type {number[]} */ numbers) => () => this.tell("quoth-light", numbers);
    const tag = piece.support === "supported" ? nothing : html` <em class="tag">${t(`support.${piece.support}`)}</em>`;
    return html`<span id=${this.prefix + id} class="sentence ${piece.support} ${lit} ${chosen}"
      @mouseenter=${light(piece.citations)} @mouseleave=${light([])}
      @focusin=${light(piece.citations)} @focusout=${light([])}>${piece.text}${piece.citations.map((number) => this.marker(piece, number))}${tag}</span> `;
  }

  /** @param {import("../text.js").Piece} piece @param {number} number */
  marker(piece, number) {
    return html`<button class="number"
      aria-label=${t("answer.open", { number, support: t(`support.${piece.support}`) })}
      @click=${() => this.tell("quoth-open", { mark: `s${piece.index + 1}`, number })}>${number}</button>`;
  }

  /** Sentences that a model wrote and no source proves. @param {any} answer */
  rejected(answer) {
    if (!answer.rejected.length) return nothing;
    return html`<section class="rejected">
      <h2>${t("answer.rejected")}</h2>
      <ul>${answer.rejected.map((/** @type {any} */ each) => html`<li><s>${each.text}</s>
        ${each.reasons.length ? html`<small>${t("answer.reasons", { reasons: each.reasons.join(", ") })}</small>` : nothing}</li>`)}</ul>
    </section>`;
  }
}

customElements.define("answer-view", AnswerView);
