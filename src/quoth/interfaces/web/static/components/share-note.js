/** An address to pass on, shown once, with what it holds: nothing is closed to anyone before there is a key. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo, pathIn } from "../router.js";
import { isOfThisMachine } from "../shares.js";
import { html, nothing } from "../vendor/lit.js";

class ShareNote extends Base {
  static properties = { address: {}, promise: {}, open: { type: Boolean } };

  constructor() {
    super();
    this.address = "";
    /** what who opens the address can do, where keys are needed */
    this.promise = "";
    /** whether the service needs no key */
    this.open = false;
  }

  render() {
    if (!this.address) return nothing;
    return html`${this.open ? html`<p class="status doubt">${t("share.open")}
        ${pathIn(location.pathname) === "/settings" ? nothing : html`<a href=${linkTo("/settings")}>${t("share.makeKey")}</a>`}</p>` : html`<p>${this.promise}</p>`}
      ${isOfThisMachine(this.address) ? html`<p class="status doubt">${t("share.thisMachine")}</p>` : nothing}
      <p><code class="token">${this.address}</code></p>
      ${this.open ? html`<p class="soft">${t("share.once")}</p>` : nothing}`;
  }
}

customElements.define("share-note", ShareNote);
