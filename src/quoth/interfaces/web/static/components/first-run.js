/** What to do with an empty library: add documents, or the sample; tells `quoth-filled`. */
import { getJson, postJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { aboutService } from "../service.js";
import { html, nothing } from "../vendor/lit.js";

const WAIT_MS = 700;

class FirstRun extends Base {
  static properties = {
    sample: { state: true },
    files: { state: true },
    done: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.sample = false;
    /** how many files of the sample are being added */
    this.files = 0;
    this.done = 0;
  }

  async connectedCallback() {
    super.connectedCallback();
    const [service, session] = await Promise.all([aboutService(), getJson("/v1/session").catch(() => null)]);
    this.sample = service.sample && !!session?.scopes.includes("ingest");
  }

  async addSample() {
    this.problem = "";
    try {
      this.files = (await (await postJson("/v1/sample", {})).json()).files;
      while (this.isConnected && this.done < this.files) {
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
        const open = await Promise.all(["queued", "running"].map((state) => getJson(`/v1/uploads?limit=1&state=${state}`)));
        this.done = this.files - open[0].total - open[1].total;
      }
      this.tell("quoth-filled");
    } catch (error) {
      this.files = 0;
      this.problem = /** @type {Error} */ (error).message;
    }
  }

  render() {
    return html`<section class="first-run">
      <h2>${t("first.title")}</h2>
      <p>${t("first.lead")}</p>
      ${this.files ? this.progress() : this.ways()}
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <p class="soft">${t("first.command")} <code>quoth add ${t("first.folder")}</code></p>
    </section>`;
  }

  ways() {
    return html`<p class="row"><a class="button primary" href=${linkTo("/library")}>${t("first.add")}</a>
      ${this.sample ? html`<button @click=${this.addSample}>${t("first.sample")}</button>` : nothing}</p>
      ${this.sample ? html`<p class="soft">${t("first.sampleNote")}</p>` : nothing}`;
  }

  progress() {
    return html`<p class="row"><progress max=${this.files} value=${this.done} aria-label=${t("first.sample")}></progress>
      <span class="soft">${t("first.progress", { at: this.done, total: this.files })}</span></p>`;
  }
}

customElements.define("first-run", FirstRun);
