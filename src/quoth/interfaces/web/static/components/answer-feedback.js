/** Whether an answer helped: two buttons, the one that was pressed last counts. */
import { postJson, Problem } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { IDLE } from "../reduce.js";
import { html, nothing } from "../vendor/lit.js";

const RATINGS = { "feedback.good": 1, "feedback.bad": -1 };

class AnswerFeedback extends Base {
  static properties = {
    asking: { attribute: false },
    rating: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../reduce.js").Asking} */
    this.asking = IDLE;
    this.rating = 0;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    const before = /** @type {import("../reduce.js").Asking | undefined} */ (changed.get("asking"));
    if (before && before.queryId === this.asking.queryId && before.rating === this.asking.rating) return;
    if (changed.has("asking")) Object.assign(this, { rating: this.asking.rating, problem: "" });
  }

  /** @param {number} rating */
  async rate(rating) {
    const { queryId } = this.asking;
    const before = this.rating;
    this.rating = rating;
    await this.attempt(() => postJson("/v1/feedback", { query_id: queryId, rating }).catch((error) => {
      if (queryId === this.asking.queryId) this.rating = before;
      throw error instanceof Problem && error.status === 404 ? new Error(t("feedback.notKept")) : error;
    }));
  }

  render() {
    const { answer } = this.asking;
    if (!answer || answer.status === "small_talk") return nothing;
    return html`<div class="row" role="group" aria-label=${t("feedback.label")}>
        ${Object.entries(RATINGS).map(([name, rating]) => html`<button aria-pressed=${this.rating === rating ? "true" : "false"}
          @click=${() => this.rate(rating)}>${t(name)}</button>`)}
      </div>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}`;
  }
}

customElements.define("answer-feedback", AnswerFeedback);
