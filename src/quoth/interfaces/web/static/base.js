/** The base of all components: rendered into the page itself, where text can be selected and marked. */
import { LitElement } from "./vendor/lit.js";

export class Base extends LitElement {
  constructor() {
    super();
    /** what failed last, for a person; a component that shows it declares it as state */
    this.problem = "";
  }

  createRenderRoot() {
    return this;
  }

  /** Tell the components above. @param {string} name @param {unknown} [detail] */
  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }

  /** Do something that may fail, and keep the sentence that says why. @param {() => Promise<unknown>} work */
  async attempt(work) {
    this.problem = "";
    try {
      await work();
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
  }
}
