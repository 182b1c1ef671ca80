"""What stores with a client of their own share: connected on first use, a folder or a server."""

from __future__ import annotations

import shutil
import threading
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from quoth.backends.indexes.vector_store import StoreAccess


class Closes(Protocol):
    """A client that can be closed."""

    def close(self) -> None:
        """Close the connections."""
        ...


Client = TypeVar("Client", bound=Closes)


class ClientStore(ABC, Generic[Client]):
    """One table, which is a collection of the store; ``ending`` is that of its folder here.

    Searches of several threads share one client: the first of them opens it.
    """

    ending: str

    def __init__(self, access: StoreAccess) -> None:
        self._access = access
        self._folder = access.folder / f"{access.table}{self.ending}"
        self.endpoint = urlsplit(access.address).netloc
        self._client: Client | None = None
        self._there = False
        self._opening = threading.RLock()

    def build(self, *, rows: int) -> bool:
        """Do nothing: these stores build their index by themselves."""
        return False

    def drop(self) -> None:
        """Remove the collection, and its folder."""
        if self._exists():
            self._drop(self._connect())
        self.close()
        if not self._access.address:
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            self._client.close()
        self._client, self._there = None, False

    def _connect(self) -> Client:
        """Return the client, connected on first use."""
        with self._opening:
            if self._client is None:
                self._client = self._open()
            return self._client

    def _exists(self) -> bool:
        with self._opening:
            if not self._there and (self._access.address or self._folder.exists()):
                self._there = self._has(self._connect())
            return self._there

    def _make(self) -> Client:
        """Return the client of a collection that is there, made where it was not."""
        with self._opening:
            client = self._connect()
            if not self._exists():
                self._create(client)
                self._there = True
            return client

    @abstractmethod
    def _open(self) -> Client: ...

    @abstractmethod
    def _has(self, client: Client) -> bool: ...

    @abstractmethod
    def _create(self, client: Client) -> None: ...

    @abstractmethod
    def _drop(self, client: Client) -> None: ...
