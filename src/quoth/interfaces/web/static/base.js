/** The base of all components: rendered into the page itself, where text can be selected and marked. */
import { LitElement } from "./vendor/lit.js";

export class Base extends LitElement {
  createRenderRoot() {
    return this;
  }

  /** Tell the components above. @param {string} name @param {unknown} [detail] */
  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }
}
