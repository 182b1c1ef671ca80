/** Questions that one may ask, given or of a collection to begin with; tells `quoth-ask`. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, nothing } from "../vendor/lit.js";

class QuestionChips extends Base {
  static properties = { questions: { attribute: false }, collection: {}, found: { state: true } };

  constructor() {
    super();
    /** @type {string[] | null} null for those that a collection begins with */
    this.questions = null;
    /** the name of a collection, "" for the default one */
    this.collection = "";
    /** @type {string[]} */
    this.found = [];
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("collection") && !this.questions) this.load(this.collection);
  }

  /** @param {string} collection */
  async load(collection) {
    const query = collection ? `?${new URLSearchParams({ collection })}` : "";
    // They are a convenience: without them the page works.
    const { suggestions } = await getJson(`/v1/suggestions${query}`).catch(() => ({ suggestions: [] }));
    if (collection === this.collection) this.found = suggestions;
  }

  render() {
    const questions = this.questions ?? this.found;
    if (!questions.length) return nothing;
    return html`<section class="follow-ups"><h2>${t(this.questions ? "ask.followUps" : "ask.openings")}</h2>
      ${questions.map((question) => html`<button class="chip" @click=${() => this.tell("quoth-ask", { question })}>${question}</button>`)}</section>`;
  }
}

customElements.define("question-chips", QuestionChips);
