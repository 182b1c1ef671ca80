/** A conversation: its turns in their order, one of them as the current turn. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { IDLE } from "../reduce.js";
import { DARK } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./current-turn.js";
import "./other-turn.js";

class ThreadView extends Base {
  static properties = {
    turns: { attribute: false },
    at: { type: Number },
    asking: { attribute: false },
    lit: { attribute: false },
    selected: { attribute: false },
    suggestions: { attribute: false },
    guest: { type: Boolean },
  };

  constructor() {
    super();
    /** @type {import("../conversation.js").Turn[]} */
    this.turns = [];
    /** the place of the current turn among them; that of a new one is after the last */
    this.at = 0;
    /** @type {import("../reduce.js").Asking} */
    this.asking = IDLE;
    this.lit = DARK;
    /** the mark whose proof is open beside the answer, "" for none */
    this.selected = "";
    /** @type {string[]} */
    this.suggestions = [];
    /** whether the visitor cannot read stored answers */
    this.guest = true;
  }

  render() {
    const { turns, at, asking, lit, selected } = this;
    const last = at >= turns.length - 1;
    return html`${others(turns.slice(0, at), "ask.earlier")}
      <current-turn class=${last && at ? "latest" : ""} .asking=${asking} .lit=${lit} .selected=${selected}
        .suggestions=${last ? this.suggestions : []} .guest=${this.guest}></current-turn>
      ${others(turns.slice(at + 1), "ask.later")}`;
  }
}

/** @param {import("../conversation.js").Turn[]} turns @param {string} label the message that names them */
function others(turns, label) {
  if (!turns.length) return nothing;
  return html`<section class="turns" aria-label=${t(label)}>
    ${repeat(turns, ({ id }) => id, (turn) => html`<other-turn .turn=${turn}></other-turn>`)}</section>`;
}

customElements.define("thread-view", ThreadView);
