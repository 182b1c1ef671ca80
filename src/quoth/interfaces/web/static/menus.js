/** Menus that lie over the page: a click outside or on a link and Escape close them, so that one at most is open. */
const OPEN = "details.menu[open]";

/** @param {MouseEvent} event */
function closeAfterClick(event) {
  // The path is that of the click: what was clicked may have been replaced since.
  const path = event.composedPath();
  const left = path.some((each) => each instanceof HTMLAnchorElement);
  for (const menu of document.querySelectorAll(OPEN)) if (left || !path.includes(menu)) menu.removeAttribute("open");
}

/** @param {KeyboardEvent} event */
function closeLast(event) {
  const menu = document.querySelector(OPEN);
  if (event.key !== "Escape" || event.defaultPrevented || !menu) return;
  event.preventDefault();
  menu.removeAttribute("open");
  menu.querySelector("summary")?.focus();
}

/** Scroll as far as a menu that was opened needs. @param {Event} event */
function showWhole({ target }) {
  const menu = /** @type {HTMLElement} */ (target);
  if (menu.matches(OPEN)) menu.querySelector(".panel")?.scrollIntoView({ block: "nearest" });
}

/** Close menus as people expect it, from now on. */
export function watchMenus() {
  // This event does not bubble.
  document.addEventListener("toggle", showWhole, true);
  document.addEventListener("click", closeAfterClick);
  document.addEventListener("keydown", closeLast);
}
