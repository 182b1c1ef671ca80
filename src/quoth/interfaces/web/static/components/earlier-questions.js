/** The questions of a conversation before the one that is shown; opening one goes on from there. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { html } from "../vendor/lit.js";

class EarlierQuestions extends Base {
  static properties = { turns: { attribute: false } };

  constructor() {
    super();
    /** @type {{id: string, question: string}[]} */
    this.turns = [];
  }

  render() {
    return html`<nav class="earlier" aria-label=${t("ask.earlier")}><ol>${this.turns.map(({ id, question }) => html`<li><a href=${linkTo(`/q/${id}`)}>${question}</a></li>`)}</ol></nav>`;
  }
}

customElements.define("earlier-questions", EarlierQuestions);
