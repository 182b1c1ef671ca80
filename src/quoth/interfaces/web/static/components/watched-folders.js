/** The folders that collections are kept equal to, with what became of their last change. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { dateName, named, t } from "../i18n.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const AGAIN_MS = 5000;

class WatchedFolders extends Base {
  static properties = { folders: { state: true } };

  constructor() {
    super();
    /** @type {any[]} */
    this.folders = [];
    this.timer = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  async load() {
    const before = JSON.stringify(this.folders);
    try {
      ({ folders: this.folders } = await getJson("/v1/operator/watched"));
    } catch {
      return; // the page itself says that the service cannot be reached
    }
    if (before !== "[]" && before !== JSON.stringify(this.folders)) {
      this.dispatchEvent(new CustomEvent("quoth-added", { bubbles: true }));
    }
    if (this.folders.length && this.isConnected) this.timer = setTimeout(() => this.load(), AGAIN_MS);
  }

  render() {
    if (!this.folders.length) return nothing;
    return html`<h2>${t("watched.title")}</h2>
      <ul class="list">${repeat(this.folders, (each) => each.collection, (each) => this.folder(each))}</ul>`;
  }

  /** @param {any} watched */
  folder({ collection, folder, state, added, removed, failed, failures, checked_at: at, problem }) {
    return html`<li><span class="grow"><b>${folder}</b> → ${collection}
        <br><small class="soft">${at ? t("watched.last", { date: dateName(at), added, removed, failed }) : ""}</small>
        ${problem ? html`<br><small class="problem">${problem}</small>` : nothing}
        ${failures.map((/** @type {any} */ { source, message }) => html`<br><small class="problem">${withName(source, message)}</small>`)}</span>
      <span class=${state === "unavailable" ? "problem" : "soft"}>${named("watched", state)}</span></li>`;
  }
}

/** Most messages name the file. @param {string} source @param {string} message */
function withName(source, message) {
  const name = decodeURIComponent(source.slice(source.lastIndexOf("/") + 1));
  return message.includes(name) ? message : `${name}: ${message}`;
}

customElements.define("watched-folders", WatchedFolders);
