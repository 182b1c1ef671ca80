/** A key is exchanged for a session; tells `quoth-signed-in`. The key is not kept anywhere. */
import { postJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, nothing } from "../vendor/lit.js";

class SignIn extends Base {
  static properties = { problem: {} };

  /** @param {any} event */
  async submit(event) {
    event.preventDefault();
    const input = event.target.elements.key;
    const key = input.value.trim();
    input.value = "";
    try {
      await postJson("/v1/session", { key });
      this.tell("quoth-signed-in");
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
      input.focus();
    }
  }

  render() {
    return html`<form class="page form" @submit=${this.submit}>
      <h1>${t("signin.title")}</h1>
      <p class="lead">${t("signin.lead")}</p>
      <label>${t("signin.key")}
        <input name="key" type="password" autocomplete="off" required aria-describedby="sign-in-problem"></label>
      <p id="sign-in-problem" class="problem" role="alert">${this.problem || nothing}</p>
      <button class="primary">${t("signin.send")}</button>
    </form>`;
  }
}

customElements.define("sign-in", SignIn);
