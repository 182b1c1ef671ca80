"""How a provider is reached over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from quoth.backends.generators.access import is_local_url


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """A provider's address and key; ``part`` is what it is used as, for messages."""

    part: str
    provider: str
    model: str
    url: str
    key: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    timeout_s: float = 30.0
    retries: int = 2

    @property
    def endpoint(self) -> str:
        """Return the host that receives the texts."""
        return urlsplit(self.url).netloc

    @property
    def local(self) -> bool:
        """Return whether that is this machine."""
        return is_local_url(self.url)
