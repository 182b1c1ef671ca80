/** A question of the conversation and the beginning of its answer; opening either makes it the current turn. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { go, linkTo } from "../router.js";
import { beginningOf, DARK, markOf } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import "./answer-view.js";

class OtherTurn extends Base {
  static properties = { turn: { attribute: false }, whole: { state: true } };

  constructor() {
    super();
    /** @type {import("../conversation.js").Turn} */
    this.turn = { id: "", question: "", answer: "", sentences: [] };
    this.whole = false;
    // What lights up beside the current answer has the same numbers and is something else.
    this.addEventListener("quoth-light", (event) => event.stopPropagation());
    this.addEventListener("quoth-open", (event) => {
      event.stopPropagation();
      const { id, sentences } = this.turn;
      go(`/q/${id}#${markOf({ sentences }, /** @type {CustomEvent} */ (event).detail)}`);
    });
  }

  render() {
    const { turn: { id, question, answer: text, sentences }, whole } = this;
    const answer = { text, sentences, rejected: [] };
    const beginning = beginningOf(answer);
    const toggle = () => { this.whole = !whole; };
    return html`<article>
      <h2 class="clamped" dir="auto"><a href=${linkTo(`/q/${id}`)}>${question}</a></h2>
      <answer-view .asking=${{ answer: whole ? answer : beginning.answer, text }} .lit=${DARK}
        .prefix=${`${id}-`}></answer-view>
      ${beginning.cut
        ? html`<button aria-expanded=${whole} @click=${toggle}>${t(whole ? "less" : "more")}</button>`
        : nothing}
    </article>`;
  }
}

customElements.define("other-turn", OtherTurn);
