/**
 * A recorded lecture, said again at a speed: its captions are sent as segments when their time
 * comes. Tells `quoth-lost` whether the connection to the service is lost.
 */
import { postJson, Problem } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { cuesOf, EMPTY } from "../live.js";
import { clock } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

const SPEEDS = [1, 2, 5, 10, 20];
const TICK_MS = 250;
const MAX_SEGMENTS = 500;
const AGAIN_MS = 2000;

class LiveReplay extends Base {
  static properties = {
    path: {},
    state: { attribute: false },
    cues: { state: true },
    speed: { state: true },
    second: { state: true },
    running: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** the address of the session */
    this.path = "";
    this.state = EMPTY;
    /** @type {import("../live.js").Segment[]} those that are not sent yet */
    this.cues = [];
    this.speed = 1;
    /** the second of the lecture */
    this.second = 0;
    this.length = 0;
    this.running = false;
    this.timer = 0;
    this.sending = false;
    this.lost = false;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.pause();
  }

  /** A session that has words already goes on behind them. @param {any} event */
  async choose(event) {
    const file = event.target.files[0];
    event.target.value = "";
    if (!file) return;
    this.pause();
    const cues = cuesOf(await file.text());
    this.second = this.state.segments.at(-1)?.end ?? 0;
    this.length = cues.at(-1)?.end ?? 0;
    this.cues = cues.filter((cue) => cue.end > this.second);
    this.problem = !cues.length ? t("live.noCaptions", { name: file.name })
      : this.cues.length ? "" : t("live.captionsBefore", { name: file.name, time: clock(this.second) });
    if (this.cues.length) this.play();
  }

  play() {
    this.problem = "";
    let last = performance.now();
    this.running = true;
    this.timer = setInterval(() => {
      const now = performance.now();
      this.second = Math.min(this.length, this.second + (this.speed * (now - last)) / 1000);
      last = now;
      this.push();
    }, TICK_MS);
  }

  pause() {
    clearInterval(this.timer);
    this.running = false;
  }

  /** Send the captions that are over; those that the service did not get are sent again. */
  async push() {
    const due = this.cues.filter((cue) => cue.end <= this.second).slice(0, MAX_SEGMENTS);
    if (this.sending || !due.length) return;
    this.sending = true;
    try {
      await postJson(`${this.path}/segments`, { segments: due });
      this.cues = this.cues.slice(due.length);
      this.tellLost(false);
      if (!this.cues.length) this.pause();
    } catch (error) {
      await this.failed(error);
    }
    this.sending = false;
  }

  /** What the service refuses ends the replay; a service that cannot be reached is tried again. @param {unknown} error */
  async failed(error) {
    if (error instanceof Problem && error.status < 500 && error.status !== 429) {
      this.pause();
      this.problem = error.message;
      return;
    }
    this.tellLost(true);
    await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
  }

  /** @param {boolean} lost */
  tellLost(lost) {
    if (lost !== this.lost) this.tell("quoth-lost", lost);
    this.lost = lost;
  }

  render() {
    const speed = (/** @type {any} */ event) => { this.speed = Number(event.target.value); };
    return html`<div class="row">
        <label class="button">${t("live.replay")}<input class="hidden" type="file" accept=".vtt,.srt,text/vtt" @change=${this.choose}></label>
        <label class="row soft">${t("live.speed")} <select @change=${speed}>${SPEEDS.map((value) => html`<option value=${value} ?selected=${value === this.speed}>${value}×</option>`)}</select></label>
        ${this.length ? html`<button ?disabled=${!this.cues.length} @click=${this.running ? this.pause : this.play}>${t(this.running ? "live.pause" : "live.play")}</button>
          <progress max=${this.length} value=${this.second} aria-label=${t("live.replay")}></progress>
          <span class="soft">${clock(this.second)} / ${clock(this.length)}</span>` : nothing}
      </div>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}`;
  }
}

customElements.define("live-replay", LiveReplay);
