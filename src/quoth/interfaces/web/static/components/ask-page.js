/** The page of a question: box, answer, evidence and the proof beside it. */
import { askStream, getJson, Problem, recoveredAnswer, storedAnswer } from "../api.js";
import { Base } from "../base.js";
import { historyOf, keepTurns, turnsBefore, turnsUntil } from "../conversation.js";
import { t } from "../i18n.js";
import { IDLE, isRunning, reduce } from "../reduce.js";
import { go, linkTo } from "../router.js";
import { aboutService } from "../service.js";
import { DARK, documentTitles, openedAt, passages, sentenceAt, wordsAt } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./answer-view.js";
import "./ask-box.js";
import { asFields, choicesOf, DEFAULTS, fittedTo } from "./choices-panel.js";
import "./contradictions-view.js";
import "./earlier-questions.js";
import "./evidence-card.js";
import "./export-menu.js";
import "./filter-chips.js";
import "./first-run.js";
import "./proof-pane.js";
import "./question-chips.js";
import "./question-heading.js";
import "./status-note.js";

class AskPage extends Base {
  static properties = {
    route: { attribute: false },
    asking: { state: true },
    lit: { state: true },
    collections: { state: true },
    choices: { state: true },
    suggestions: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../router.js").Route} */
    this.route = { page: "ask", id: "", mark: "", question: "", start: 0, end: null, view: "" };
    this.asking = IDLE;
    this.lit = DARK;
    /** @type {any[] | null} null until they are known */
    this.collections = null;
    this.choices = DEFAULTS;
    /** @type {string[]} */
    this.suggestions = [];
    /** @type {import("../conversation.js").Turn[]} the conversation so far */
    this.turns = [];
    /** @type {Record<string, string>} */
    this.filters = {};
    /** @type {AbortController | null} */
    this.abort = null;
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = "quoth";
    this.loadCollections();
    /** @type {Record<string, (detail: any) => void>} */
    const heard = {
      "quoth-light": (light) => { this.lit = light; },
      "quoth-open": (opened) => this.openProof(opened),
      "quoth-ask": ({ question }) => this.ask(question),
      "quoth-stop": () => this.stop(),
      "quoth-choose": (choices) => { this.choices = choices; },
      "quoth-widen": (filters) => this.ask(this.asking.question, { ...this.filters, ...filters }),
      "quoth-walk": (at) => this.goTo(this.items()[at].mark, true),
      "quoth-close": () => this.goTo(""),
      "quoth-filled": () => this.loadCollections(),
    };
    for (const [name, act] of Object.entries(heard)) {
      this.addEventListener(name, (event) => act(/** @type {CustomEvent} */ (event).detail));
    }
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.abort?.abort();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("route")) this.follow();
  }

  /** Keep the conversation with its address, for when the page is loaded again. @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has("route") || changed.has("asking")) keepTurns(this.route.id, this.turns);
  }

  /** Show the answer of the address, unless it is shown already. */
  follow() {
    const { id, question } = this.route;
    if (id && id !== this.asking.queryId) this.restore(id);
    // The address of a question that is being answered holds its words.
    if (!id && this.asking.phase !== "idle" && !(question && isRunning(this.asking))) this.clear();
  }

  clear() {
    this.abort?.abort();
    document.title = "quoth";
    this.asking = IDLE;
    this.turns = [];
    this.suggestions = [];
  }

  /** @param {any} event */
  apply(event) {
    this.asking = reduce(this.asking, event);
    document.title = this.asking.question ? `${this.asking.question} – quoth` : "quoth";
  }

  loadCollections() {
    return this.load("/v1/collections", ({ collections }) => {
      Object.assign(this, { collections, choices: fittedTo(collections, this.choices) });
    });
  }

  /** @param {string} path @param {(body: any) => void} use */
  async load(path, use) {
    try {
      use(await getJson(path));
    } catch {
      // What is loaded beside the answer is a convenience: without it the page works.
    }
  }

  /** @param {string} question @param {Record<string, string>} [filters] @param {{anew?: boolean}} [options] */
  async ask(question, filters = {}, { anew = false } = {}) {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.filters = filters;
    this.suggestions = [];
    this.turns = turnsBefore(question, this.asking.queryId, this.turns);
    this.apply({ event: "asked", question });
    // A page that is loaded again meanwhile has the question in its box.
    go(`/?${new URLSearchParams({ question })}`);
    try {
      for await (const event of askStream({ ...this.body(question), ...(anew && { cache: "none" }) }, abort.signal)) {
        if (abort.signal.aborted) return;
        this.apply(event);
        if (event.event === "done") this.completed();
      }
      if (isRunning(this.asking)) await this.recover();
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof Problem) this.apply({ event: "error", status: error.status, detail: error.message });
      else await this.recover();
    }
  }

  /** @param {string} query */
  body(query) {
    return { query, history: historyOf(this.turns), filters: this.filters, ...asFields(this.choices) };
  }

  completed() {
    const { queryId, question, answer } = this.asking;
    this.turns = [...this.turns, { id: queryId, question, answer: answer.text }];
    go(`/q/${queryId}`, { replace: true });
    this.suggest(queryId);
  }

  /** @param {string} queryId */
  suggest(queryId) {
    this.load(`/v1/suggestions?after=${queryId}`, (body) => { this.suggestions = body.suggestions; });
  }

  /** The stream broke: the answer may have been stored, or will be by a service that stops or restarts. */
  async recover() {
    const { abort, asking: { queryId } } = this;
    if (queryId) this.apply({ event: "recovering" });
    const record = abort && queryId ? await recoveredAnswer(queryId, abort.signal) : null;
    if (abort?.signal.aborted) return;
    if (record) {
      this.show(queryId, record);
      go(`/q/${queryId}`, { replace: true });
    } else {
      this.apply({ event: "broken" });
    }
  }

  /** Show a stored answer, or why it cannot be shown. @param {string} id */
  async restore(id) {
    this.abort?.abort();
    try {
      this.show(id, await storedAnswer(id));
    } catch (error) {
      const detail = error instanceof Problem ? error.message : t("status.offline");
      this.asking = reduce({ ...IDLE, queryId: id }, { event: "error", detail });
    }
  }

  /** Ask the next questions as a stored one was asked. @param {any} options */
  async adopt(options) {
    const { asking: { queryId } } = this;
    const { collection } = await aboutService();
    if (queryId !== this.asking.queryId) return;
    this.filters = options.filters;
    this.choices = choicesOf(options, collection);
  }

  /** Show a stored answer. @param {string} id @param {any} record */
  show(id, record) {
    this.turns = turnsUntil(id, this.turns) ?? [{ id, question: record.question, answer: record.answer.text }];
    this.apply({ event: "restored", question: record.question, answer: record.answer });
    this.adopt(record.options);
    this.suggest(id);
  }

  stop() {
    this.abort?.abort();
    this.apply({ event: "stopped" });
  }

  async startAnew() {
    this.clear();
    go("/");
    await this.updateComplete;
    /** @type {any} */ (this.querySelector("ask-box")).focusBox();
  }

  items() {
    return passages(this.asking);
  }

  /** @param {string} mark @param {boolean} [replace] */
  goTo(mark, replace = false) {
    go(`/q/${this.asking.queryId}${mark && `#${mark}`}`, { replace });
  }

  /** Open the first citation of a sentence by the sentence, any other by its own number. @param {{mark: string, number?: number}} opened */
  openProof({ mark, number }) {
    const sentence = sentenceAt(this.asking, mark);
    const first = !sentence || sentence.citations[0] === number;
    this.goTo(first ? mark : `c${number}`);
  }

  render() {
    const idle = this.asking.phase === "idle" && !this.route.id;
    const earlier = this.turns.filter((each) => each.id !== this.asking.queryId);
    const at = this.route.id && this.route.id === this.asking.queryId ? openedAt(this.asking, this.route.mark) : -1;
    return html`<div class="asking ${idle ? "idle" : ""} ${at >= 0 ? "with-proof" : ""}">
      <section class="left">
        ${earlier.length ? html`<earlier-questions .turns=${earlier}></earlier-questions>` : nothing}
        ${idle ? html`<h1>${t("ask.title")}</h1><p class="lead">${t("ask.lead")}</p>` : nothing}
        <ask-box .value=${idle ? this.route.question : ""} .following=${this.turns.length > 0} .running=${isRunning(this.asking)}
          .collections=${this.collections ?? []} .choices=${this.choices}></ask-box>
        ${idle ? this.firstRun() : this.answered(at)}
      </section>
      ${idle ? nothing : this.side(at)}
    </div>`;
  }

  firstRun() {
    if (!this.collections) return nothing;
    const filled = this.collections.some((each) => each.documents);
    return filled ? html`<question-chips .collection=${this.choices.collection}></question-chips>` : html`<first-run></first-run>`;
  }

  /** @param {number} at */
  answered(at) {
    const { question } = this.asking;
    return html`${question ? html`<question-heading .question=${question}></question-heading>` : html`<h1 class="hidden">quoth</h1>`}
      <filter-chips .filters=${this.asking.answer?.query.filters ?? []} .titles=${documentTitles(this.items())}></filter-chips>
      <status-note .asking=${this.asking}></status-note>
      <answer-view .asking=${this.asking} .lit=${this.lit} .selected=${at >= 0 ? this.route.mark : ""}></answer-view>
      <contradictions-view .answer=${this.asking.answer}></contradictions-view>
      ${isRunning(this.asking) ? nothing : this.actions()}`;
  }

  actions() {
    const { answer, question, queryId } = this.asking;
    const stored = html`<export-menu class="row" .asking=${this.asking}></export-menu>
      <a class="button" href=${linkTo(`/q/${queryId}/explain`)}>${t("answer.explain")}</a>`;
    return html`<div class="row actions">
        ${question ? html`<button @click=${() => this.ask(question, this.filters, { anew: true })}>${t("ask.retry")}</button>` : nothing}
        ${answer ? stored : nothing}
        <button @click=${this.startAnew}>${t("ask.anew")}</button>
      </div>
      <question-chips .questions=${this.suggestions}></question-chips>`;
  }

  /** @param {number} at */
  side(at) {
    const items = this.items();
    if (!items.length && (["failed", "broken"].includes(this.asking.phase) || this.asking.answer?.status === "small_talk")) return nothing;
    if (at >= 0) return html`<proof-pane .items=${items} .at=${at} .back=${this.route.mark} .words=${wordsAt(this.asking, this.route.mark)}></proof-pane>`;
    const cited = items.some((each) => "snippet" in each.item);
    return html`<section class="cards" aria-label=${t("evidence.title")}>
      <h2>${t(cited ? "evidence.cited" : "evidence.found")}</h2>
      ${repeat(items, (each) => each.mark, (each) => html`<evidence-card .item=${each.item} .mark=${each.mark}
        .lit=${this.lit}></evidence-card>`)}
      ${items.length || isRunning(this.asking) ? nothing : html`<p class="soft">${t("evidence.none")}</p>`}
      ${this.asking.answer ? html`<p><a href=${linkTo(`/q/${this.asking.queryId}/explain`)}>${t("explain.whyNot")}</a></p>` : nothing}
    </section>`;
  }
}

customElements.define("ask-page", AskPage);
