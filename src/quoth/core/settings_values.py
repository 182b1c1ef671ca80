"""Checks of single settings; each raises ValueError with what to write instead."""

from __future__ import annotations

from ipaddress import ip_network
from urllib.parse import urlsplit

from pydantic import SecretStr


def check_database(address: SecretStr | None) -> SecretStr | None:
    """Return the address of a PostgreSQL server; None for an empty one."""
    if address is None or not address.get_secret_value().strip():
        return None
    if not address.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise ValueError("write it as postgresql://USER:PASSWORD@HOST/DATABASE")
    return address


def check_public_url(address: str | None) -> str | None:
    """Return the address of the service without a slash at its end; None for an empty one."""
    if not (address or "").strip():
        return None
    found = urlsplit(str(address).strip())
    if found.scheme not in ("http", "https") or not found.hostname or found.query:
        raise ValueError("write it as https://HOST or https://HOST/PATH")
    return f"{found.scheme}://{found.netloc}{found.path.rstrip('/')}"


def check_networks(given: str) -> str:
    """Return addresses and networks that are separated by commas, as they were given."""
    for part in given.split(","):
        try:
            if part.strip():
                ip_network(part.strip(), strict=False)
        except ValueError as error:
            raise ValueError(
                f"write addresses or networks, separated by commas, as in 10.0.0.0/8: {error}"
            ) from None
    return given


def check_hub(address: str) -> str:
    """Return the address of a hub without a slash at its end."""
    checked = check_public_url(address)
    if checked is None or "@" in checked:
        raise ValueError("write it as https://HOST, without a name or a password")
    return checked


def check_text(name: str) -> str:
    """Return a name that can be stored as text."""
    if any("\ud800" <= character <= "\udfff" for character in name) or "\x00" in name:
        raise ValueError("it is not valid text")
    return name


def check_key(key: SecretStr | None) -> SecretStr | None:
    """Return a key without white space around it; None for an empty one."""
    if key is None:
        return None
    bare = key.get_secret_value().strip()
    if not bare.isascii() or not bare.isprintable() or " " in bare:
        raise ValueError("a key contains only ASCII characters and no blanks")
    return SecretStr(bare) if bare else None
