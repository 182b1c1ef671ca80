/** The question above its answer: four lines of a long one, all of it on request. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, nothing } from "../vendor/lit.js";

class QuestionHeading extends Base {
  static properties = { question: {}, whole: { state: true }, long: { state: true } };

  constructor() {
    super();
    this.question = "";
    this.whole = false;
    /** whether the question has more lines than are shown at first */
    this.long = false;
    this.watched = new ResizeObserver(() => this.measure());
  }

  connectedCallback() {
    super.connectedCallback();
    this.watched.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.watched.disconnect();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("question")) this.whole = false;
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has("question")) this.measure();
  }

  /** Look whether lines are hidden; a question that is shown whole stays as it is. */
  measure() {
    const heading = /** @type {HTMLElement | null} */ (this.querySelector("h1"));
    if (heading && !this.whole) this.long = heading.scrollHeight > heading.clientHeight;
  }

  render() {
    const toggle = () => { this.whole = !this.whole; };
    return html`<h1 tabindex="-1" dir="auto" class=${this.whole ? "" : "clamped"}>${this.question}</h1>
      ${this.long ? html`<button aria-expanded=${this.whole} @click=${toggle}>${t(this.whole ? "less" : "more")}</button>` : nothing}`;
  }
}

customElements.define("question-heading", QuestionHeading);
