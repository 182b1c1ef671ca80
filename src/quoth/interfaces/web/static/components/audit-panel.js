/** The audit log of a tenant, the newest first. */
import { getJson } from "../api.js";
import { Base } from "../base.js";
import { dateName, t } from "../i18n.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const PART = 50;

class AuditPanel extends Base {
  static properties = { rows: { state: true }, complete: { state: true }, problem: { state: true } };

  constructor() {
    super();
    /** @type {any[]} */
    this.rows = [];
    this.complete = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.more();
  }

  async more() {
    await this.attempt(async () => {
      const last = this.rows[this.rows.length - 1]?.number;
      const { rows } = await getJson(`/v1/audit?limit=${PART}${last ? `&before=${last}` : ""}`);
      this.rows = [...this.rows, ...rows];
      this.complete = rows.length < PART;
    });
  }

  render() {
    return html`<h2>${t("settings.audit")}</h2>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div class="scroll" tabindex="0" role="region" aria-label=${t("settings.audit")}><table class="table">
        <thead><tr>${["at", "key", "action", "object", "result"].map((name) => html`<th scope="col">${t(`audit.${name}`)}</th>`)}</tr></thead>
        <tbody>${repeat(this.rows, (row) => row.number, (row) => html`<tr><td>${dateName(row.at)}</td><td>${row.key_id || "–"}</td>
          <td>${row.action}</td><td>${row.object_id}</td><td>${row.result}</td></tr>`)}</tbody></table></div>
      ${this.complete ? nothing : html`<button @click=${this.more}>${t("more")}</button>`}`;
  }
}

customElements.define("audit-panel", AuditPanel);
