"""What the service does before it listens: checks its address and certificate, and warms up."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from quoth.core.errors import BackendError, ConfigError, QuothError
from quoth.core.settings import Settings
from quoth.engine import Engine
from quoth.interfaces.http.middleware.trusted_host import check_names, is_loopback
from quoth.pipeline.components import no_op
from quoth.pipeline.egress import unwrap_models
from quoth.pipeline.retrieve import Request
from quoth.store.database import Database
from quoth.store.keys import any_key

QUERIES = ("What is this about, and who says so?", "De quoi s'agit-il, et qui le dit ?")
"""One for each language whose resources are loaded on first use."""


def check_binding(host: str, *, database: Database, settings: Settings) -> None:
    """Refuse invalid host names, and other machines while no key exists; raises ConfigError."""
    check_names(settings.hosts)
    if is_loopback(host):
        return
    if settings.keys_needed == "never":
        raise ConfigError(
            f"The service cannot listen on {host}, beyond this machine, without keys: the setting "
            "'keys_needed' is never. Set it to auto, or listen on 127.0.0.1."
        )
    if not any_key(database, live=True):
        raise ConfigError(
            f"The service cannot listen on {host}, beyond this machine, before there is a key. "
            "Make one with: quoth keys add --label NAME --scopes read,ingest,live,admin"
        )


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate chain in PEM and its private key, which may be in the same file."""

    certfile: Path
    keyfile: Path | None = None


def read_certificate(certfile: Path | None, keyfile: Path | None) -> Certificate | None:
    """Return a certificate that can be used, None without one; raises ConfigError."""
    if certfile is None:
        if keyfile is not None:
            raise ConfigError("A key needs its certificate: add --certfile FILE.")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Without a password the library would ask for it in the terminal.
        context.load_cert_chain(certfile, keyfile, password="")
    except (OSError, ValueError) as error:
        files = str(certfile) if keyfile is None else f"{certfile} with {keyfile}"
        raise ConfigError(
            f"{files} cannot be used as a certificate ({error}). --certfile takes a chain in PEM, "
            "--keyfile its private key without a password."
        ) from error
    return Certificate(certfile, keyfile)


async def warm(engine: Engine) -> None:
    """Load what the first query would otherwise wait for: answer one, import models' packages.

    Nothing is stored, and no language model is called. An error here would fail a query as well,
    which then reports it.
    """
    for model in (model for each in engine.parts.models for model in unwrap_models(each)):
        if hasattr(model, "opened"):  # its packages are loaded on first use
            with suppress(BackendError):
                await model.opened()
    with suppress(BackendError):
        await engine.parts.embedder.embed(list(QUERIES), role="query")
    quiet = Engine(replace(engine.parts, observe=no_op))
    names = [found.name for found in await asyncio.to_thread(engine.parts.catalogue.collections)]
    first = [name for name in names if name == engine.parts.settings.collection] or names[:1]
    for query in QUERIES if first else ():
        request = Request(
            query, choices={"generate": False, "cache": "none"}, collections=tuple(first)
        )
        with suppress(QuothError):
            await quiet.answer(request, keep=lambda _record: None)
