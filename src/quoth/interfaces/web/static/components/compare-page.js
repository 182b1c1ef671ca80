/** One question asked twice: of two collections, or in two ways, with the answers side by side. */
import { getJson, postJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { IDLE, reduce } from "../reduce.js";
import { go, linkTo } from "../router.js";
import { DARK } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import "./answer-view.js";
import { asFields, DEFAULTS } from "./choices-panel.js";
import "./evidence-card.js";
import "./status-note.js";

class ComparePage extends Base {
  static properties = {
    question: {},
    collections: { state: true },
    choices: { state: true },
    answers: { state: true },
    lit: { state: true },
  };

  constructor() {
    super();
    this.question = "";
    /** @type {any[]} */
    this.collections = [];
    /** what is chosen on either side */
    this.choices = [DEFAULTS, { ...DEFAULTS, mode: "keyword" }];
    this.answers = [IDLE, IDLE];
    this.lit = [DARK, DARK];
  }

  async connectedCallback() {
    super.connectedCallback();
    document.title = `${t("compare.title")} – quoth`;
    this.collections = (await getJson("/v1/collections").catch(() => ({ collections: [] }))).collections;
  }

  /** @param {number} side @param {any} event */
  apply(side, event) {
    this.answers = this.answers.with(side, reduce(this.answers[side], event));
  }

  /** @param {any} event */
  ask(event) {
    event.preventDefault();
    this.question = event.target.elements.question.value.trim();
    [0, 1].forEach((side) => this.askSide(side));
  }

  /** @param {number} side */
  async askSide(side) {
    this.apply(side, { event: "asked", question: this.question });
    try {
      const body = { query: this.question, ...asFields(this.choices[side], this.collections) };
      this.apply(side, { event: "done", answer: await (await postJson("/v1/query", body)).json() });
    } catch (error) {
      const { status, message } = /** @type {any} */ (error);
      this.apply(side, { event: "error", status, detail: message });
    }
  }

  render() {
    return html`<section class="page compare">
      <h1>${t("compare.title")}</h1><p class="lead">${t("compare.lead")}</p>
      <form class="inline" @submit=${this.ask}>
        <label>${t("ask.label")}<input name="question" minlength="3" maxlength="1000" required .value=${this.question}></label>
        <button class="primary">${t("compare.ask")}</button></form>
      <div class="sides">${[0, 1].map((side) => this.side(side))}</div>
    </section>`;
  }

  /** @param {number} side */
  side(side) {
    const asking = this.answers[side];
    const choose = (/** @type {CustomEvent} */ event) => { this.choices = this.choices.with(side, event.detail); };
    const light = (/** @type {CustomEvent} */ event) => { this.lit = this.lit.with(side, event.detail); };
    const open = (/** @type {CustomEvent} */ event) => go(`/q/${asking.queryId}#${event.detail.mark}`);
    return html`<section class="side" aria-label=${t("compare.side", { side: side + 1 })} @quoth-choose=${choose} @quoth-light=${light} @quoth-open=${open}>
      <choices-panel .collections=${this.collections} .choices=${this.choices[side]}></choices-panel>
      ${asking.phase === "idle" ? nothing : html`<status-note .asking=${asking}></status-note>
        <answer-view .asking=${asking} .lit=${this.lit[side]} .prefix=${`${side ? "b" : "a"}-`}></answer-view>
        ${asking.answer ? this.sources(asking) : nothing}`}
    </section>`;
  }

  /** @param {import("../reduce.js").Asking} asking */
  sources({ answer, queryId }) {
    const other = this.answers.find((asking) => asking.queryId !== queryId)?.answer;
    const known = new Set((other?.citations ?? []).map((/** @type {any} */ item) => item.snippet));
    return html`<p><a href=${linkTo(`/q/${queryId}`)}>${t("compare.open")}</a></p>
      <ul class="list">${answer.citations.map((/** @type {any} */ { number, document_name: name, snippet }) => html`<li>
        <span class="number" aria-hidden="true">${number}</span><span class="grow">${name}
        ${known.has(snippet) ? html`<span class="soft"> · ${t("compare.both")}</span>` : nothing}</span></li>`)}</ul>`;
  }
}

customElements.define("compare-page", ComparePage);
