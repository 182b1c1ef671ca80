/** One tooltip for all elements with `data-tip` beside it: after 200 ms, at the pointer, on focus and touch too. */
import { Base } from "../base.js";
import { html, nothing } from "../vendor/lit.js";

const DELAY_MS = 200;
const OFFSET = 14;

class HoverTip extends Base {
  static properties = { text: { state: true } };

  constructor() {
    super();
    this.text = "";
    this.timer = 0;
    this.at = { x: 0, y: 0 };
    this.over = this.over.bind(this);
    this.move = this.move.bind(this);
    this.focus = this.focus.bind(this);
    this.hide = this.hide.bind(this);
  }

  /** @returns {[string, (event: any) => void][]} */
  get listeners() {
    const key = (/** @type {KeyboardEvent} */ event) => { if (event.key === "Escape") this.hide(); };
    return [
      ["pointerover", this.over], ["pointermove", this.move], ["pointerout", this.hide],
      ["focusin", this.focus], ["focusout", this.hide], ["keydown", key],
    ];
  }

  connectedCallback() {
    super.connectedCallback();
    for (const [name, listener] of this.listeners) this.parentElement?.addEventListener(name, listener);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.hide();
  }

  /** @param {any} event */
  over(event) {
    this.at = { x: event.clientX, y: event.clientY };
    this.show(event.target);
  }

  /** @param {any} event */
  focus(event) {
    if (!event.target.matches("[data-tip]:focus-visible")) return;
    const { left, bottom } = event.target.getBoundingClientRect();
    this.at = { x: left, y: bottom - OFFSET / 2 };
    this.show(event.target);
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.at = { x: event.clientX, y: event.clientY };
    this.place();
  }

  /** @param {Element} target */
  show(target) {
    const text = /** @type {HTMLElement | null} */ (target.closest("[data-tip]"))?.dataset.tip ?? "";
    clearTimeout(this.timer);
    if (text) this.timer = setTimeout(() => { this.text = text; }, DELAY_MS);
  }

  hide() {
    clearTimeout(this.timer);
    this.text = "";
  }

  updated() {
    this.place();
  }

  place() {
    const tip = /** @type {HTMLElement | null} */ (this.querySelector(".tip"));
    if (!tip) return;
    const right = document.documentElement.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${Math.max(4, Math.min(right, this.at.x + OFFSET))}px`;
    const below = this.at.y + OFFSET + tip.offsetHeight < window.innerHeight;
    tip.style.top = `${below ? this.at.y + OFFSET : this.at.y - OFFSET - tip.offsetHeight}px`;
  }

  render() {
    return this.text ? html`<div class="tip" aria-hidden="true">${this.text}</div>` : nothing;
  }
}

customElements.define("hover-tip", HoverTip);
