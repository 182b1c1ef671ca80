/** Title, speaker, address, language, date and metadata of a document, in a dialog; tells `quoth-edited`. */
import { sendJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { metadataLines, readMetadata } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

const FIELDS = [["title", "text", 500], ["speaker", "text", 200], ["url", "url", 2000], ["language", "text", 20], ["date", "text", 40]];

class DocumentForm extends Base {
  static properties = { document: { attribute: false }, saving: { state: true }, problem: { state: true } };

  constructor() {
    super();
    /** @type {any} */
    this.document = null;
    this.saving = false;
  }

  /** @param {any} document */
  async open(document) {
    this.document = document;
    this.problem = "";
    await this.updateComplete;
    this.fill();
    /** @type {HTMLDialogElement} */ (this.querySelector("dialog")).showModal();
  }

  /** Show the values of the document in place of those that were typed for an earlier one. */
  fill() {
    const { elements } = /** @type {any} */ (this.querySelector("form"));
    FIELDS.forEach(([name]) => { elements[name].value = this.document[name] ?? ""; });
    elements.metadata.value = metadataLines(this.document.metadata);
  }

  /** Send what was changed. @param {any} event */
  async save(event) {
    event.preventDefault();
    const form = event.target;
    /** @type {Record<string, unknown>} */
    const changes = Object.fromEntries(
      FIELDS.map(([name]) => [name, form.elements[name].value.trim()]).filter(([name, value]) => value !== (this.document[name] ?? "")),
    );
    const lines = form.elements.metadata.value;
    try {
      if (lines.trim() !== metadataLines(this.document.metadata)) changes.metadata = readMetadata(lines, this.document.metadata);
    } catch (error) {
      this.problem = t("field.metadataWrong", { line: /** @type {Error} */ (error).message });
      return;
    }
    if (!Object.keys(changes).length) return this.close();
    this.saving = true;
    await this.attempt(async () => {
      await sendJson("PATCH", `/v1/documents/${this.document.document_id}`, changes);
      this.close();
      this.tell("quoth-edited");
    });
    this.saving = false;
  }

  close() {
    this.querySelector("dialog")?.close();
  }

  render() {
    if (!this.document) return nothing;
    return html`<dialog class="help" aria-labelledby="edit-title"><form class="form" @submit=${this.save}>
      <h2 id="edit-title">${t("library.edit", { title: this.document.title })}</h2>
      ${FIELDS.map(([name, type, most]) => html`<label>${t(`field.${name}`)}
        <input name=${name} type=${type} maxlength=${most} ?required=${name === "title"}></label>`)}
      <label>${t("field.metadata")}
        <textarea name="metadata" rows="3" maxlength="8000" spellcheck="false"></textarea></label>
      <p class="soft">${t("library.editNote")}</p>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div class="row"><button class="primary" ?disabled=${this.saving}>${t(this.saving ? "state.running" : "save")}</button>
        <button type="button" @click=${this.close}>${t("cancel")}</button></div>
    </form></dialog>`;
  }
}

customElements.define("document-form", DocumentForm);
