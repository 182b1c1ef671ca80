/**
 * A question about what was said so far. The transcript is kept as a talk first, in a collection
 * that the session does not cite; the proof of a sentence opens beside the lecture, which goes on.
 */
import { askStream, postJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { IDLE, reduce } from "../reduce.js";
import { linkTo } from "../router.js";
import { passages } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import "./answer-view.js";
import "./evidence-card.js";
import "./status-note.js";

const COLLECTIONS = ["talks", "lectures"];
const MAX_CLOSEST = 3;

class LiveQuestion extends Base {
  static properties = {
    lecture: { attribute: false },
    asking: { state: true },
  };

  constructor() {
    super();
    /** @type {any} */
    this.lecture = null;
    this.asking = IDLE;
    this.abort = new AbortController();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.close();
  }

  close() {
    this.abort.abort();
    this.asking = IDLE;
  }

  /** @param {any} event */
  async ask(event) {
    event.preventDefault();
    this.close();
    this.abort = new AbortController();
    const { signal } = this.abort;
    const query = event.target.elements.question.value.trim();
    this.asking = reduce(this.asking, { event: "asked", question: query });
    try {
      const where = await this.kept(signal);
      for await (const each of askStream({ query, ...where }, signal)) this.asking = reduce(this.asking, each);
    } catch (error) {
      if (!signal.aborted) this.asking = reduce(this.asking, { event: "error", detail: /** @type {Error} */ (error).message });
    }
  }

  /** Keep what was said so far; return where it is asked. @param {AbortSignal} signal */
  async kept(signal) {
    const { session_id: id, collections } = this.lecture;
    const collection = COLLECTIONS.find((each) => !collections.includes(each)) ?? id;
    const kept = await postJson(`/v1/sessions/${id}/talk`, { collection }, { signal });
    return { collection, filters: { document: (await kept.json()).document_id } };
  }

  /** @param {any} event */
  open(event) {
    event.stopPropagation();
    window.open(linkTo(`/q/${this.asking.queryId}#${event.detail.mark}`), "_blank");
  }

  render() {
    return html`<form class="row" @submit=${this.ask}>
        <input class="grow" name="question" minlength="3" maxlength="2000" required aria-label=${t("live.question")} placeholder=${t("live.question")}>
        <button>${t("ask.send")}</button>
        ${this.asking.phase === "idle" ? nothing : html`<button type="button" @click=${this.close}>${t("close")}</button>`}
      </form>
      ${this.asking.phase === "idle" ? nothing : this.answer()}`;
  }

  answer() {
    const { answer, queryId } = this.asking;
    const closest = answer && !answer.citations.length ? passages(this.asking).slice(0, MAX_CLOSEST) : [];
    return html`<div class="live-answer" @quoth-open=${this.open}>
        <status-note .asking=${this.asking}></status-note>
        <answer-view .asking=${this.asking}></answer-view>
        ${closest.map(({ item, mark }) => html`<evidence-card .item=${item} .mark=${mark}></evidence-card>`)}
        ${answer ? html`<p><a href=${linkTo(`/q/${queryId}`)} target="_blank">${t("live.answer")}</a></p>` : nothing}
      </div>`;
  }
}

customElements.define("live-question", LiveQuestion);
