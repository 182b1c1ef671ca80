// The part of Lit that the app uses, so that types are checked without its packages.
export type PropertyOptions = { attribute?: boolean | string; type?: unknown; state?: boolean };
export class LitElement extends HTMLElement {
  static properties: Record<string, PropertyOptions>;
  requestUpdate(): void;
  updateComplete: Promise<boolean>;
  protected createRenderRoot(): HTMLElement | DocumentFragment;
  protected render(): unknown;
  protected updated(changed: Map<string, unknown>): void;
  protected willUpdate(changed: Map<string, unknown>): void;
  connectedCallback(): void;
  disconnectedCallback(): void;
}
export function html(strings: TemplateStringsArray, ...values: unknown[]): unknown;
export function svg(strings: TemplateStringsArray, ...values: unknown[]): unknown;
export const nothing: unique symbol;
export function repeat<T>(
  items: Iterable<T>,
  key: (item: T, index: number) => unknown,
  template: (item: T, index: number) => unknown,
): unknown;
export function live(value: unknown): unknown;
