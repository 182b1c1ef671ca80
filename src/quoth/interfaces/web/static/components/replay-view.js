/** A question asked again by the same plan, with what is different. */
import { postJson } from "../api.js";
import { Base } from "../base.js";
import { collectionName, t } from "../i18n.js";
import { placeName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

class ReplayView extends Base {
  static properties = {
    queryId: {},
    replay: { state: true },
    running: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.queryId = "";
    /** @type {any} */
    this.replay = null;
    this.running = false;
  }

  async run() {
    this.running = true;
    await this.attempt(async () => {
      this.replay = await (await postJson(`/v1/queries/${encodeURIComponent(this.queryId)}/replay`, {})).json();
    });
    this.running = false;
  }

  render() {
    return html`<h2>${t("replay.title")}</h2><p class="soft">${t("replay.lead")}</p>
      <button ?disabled=${this.running} @click=${this.run}>${t("replay.run")}</button>
      <div role="status">${this.running ? html`<p class="soft">${t("status.searching")}</p>` : nothing}
        ${this.problem ? html`<p class="problem">${this.problem}</p>` : nothing}
        ${this.replay && !this.running ? this.found(this.replay) : nothing}</div>`;
  }

  /** @param {any} replay */
  found({ same, since, changes, makers, hits, cited_before: gone, cited_now: added, text_same: textSame, text_now: text }) {
    const changed = since.filter((/** @type {any} */ part) => !part.pinned);
    return html`<p class="status ${same ? "proved" : "doubt"}">${t(same ? "replay.same" : "replay.different")}</p>
      <ul class="bullets">
        ${changed.map((/** @type {any} */ { collection, rebuilt }) => html`<li>${t(rebuilt ? "replay.rebuilt" : "replay.changed", { collection: collectionName(collection) })}</li>`)}
        ${[...makers, ...changes].map(({ what, before, now }) => html`<li>${what}: ${before || "–"} → ${now || "–"}</li>`)}
        ${hits.map((/** @type {any} */ { at, before, now }) => html`<li>${at.document || t("replay.gone")} <span class="place">${at.locator ? placeName(at.locator, t) : ""}</span>: ${before ?? "–"} → ${now ?? "–"}</li>`)}
        ${gone.map((/** @type {string} */ words) => html`<li><del>${words}</del></li>`)}
        ${added.map((/** @type {string} */ words) => html`<li><ins>${words}</ins></li>`)}
      </ul>
      ${textSame ? nothing : html`<h3>${t("replay.now")}</h3><p class="answer">${text}</p>`}`;
  }
}

customElements.define("replay-view", ReplayView);
