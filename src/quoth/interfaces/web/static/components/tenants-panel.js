/** The operator's view: what each tenant stores, and the uploads that wait or failed. */
import { getJson, send } from "../api.js";
import { Base } from "../base.js";
import { named, t } from "../i18n.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const MEGABYTE = 1e6;

class TenantsPanel extends Base {
  static properties = {
    tenants: { state: true },
    uploads: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {any[]} */
    this.tenants = [];
    /** @type {any[]} */
    this.uploads = [];
  }

  connectedCallback() {
    super.connectedCallback();
    this.attempt(async () => {});
  }

  /** Do something, then show what there is. @param {() => Promise<unknown>} work */
  attempt(work) {
    return super.attempt(async () => {
      await work();
      const [{ tenants }, { uploads }] = await Promise.all([getJson("/v1/operator/tenants"), getJson("/v1/operator/uploads")]);
      this.tenants = tenants;
      this.uploads = uploads;
    });
  }

  render() {
    const columns = ["name", "documents", "passages", "megabytes", "pending"];
    return html`<h2>${t("tenants.title")}</h2>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div class="scroll" tabindex="0" role="region" aria-label=${t("tenants.title")}><table class="table">
        <thead><tr>${columns.map((name) => html`<th scope="col">${t(`tenants.${name}`)}</th>`)}</tr></thead>
        <tbody>${repeat(this.tenants, (each) => each.tenant, (each) => html`<tr><td>${each.tenant}</td><td>${each.documents}</td>
          <td>${each.chunks}</td><td>${Math.ceil(each.bytes / MEGABYTE)}</td><td>${each.pending}</td></tr>`)}</tbody></table></div>
      ${this.uploads.length ? html`<h3>${t("tenants.uploads")}</h3>
        <ul class="list">${repeat(this.uploads, (each) => each.id, (each) => this.upload(each))}</ul>` : nothing}`;
  }

  /** @param {any} upload */
  upload({ tenant, id, name, state, code }) {
    const path = `/v1/operator/uploads/${id}`;
    return html`<li><span class="grow">${name} <span class="soft">${tenant} · ${named("state", state)}${code ? ` · ${code}` : ""}</span></span>
      ${state === "failed"
        ? html`<button aria-label=${t("tenants.retryOne", { name })} @click=${() => this.attempt(() => send(`${path}/retry`, { method: "POST" }))}>${t("tenants.retry")}</button>`
        : nothing}
      <button aria-label=${t("tenants.cancelOne", { name })} @click=${() => this.attempt(() => send(path, { method: "DELETE" }))}>${t("tenants.cancel")}</button></li>`;
  }
}

customElements.define("tenants-panel", TenantsPanel);
