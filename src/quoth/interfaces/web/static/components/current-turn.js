/** The question that is shown, its answer, and the passages beside it; tells `quoth-retry`. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { IDLE, isRunning } from "../reduce.js";
import { linkTo } from "../router.js";
import { DARK, documentTitles, passages } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./answer-feedback.js";
import "./answer-view.js";
import "./contradictions-view.js";
import "./evidence-card.js";
import "./export-menu.js";
import "./filter-chips.js";
import "./question-chips.js";
import "./question-heading.js";
import "./status-note.js";

class CurrentTurn extends Base {
  static properties = {
    asking: { attribute: false },
    lit: { attribute: false },
    selected: { attribute: false },
    suggestions: { attribute: false },
    guest: { type: Boolean },
  };

  constructor() {
    super();
    /** @type {import("../reduce.js").Asking} */
    this.asking = IDLE;
    this.lit = DARK;
    /** the mark whose proof takes the place of the passages, "" for none */
    this.selected = "";
    /** @type {string[]} */
    this.suggestions = [];
    /** whether the visitor cannot read stored answers */
    this.guest = true;
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    // Beside a proof there is less room: the sentence may have moved out of sight.
    if (changed.has("selected")) this.reveal();
  }

  /** Scroll as far as the sentence that is open needs. */
  reveal() {
    if (this.selected) this.querySelector(`#${CSS.escape(this.selected)}`)?.scrollIntoView({ block: "nearest" });
  }

  /** Scroll to the question, and to the sentence that is open where that is further down. */
  arrive() {
    this.scrollIntoView();
    this.reveal();
    // What was activated is gone, or belongs to another answer now; the question box keeps its focus.
    const { activeElement, body } = document;
    const lost = !activeElement || activeElement === body || this.contains(activeElement);
    if (lost) this.querySelector("h1")?.focus({ preventScroll: true });
  }

  render() {
    const { asking } = this;
    const { question } = asking;
    return html`<section class="left">
        ${question
          ? html`<question-heading .question=${question}></question-heading>`
          : html`<h1 class="hidden">quoth</h1>`}
        <filter-chips .filters=${asking.answer?.query.filters ?? []}
          .titles=${documentTitles(passages(asking))}></filter-chips>
        <status-note .asking=${asking}></status-note>
        <answer-view .asking=${asking} .lit=${this.lit} .selected=${this.selected}></answer-view>
        <contradictions-view .answer=${asking.answer}></contradictions-view>
        ${isRunning(asking) ? nothing : this.actions()}
        ${this.guest ? nothing : html`<answer-feedback .asking=${asking}></answer-feedback>`}
        ${isRunning(asking) ? nothing : html`<question-chips .questions=${this.suggestions}></question-chips>`}
      </section>
      ${this.selected ? nothing : this.evidence()}`;
  }

  actions() {
    const { answer, question, queryId } = this.asking;
    const stored = html`<export-menu class="row" .asking=${this.asking} .guest=${this.guest}></export-menu>
      ${this.guest ? nothing : html`<a class="button" href=${linkTo(`/q/${queryId}/explain`)}>${t("answer.explain")}</a>`}`;
    return html`<div class="row actions">
        ${question ? html`<button @click=${() => this.tell("quoth-retry")}>${t("ask.retry")}</button>` : nothing}
        ${answer ? stored : nothing}
      </div>`;
  }

  /** @param {{item: any, mark: string}[]} items */
  cards(items) {
    return repeat(items, (each) => each.mark, ({ item, mark }) => html`<evidence-card .item=${item} .mark=${mark}
      .lit=${this.lit}></evidence-card>`);
  }

  evidence() {
    const { asking } = this;
    const items = passages(asking);
    const bare = ["failed", "broken"].includes(asking.phase) || asking.answer?.status === "small_talk";
    if (!items.length && bare) return nothing;
    const cited = items.filter((each) => "snippet" in each.item);
    const found = items.filter((each) => !cited.includes(each));
    return html`<section class="cards" aria-label=${t("evidence.title")}>
      <h2>${t(cited.length ? "evidence.cited" : "evidence.found")}</h2>
      ${this.cards(cited.length ? cited : found)}
      ${cited.length && found.length
        ? html`<details class="also"><summary>${t("evidence.also")}</summary>${this.cards(found)}</details>`
        : nothing}
      ${items.length || isRunning(asking) ? nothing : html`<p class="soft">${t("evidence.none")}</p>`}
      ${asking.answer && !this.guest
        ? html`<p><a href=${linkTo(`/q/${asking.queryId}/explain`)}>${t("explain.whyNot")}</a></p>`
        : nothing}
    </section>`;
  }
}

customElements.define("current-turn", CurrentTurn);
