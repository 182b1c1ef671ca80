/** The page of a conversation: its questions and answers, the question box, and the proof beside them. */
import { askStream, getJson, Problem, recoveredAnswer, storedAnswer } from "../api.js";
import { Base } from "../base.js";
import { historyOf, keepAnswer, keepTurns, kept, keptAnswer, turnOf, turnsWith } from "../conversation.js";
import { t } from "../i18n.js";
import { IDLE, isRunning, reduce } from "../reduce.js";
import { go } from "../router.js";
import { aboutService } from "../service.js";
import { isGuest } from "../shares.js";
import { DARK, markOf, openedAt, passages, wordsAt } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import "./ask-box.js";
import { ALL, asFields, choicesOf, DEFAULTS, fittedTo } from "./choices-panel.js";
import "./first-run.js";
import "./proof-pane.js";
import "./question-chips.js";
import "./thread-view.js";

class AskPage extends Base {
  static properties = {
    route: { attribute: false },
    asking: { state: true },
    lit: { state: true },
    collections: { state: true },
    choices: { state: true },
    suggestions: { state: true },
    guest: { state: true },
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
    /** whether the visitor cannot read stored answers */
    this.guest = true;
    /** @type {import("../conversation.js").Turn[]} the conversation so far */
    this.turns = [];
    /** the place of the shown turn among them; that of a new one is after the last */
    this.at = 0;
    /** @type {Record<string, string>} */
    this.filters = {};
    /** @type {AbortController | null} */
    this.abort = null;
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = "quoth";
    this.loadCollections();
    isGuest().then((guest) => { this.guest = guest; });
    /** @type {Record<string, (detail: any) => void>} */
    const heard = {
      "quoth-light": (light) => { this.lit = light; },
      "quoth-open": (opened) => this.goTo(markOf(this.asking.answer, opened)),
      "quoth-ask": ({ question }) => this.ask(question),
      "quoth-stop": () => this.stop(),
      "quoth-anew": () => this.startAnew(),
      "quoth-retry": () => this.ask(this.asking.question, this.filters, { anew: true }),
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

  /**
   * Keep the conversation with its address, for when the page is loaded again.
   * @param {Map<string, unknown>} changed
   */
  updated(changed) {
    if (changed.has("route") || changed.has("asking")) keepTurns(this.route.id, this.turns);
  }

  /** Show the answer of the address, unless it is shown already. */
  follow() {
    const { id, question } = this.route;
    if (id && id !== this.asking.queryId) this.restore(id);
    // The address of a question that is being answered holds its words.
    if (id || (question && isRunning(this.asking))) return;
    const before = kept();
    if (question && before.choices) this.choices = before.choices;
    if (question && before.turns.length) this.interrupted(question, before);
    else if (this.asking.phase !== "idle") this.clear();
  }

  /**
   * Show a conversation whose question was left before it was answered.
   * @param {string} question @param {ReturnType<typeof kept>} before
   */
  interrupted(question, { turns, at = turns.length, filters = {} }) {
    this.abort?.abort();
    Object.assign(this, { turns, at, filters });
    this.apply({ event: "asked", question });
    this.apply({ event: "stopped" });
    this.arrive();
  }

  clear() {
    this.abort?.abort();
    document.title = "quoth";
    this.asking = IDLE;
    this.turns = [];
    this.at = 0;
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
    // A question that is asked again takes the place of itself, and is no follow-up of itself.
    if (question !== this.asking.question) this.at = this.turns.length;
    this.apply({ event: "asked", question });
    this.arrive();
    // A page that is loaded again meanwhile has the question, and the conversation before it.
    const { turns, at, choices } = this;
    go(`/?${new URLSearchParams({ question })}`, { state: { turns, at, filters, choices } });
    for await (const event of askStream({ ...this.body(question), ...(anew && { cache: "none" }) }, abort.signal)) {
      if (event.event === "broken") await this.recover();
      else this.apply(event);
      if (event.event === "done") this.completed();
    }
  }

  /** @param {string} query */
  body(query) {
    const history = historyOf(this.turns.slice(0, this.at));
    return { query, history, filters: this.filters, ...asFields(this.choices, this.collections ?? []) };
  }

  completed() {
    const { queryId, question, answer } = this.asking;
    if (this.guest) keepAnswer(queryId, { question, answer });
    this.turns = this.turns.toSpliced(this.at, 1, turnOf(queryId, question, answer));
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
      this.show(record);
      this.completed();
    } else {
      this.apply({ event: "broken" });
    }
  }

  /** Show the stored answer of the address, or why it cannot be shown. @param {string} id */
  async restore(id) {
    this.abort?.abort();
    const record = await storedAnswer(id).catch((error) => keptAnswer(id) ?? error);
    if (id !== this.route.id) return;
    this.suggestions = [];
    const failed = record instanceof Error;
    this.turns = turnsWith(id, this.turns) ?? (failed ? [] : [turnOf(id, record.question, record.answer)]);
    this.at = Math.max(0, this.turns.findIndex((each) => each.id === id));
    if (failed) {
      const detail = record instanceof Problem ? record.message : t("status.offline");
      const question = this.turns[this.at]?.question ?? "";
      this.asking = reduce({ ...IDLE, queryId: id, question }, { event: "error", detail });
    } else {
      this.show(record);
      this.suggest(id);
    }
    this.arrive();
  }

  /** Ask the next questions as a stored one was asked. @param {any} options */
  async adopt(options) {
    const { asking: { queryId } } = this;
    const { collection } = await aboutService();
    if (queryId !== this.asking.queryId) return;
    this.filters = options.filters;
    this.choices = choicesOf(options, collection);
  }

  /** Show a stored answer. @param {any} record */
  show({ question, answer, options, feedback }) {
    this.apply({ event: "restored", question, answer, rating: feedback?.rating });
    if (options) this.adopt(options);
  }

  /**
   * Show the turn that was asked or opened, its question at the top. What comes of its answer
   * afterwards scrolls nothing: it may be read already.
   */
  async arrive() {
    await this.updateComplete;
    // The components below are there with the next frame.
    await new Promise(requestAnimationFrame);
    /** @type {any} */ (this.querySelector("current-turn"))?.arrive();
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

  render() {
    const { asking, at, turns } = this;
    const idle = asking.phase === "idle" && !this.route.id;
    const opened = this.route.id && this.route.id === asking.queryId ? openedAt(asking, this.route.mark) : -1;
    return html`<div class="asking ${idle ? "idle" : ""} ${opened >= 0 ? "with-proof" : ""}">
      ${idle
        ? html`<h1>${t("ask.title")}</h1><p class="lead">${t("ask.lead")}</p>`
        : html`<thread-view .turns=${turns} .at=${at} .asking=${asking} .lit=${this.lit}
          .selected=${opened >= 0 ? this.route.mark : ""} .suggestions=${this.suggestions} .guest=${this.guest}></thread-view>`}
      <div class="dock"><ask-box .value=${idle ? this.route.question : ""} .begun=${!idle}
        .following=${turns.length > 0} .running=${isRunning(asking)} .collections=${this.collections ?? []}
        .choices=${this.choices}></ask-box></div>
      ${idle ? this.firstRun() : nothing}
      ${opened >= 0 ? html`<proof-pane .items=${this.items()} .at=${opened} .back=${this.route.mark}
        .words=${wordsAt(asking, this.route.mark)}></proof-pane>` : nothing}
    </div>`;
  }

  firstRun() {
    if (!this.collections) return nothing;
    const filled = this.collections.some((each) => each.documents);
    return filled
      ? html`<question-chips .collection=${this.choices.collection === ALL ? "" : this.choices.collection}></question-chips>`
      : html`<first-run></first-run>`;
  }
}

customElements.define("ask-page", AskPage);
