/** An answer: sentences with numbered markers and their support in words. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { DARK, paragraphs } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

const LONGEST_WORD = 24;
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
    this.lit = DARK;
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
    return text.split(/\n\s*\n/).map((each) => html`<p class="provisional" dir="auto">${each
      .split(MARKER)
      .map((part, at) => (at % 2 ? html`<sup class="number">${part}</sup>` : part))}</p>`);
  }

  /** @param {import("../text.js").Piece[]} pieces */
  paragraph(pieces) {
    return html`<p dir="auto">${pieces.map((each, at) => html`${each.line ? "\n" : ""}${each.mark
      ? this.sentence(each, isRepeated(each, pieces[at + 1]), proofOf(pieces, at)) : `${each.text} `}`)}</p>`;
  }

  /**
   * @param {import("../text.js").Piece} piece @param {boolean} repeated whether the next one has the same markers
   * @param {string} proof the mark that its markers open, "" for the whole citation
   */
  sentence(piece, repeated, proof) {
    const { numbers, words } = this.lit;
    const lit = words ? words === piece.text : piece.citations.some((each) => numbers.includes(each));
    const chosen = this.selected === piece.mark ? "chosen" : "";
    // A marker stays on the line of the word before it, unless that is as long as an address.
    const [last = ""] = /\S+$/.exec(piece.text) ?? [];
    const at = piece.text.length - (last.length > LONGEST_WORD ? 0 : last.length);
    const light = () => this.tell("quoth-light", { numbers: piece.citations, words: piece.text });
    const dark = () => this.tell("quoth-light", DARK);
    const tag = piece.support === "supported" ? nothing : html` <em class="tag">${t(`support.${piece.support}`)}</em>`;
    return html`<span id=${this.prefix + piece.mark} class="sentence ${piece.support} ${piece.telling ? "telling" : ""} ${lit ? "lit" : ""} ${chosen}"
      @mouseenter=${light} @mouseleave=${dark} @focusin=${light} @focusout=${dark}
      @click=${(/** @type {any} */ event) => this.opened(event, piece)}>${piece.text.slice(0, at)}<span class="keep">${piece.text.slice(at)}${piece.citations.map((number) => this.marker(piece, number, repeated, proof))}</span>${tag}</span> `;
  }

  /** Open the proof of a sentence that is clicked, unless its text is being selected. @param {any} event @param {import("../text.js").Piece} piece */
  opened(event, piece) {
    if (event.target.closest("button") || String(getSelection()) || !piece.citations.length) return;
    this.tell("quoth-open", { mark: piece.mark, number: piece.citations[0] });
  }

  /** @param {import("../text.js").Piece} piece @param {number} number @param {boolean} repeated @param {string} proof */
  marker(piece, number, repeated, proof) {
    return html`<button class="number ${repeated ? "hidden" : ""}"
      aria-label=${t("answer.open", { number, support: t(`support.${piece.support}`) })}
      @click=${() => this.tell("quoth-open", { mark: proof || `c${number}`, number })}>${number}</button>`;
  }

  /** Sentences that a model wrote and no source proves. @param {any} answer */
  rejected(answer) {
    if (!answer.rejected.length) return nothing;
    return html`<section class="rejected">
      <h2>${t("answer.rejected")}</h2>
      <ul>${answer.rejected.map((/** @type {any} */ each) => html`<li><s>${each.text}</s>
        ${reasonsOf(each.reasons).map((told) => html`<small>${told}</small>`)}</li>`)}</ul>
    </section>`;
  }
}

/**
 * Return why a sentence is not proved, in words. @param {string[]} reasons
 */
function reasonsOf(reasons) {
  const elsewhere = reasons.filter((each) => each.startsWith("elsewhere "));
  const omitted = reasons.filter((each) => each.startsWith("omitted "));
  const missing = reasons.filter((each) => !elsewhere.includes(each) && !omitted.includes(each));
  return [
    missing.length && t("answer.reasons", { reasons: missing.join(", ") }),
    elsewhere.length && t("answer.reasonsElsewhere", { reasons: elsewhere.map((each) => each.slice(10)).join(", ") }),
    omitted.length && t("answer.reasonsOmitted", { reasons: omitted.map((each) => each.slice(8)).join(", ") }),
  ].filter(Boolean);
}

/**
 * Return whether the next sentence has the same markers: then they are shown after that one only.
 * @param {import("../text.js").Piece} piece @param {import("../text.js").Piece | undefined} next
 */
function isRepeated(piece, next) {
  return String(piece.citations) === String(next?.citations) && piece.support === next?.support;
}

/**
 * Return the mark of what the markers of a sentence open: its own, but those after several sentences open the one
 * that tells most, or all of the citation ("").
 * @param {import("../text.js").Piece[]} pieces @param {number} at
 */
function proofOf(pieces, at) {
  let first = at;
  while (first > 0 && isRepeated(pieces[first - 1], pieces[at])) first -= 1;
  if (first === at || isRepeated(pieces[at], pieces[at + 1])) return pieces[at].mark;
  return pieces.slice(first, at + 1).find((each) => each.telling)?.mark ?? "";
}

customElements.define("answer-view", AnswerView);
