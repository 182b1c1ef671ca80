"""The certificate of a service that speaks TLS itself, without a proxy in front."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from quoth.core.errors import ConfigError


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
