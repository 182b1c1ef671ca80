/** What became of a question, in words: how sure the answer is, or why there is none. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { html, nothing } from "../vendor/lit.js";

/** The code of the error that a collection without documents gives. */
const EMPTY = "conflict";

class StatusNote extends Base {
  static properties = { asking: { attribute: false } };

  constructor() {
    super();
    /** @type {import("../reduce.js").Asking} */
    this.asking = /** @type {any} */ (null);
  }

  render() {
    const found = noteOf(this.asking);
    if (!found) return nothing;
    const { answer, problem } = this.asking;
    /** @type {string[]} */
    const notes = (answer?.warnings ?? []).filter((/** @type {string} */ each) => each !== t("status.uncertain"));
    return html`<p class="status ${found.kind}" role="status">${found.text}</p>
      ${problem?.code === EMPTY ? html`<p class="notes"><a href=${linkTo("/library")}>${t("status.library")}</a></p>` : nothing}
      ${notes.length ? html`<ul class="notes">${notes.map((each) => html`<li>${each}</li>`)}</ul>` : nothing}`;
  }
}

const PHASES = { broken: "problem", stopped: "doubt", searching: "busy", writing: "busy", recovering: "busy" };

/** Return the kind of note and its text, null for none. @param {import("../reduce.js").Asking} asking */
function noteOf({ phase, answer, problem, restored }) {
  if (phase === "failed") return { kind: "problem", text: problem?.detail || t("status.failed") };
  if (phase in PHASES) return { kind: PHASES[/** @type {keyof typeof PHASES} */ (phase)], text: t(`status.${phase}`) };
  if (!answer || answer.status === "small_talk") return null;
  const stored = restored ? ` ${t("status.restored")}` : "";
  const of = answer.sentences.length;
  // Without sentences the answer itself says in words why there is none.
  if (!of) return { kind: "doubt", text: t(`status.${answer.status}`) + stored };
  if (answer.warnings.includes(t("status.uncertain"))) {
    return { kind: "doubt", text: `${t("status.uncertain")} ${t("status.wordForWord")}${stored}` };
  }
  const proved = answer.sentences.filter((/** @type {any} */ each) => each.support === "supported").length;
  const whole = answer.model ? "status.proved" : "status.quoted";
  const text = proved === of ? t(whole, { count: of }) : t("status.someProved", { proved, of });
  const isUnsure = answer.status === "low_relevance"; // Its text says so.
  const note = isUnsure || answer.status === "answered" ? "" : ` ${t(`status.${answer.status}`)}`;
  return { kind: proved === of && !isUnsure ? "proved" : "doubt", text: text + note + stored };
}

customElements.define("status-note", StatusNote);
