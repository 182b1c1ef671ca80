/** What to do with an empty library. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html } from "../vendor/lit.js";

class FirstRun extends Base {
  render() {
    return html`<section class="first-run">
      <h2>${t("first.title")}</h2>
      <p>${t("first.lead")}</p>
      <p><a class="button primary" href="/library">${t("first.add")}</a></p>
      <p class="soft">${t("first.command")} <code>quoth add ${t("first.folder")}</code></p>
    </section>`;
  }
}

customElements.define("first-run", FirstRun);
