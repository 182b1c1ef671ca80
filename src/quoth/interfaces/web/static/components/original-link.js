/** The link to the source of a citation: an address of the web is opened, a file of the service saved. */
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { isSafeLink } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

/** @param {string | null} link */
export function originalLink(link) {
  if (!link || !isSafeLink(link)) return nothing;
  return link.startsWith("/")
    ? html`<a class="original" download href=${linkTo(link)}>${t("pdf.save")}</a>`
    : html`<a class="original" href=${link} target="_blank" rel="noopener noreferrer">${t("proof.original")}</a>`;
}
