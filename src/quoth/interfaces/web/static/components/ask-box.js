/** The question box with its panel of choices; tells `quoth-ask`, `quoth-stop` and `quoth-anew`. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, live, nothing } from "../vendor/lit.js";
import { DEFAULTS } from "./choices-panel.js";

const MIN_CHARS = 3;
const MAX_CHARS = 1000;

class AskBox extends Base {
  static properties = {
    value: {},
    begun: { type: Boolean },
    following: { type: Boolean },
    running: { type: Boolean },
    collections: { attribute: false },
    choices: { attribute: false },
    short: { state: true },
  };

  constructor() {
    super();
    this.value = "";
    /** whether a question was asked, after which a new conversation can be begun */
    this.begun = false;
    /** whether the next question goes on with a conversation */
    this.following = false;
    this.running = false;
    /** @type {{name: string, documents: number}[]} */
    this.collections = [];
    this.choices = DEFAULTS;
    this.short = false;
  }

  focusBox() {
    this.querySelector("textarea")?.focus();
  }

  async connectedCallback() {
    super.connectedCallback();
    await this.updateComplete;
    if (!this.value) this.focusBox();
  }

  /** @param {Event} event */
  submit(event) {
    event.preventDefault();
    const question = this.value.trim();
    this.short = question.length < MIN_CHARS;
    if (this.short) {
      this.focusBox();
    } else {
      // The page shows what was asked; what is typed next is another question.
      this.value = "";
      this.querySelector("details.choices")?.removeAttribute("open");
      this.tell("quoth-ask", { question });
    }
  }

  /** @param {any} event */
  onInput(event) {
    this.value = event.target.value;
    this.short = false;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    // While an input method composes a character, Enter only chooses it and Escape takes it away.
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) this.submit(event);
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
  }

  render() {
    return html`<form class="ask" role="search" @submit=${this.submit}>
      <label class="hidden" for="question">${t("ask.label")}</label>
      <div class="row">
        <textarea id="question" rows="2" dir="auto" maxlength=${MAX_CHARS} .value=${live(this.value)}
          placeholder=${t(this.following ? "ask.followUp" : "ask.placeholder")}
          @input=${this.onInput}
          @keydown=${this.onKey}></textarea>
        ${this.running
          ? html`<button type="button" @click=${() => this.tell("quoth-stop")}>${t("ask.stop")}</button>`
          : html`<button class="primary">${t("ask.send")}</button>`}
      </div>
      ${this.short ? html`<p role="alert" class="problem">${t("ask.short")}</p>` : nothing}
      ${this.value.length >= MAX_CHARS
        ? html`<p role="status" class="doubt">${t("ask.long", { most: MAX_CHARS })}</p>`
        : nothing}
      <div class="row">
        <choices-panel .collections=${this.collections} .choices=${this.choices}></choices-panel>
        ${this.begun
          ? html`<button type="button" class="anew" @click=${() => this.tell("quoth-anew")}>${t("ask.anew")}</button>`
          : nothing}
      </div>
    </form>`;
  }
}

customElements.define("ask-box", AskBox);
