"""ODT: texts of OpenDocument."""

from __future__ import annotations

from contextlib import suppress

from quoth.core.errors import DocumentError
from quoth.core.types import ParsedDocument
from quoth.ingest.readers.blocks import assemble
from quoth.ingest.readers.division_paragraphs import with_division_sections
from quoth.ingest.readers.numbered_titles import with_numbered_titles
from quoth.ingest.readers.odf_lists import ListStyles, list_styles
from quoth.ingest.readers.odf_text import flow_blocks
from quoth.ingest.readers.office_properties import office_properties
from quoth.ingest.readers.source_file import SourceFile, password_error
from quoth.ingest.readers.xml_parts import Element, attribute, below, children, local
from quoth.ingest.readers.zip_container import ZipContainer, open_container

CONTENT = "content.xml"
STYLES = "styles.xml"


def read_odt(file: SourceFile) -> ParsedDocument:
    """Read a text: headings, lists, tables, notes after their paragraph, changes as accepted."""
    container = open_container(file.data, name=file.name)
    root = content_root(container)
    inside = _body(root)
    body = next(children(inside, "text"), inside)
    styles = _named_styles(body, root)
    blocks = flow_blocks(
        body,
        embedded=lambda address: embedded_object(container, address),
        styles=styles_of_lists(container, root),
        style=lambda each: styles.get(attribute(each, "style-name"), ""),
    )
    content = assemble(with_division_sections(with_numbered_titles([*blocks])))
    return file.document("document", content, meta=office_properties(container))


def content_root(container: ZipContainer) -> Element:
    """Return the content of an OpenDocument file; raises DocumentError."""
    refuse_encrypted(container)
    return container.xml(CONTENT)


def refuse_encrypted(container: ZipContainer) -> None:
    """Raise DocumentError for a file with a password."""
    member = "META-INF/manifest.xml"
    if not container.has(member):
        return
    manifest = container.xml(member, allow_external=True)
    if next(below(manifest, "encryption-data"), None) is not None:
        raise password_error(container.name)


def styles_of_lists(container: ZipContainer, root: Element) -> ListStyles:
    """Return the styles of lists and headings of the content and of styles.xml."""
    named: list[Element] = []
    # Without its styles a text can still be read.
    with suppress(DocumentError):
        # Its automatic styles are those of headers, and may have the names of others.
        named = list(children(container.xml(STYLES), "styles"))
    return list_styles([*named, root])


def _named_styles(body: Element, root: Element) -> dict[str, str]:
    """Return the style that people chose for each style of a paragraph."""
    parents = {
        attribute(each, "name"): attribute(each, "parent-style-name")
        for each in below(root, "style")
    }
    used = {attribute(each, "style-name") for each in body.iter() if local(each) in ("p", "h")}
    return {name: parents.get(name) or name for name in used}


def embedded_object(container: ZipContainer, address: str) -> Element | None:
    """Return the content of an embedded object, such as an equation or a chart."""
    member = f"{address.removeprefix('./').rstrip('/')}/{CONTENT}"
    if not container.has(member):
        return None
    try:
        root = container.xml(member, allow_external=True)
    except DocumentError:
        return None
    return _body(root)


def _body(root: Element) -> Element:
    """Return what holds the content, after the styles; the whole where there is no body."""
    return next(below(root, "body"), root)
