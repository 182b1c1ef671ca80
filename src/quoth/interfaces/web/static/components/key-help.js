/** The keys of the app, in a dialog. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html } from "../vendor/lit.js";

const KEYS = [["/", "ask"], ["Enter", "send"], ["← →", "walk"], ["Esc", "leave"], ["Esc", "close"], ["?", "help"]];

class KeyHelp extends Base {
  open() {
    this.querySelector("dialog")?.showModal();
  }

  render() {
    return html`<dialog class="help" aria-label=${t("keys.title")}>
      <h2>${t("keys.title")}</h2>
      <dl>${KEYS.map(([key, name]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${t(`keys.${name}`)}</dd></div>`)}</dl>
      <form method="dialog"><button>${t("close")}</button></form>
    </dialog>`;
  }
}

customElements.define("key-help", KeyHelp);
