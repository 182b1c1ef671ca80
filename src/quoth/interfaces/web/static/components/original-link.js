/** The link to the source of a citation: an address of the web or a line of a talk is opened, a file of the service saved. */
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { isSafeLink, linePath } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

/**
 * Return the link of a citation or of a passage that was found; nothing leads to a document that
 * has changed or is gone, or that the visitor may not read.
 * @param {any} item @param {{start: number, end: number} | null} [span] its place in the stored text
 * @param {boolean} [readable]
 */
export function originalLink(item, span = placeOf(item), readable = !item.changed) {
  const { link, locator, document_id: id } = item;
  if (!link || !isSafeLink(link)) return nothing;
  if (!link.startsWith("/")) return html`<a class="original" href=${link} target="_blank" rel="noopener noreferrer">${t("proof.original")}</a>`;
  if (!readable) return nothing;
  if (locator.kind !== "seconds") return html`<a class="original" download href=${linkTo(link)}>${t("pdf.save")}</a>`;
  return span ? html`<a class="original" href=${linkTo(linePath(id, span))}>${t("proof.inText")}</a>` : nothing;
}

/** @param {any} item */
function placeOf({ snippet_start: start, snippet_end: last, span_end: end }) {
  return start === undefined ? null : { start, end: end || last };
}
