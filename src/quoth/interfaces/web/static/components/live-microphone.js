/** The microphone of a session: the speaker agrees, switches it on and off, and sees its level. */
import { Base } from "../base.js";
import { named, t } from "../i18n.js";
import { Microphone, MicrophoneProblem, openMicrophone } from "../microphone.js";
import { html, nothing } from "../vendor/lit.js";

class LiveMicrophone extends Base {
  static properties = {
    path: { attribute: false },
    language: { attribute: false },
    speech: { attribute: false },
    phase: { state: true },
    level: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.path = "";
    /** @type {string | null} */
    this.language = null;
    /** the state that the service tells @type {{state: string}} */
    this.speech = { state: "off" };
    /** @type {"off" | "starting" | "on" | "ending"} */
    this.phase = "off";
    this.level = 0;
    /** @type {Microphone | null} */
    this.microphone = null;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.microphone?.stop();
  }

  /** @param {Event} event */
  async start(event) {
    event.preventDefault();
    /** @type {HTMLDetailsElement | null} */ (this.querySelector("details"))?.removeAttribute("open");
    this.problem = "";
    this.phase = "starting";
    try {
      const stream = await openMicrophone();
      this.microphone = new Microphone(stream, {
        onLevel: (level) => { this.level = level; },
        onEnd: (problem) => this.ended(problem),
      });
      await this.microphone.start(this.path, this.language);
      if (this.phase === "starting") this.phase = "on";
    } catch (error) {
      this.microphone?.silence();
      this.ended(error instanceof MicrophoneProblem ? error : new MicrophoneProblem("failed", String(error)));
    }
  }

  stop() {
    this.phase = "ending";
    this.microphone?.stop();
  }

  /** @param {MicrophoneProblem | null} problem */
  ended(problem) {
    this.phase = "off";
    this.level = 0;
    this.problem = problem ? named("microphone", problem.key, problem.message || t("microphone.failed")) : "";
  }

  render() {
    return html`<div class="row">${this.phase === "off" ? this.consent() : html`
        <button class="on" ?disabled=${this.phase !== "on"} @click=${this.stop}>${t("microphone.stop")}</button>
        <meter aria-label=${t("microphone.level")} min="0" max="1" .value=${this.level}></meter>
        ${this.speech.state === "silent" ? html`<span role="status">${t("microphone.silent")}</span>` : nothing}`}</div>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}`;
  }

  consent() {
    return html`<details class="menu"><summary class="button">${t("microphone.name")}</summary>
      <form class="panel" @submit=${this.start}>
        <p class="soft">${t("microphone.about")}</p>
        <label class="check"><input type="checkbox" name="consent" required> ${t("microphone.consent")}</label>
        <button ?disabled=${this.speech.state !== "off" && this.speech.state !== "failed"}>${t("microphone.start")}</button></form></details>`;
  }
}

customElements.define("live-microphone", LiveMicrophone);
