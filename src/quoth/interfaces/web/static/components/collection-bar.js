/** The collection that is shown: choose, make or delete one, rebuild its index; tells `quoth-collection`. */
import { postJson, send } from "../api.js";
import { Base } from "../base.js";
import { collectionName, t } from "../i18n.js";
import { readEvents } from "../sse.js";
import { isCollectionName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

class CollectionBar extends Base {
  static properties = {
    collections: { attribute: false },
    collection: {},
    writable: { type: Boolean },
    rebuilding: { state: true },
    problem: { state: true },
    wrongName: { state: true },
  };

  constructor() {
    super();
    /** @type {any[]} */
    this.collections = [];
    /** the one that is shown, empty for the default one */
    this.collection = "";
    /** the name of the default one */
    this.standard = "default";
    this.writable = true;
    /** what is said of the rebuild */
    this.rebuilding = "";
    /** why there is no collection of the name that was typed */
    this.wrongName = "";
  }

  /** @param {string} name */
  choose(name) {
    this.tell("quoth-collection", name);
  }

  /** @param {any} event */
  async make(event) {
    event.preventDefault();
    const input = event.target.elements.name;
    const name = input.value.trim();
    this.wrongName = "";
    try {
      if (!isCollectionName(name)) throw new Error(t("library.slash"));
      const made = await (await postJson("/v1/collections", { name })).json();
      event.target.closest("details").open = false;
      input.value = "";
      this.choose(made.name);
    } catch (error) {
      this.wrongName = /** @type {Error} */ (error).message;
    }
  }

  async rebuild() {
    const name = this.collection || this.standard;
    await this.attempt(async () => {
      this.rebuilding = t("library.rebuilding", { at: 0, total: "…" });
      const response = await postJson(`/v1/collections/${encodeURIComponent(name)}/reindex`, {});
      for await (const { event, data } of readEvents(response)) {
        if (event === "error") throw new Error(data.detail);
        this.rebuilding = t(event === "done" ? "library.rebuilt" : "library.rebuilding", { at: data.documents, total: data.of_documents });
      }
    });
  }

  /** Delete the collection that is shown, when that is confirmed. */
  async remove() {
    const { collection: name, collections } = this;
    const count = collections.find((each) => each.name === name)?.documents ?? 0;
    if (!window.confirm(t("library.confirmCollection", { name, count }))) return;
    await this.attempt(async () => {
      await send(`/v1/collections/${encodeURIComponent(name)}`, { method: "DELETE" });
      this.choose("");
    });
  }

  /** @param {() => Promise<unknown>} work */
  async attempt(work) {
    await super.attempt(work);
    if (this.problem) this.rebuilding = "";
  }

  render() {
    const others = this.collections.filter(({ name }) => name !== this.standard);
    return html`<div class="row">
        <label class="row">${t("choices.collection")} <select @change=${(/** @type {any} */ event) => this.choose(event.target.value)}>
          <option value="" ?selected=${!this.collection}>${collectionName(this.standard)}</option>
          ${others.map(({ name }) => html`<option value=${name} ?selected=${name === this.collection}>${name}</option>`)}
        </select></label>
        ${this.writable ? this.tools() : nothing}
      </div>
      <p class="soft" role="status">${this.rebuilding}</p>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}`;
  }

  tools() {
    return html`<details class="menu"><summary class="button">${t("library.newCollection")}</summary>
        <form class="panel" @submit=${this.make}><label>${t("field.name")}<input name="name" maxlength="100" required
          aria-invalid=${this.wrongName ? "true" : "false"}></label>
          ${this.wrongName ? html`<p class="problem" role="alert">${this.wrongName}</p>` : nothing}
          <button>${t("library.make")}</button></form></details>
      <button @click=${this.rebuild}>${t("library.rebuild")}</button>
      ${this.collection ? html`<button @click=${this.remove}>${t("library.deleteCollection")}</button>` : nothing}`;
  }
}

customElements.define("collection-bar", CollectionBar);
