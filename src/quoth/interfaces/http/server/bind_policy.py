"""Check that the service listens on other interfaces only if an API key exists."""

from __future__ import annotations

from quoth.core.errors import ConfigError
from quoth.core.settings import Settings
from quoth.interfaces.http.middleware.trusted_host import check_names, is_loopback
from quoth.store.database import Database
from quoth.store.keys import any_key


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
