/** The question box with its panel of choices; tells `quoth-ask`, `quoth-stop` and `quoth-choose`. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, live } from "../vendor/lit.js";

const MIN_CHARS = 3;

class AskBox extends Base {
  static properties = {
    value: {},
    running: { type: Boolean },
    collections: { attribute: false },
    choices: { attribute: false },
    short: { state: true },
  };

  constructor() {
    super();
    this.value = "";
    this.running = false;
    /** @type {{name: string, documents: number}[]} */
    this.collections = [];
    this.choices = { collection: "", model: true };
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
    if (this.short) this.focusBox();
    else this.tell("quoth-ask", { question });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    // While an input method composes a character, Enter only chooses it.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.submit(event);
  }

  /** @param {string} name @param {unknown} value */
  choose(name, value) {
    this.tell("quoth-choose", { ...this.choices, [name]: value });
  }

  render() {
    return html`<form class="ask" role="search" @submit=${this.submit}>
      <label class="hidden" for="question">${t("ask.label")}</label>
      <textarea id="question" rows="2" maxlength="1000" .value=${live(this.value)}
        placeholder=${t("ask.placeholder")}
        @input=${(/** @type {any} */ event) => { this.value = event.target.value; }}
        @keydown=${this.onKey}></textarea>
      ${this.short ? html`<p role="alert" class="problem">${t("ask.short")}</p>` : ""}
      <div class="row">
        <details class="choices"><summary>${this.chosen()}</summary>${this.panel()}</details>
        <span class="grow"></span>
        ${this.running
          ? html`<button type="button" @click=${() => this.tell("quoth-stop")}>${t("ask.stop")}</button>`
          : html`<button class="primary">${t("ask.send")}</button>`}
      </div>
    </form>`;
  }

  chosen() {
    const where = this.choices.collection || t("choices.default");
    return `${where} · ${t(this.choices.model ? "choices.model" : "choices.verbatim")}`;
  }

  panel() {
    return html`<div class="panel">
      <label>${t("choices.collection")}
        <select @change=${(/** @type {any} */ event) => this.choose("collection", event.target.value)}>
          <option value="" ?selected=${!this.choices.collection}>${t("choices.default")}</option>
          ${this.collections.map((each) => html`<option value=${each.name}
            ?selected=${each.name === this.choices.collection}>${each.name}</option>`)}
        </select></label>
      <label class="check"><input type="checkbox" .checked=${live(!this.choices.model)}
        @change=${(/** @type {any} */ event) => this.choose("model", !event.target.checked)}>
        ${t("choices.verbatimHelp")}</label>
    </div>`;
  }
}

customElements.define("ask-box", AskBox);
