"""Opens the index of a table in the store that the settings name: NAME or NAME@ADDRESS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from quoth.backends.http_access import check_address
from quoth.backends.indexes.lancedb.bucket import Bucket
from quoth.backends.indexes.lancedb.index import LanceIndex
from quoth.backends.indexes.vector_store import Connect, StoreAccess, VectorStore
from quoth.backends.registry import backend, open_plugin, plugin, require
from quoth.backends.s3 import S3Access, S3Folder, checked_address
from quoth.core.command_line import REINDEX
from quoth.core.errors import ConfigError
from quoth.core.page_images import PageEmbedder, PagePictures
from quoth.core.plan import profile
from quoth.core.protocols import Index, SparseEmbedder

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from quoth.core.settings import Settings


@dataclass(frozen=True, slots=True)
class StoreRow:
    """What a store needs: whether it runs in a folder here and on servers, and its key's setting.

    ``url`` is the public address of a hosted service, which needs the key; ``schemes`` are those
    of an address, any where there are none.
    """

    local: bool = True
    servers: bool = False
    key: str = ""
    url: str = ""
    schemes: tuple[str, ...] = ("http", "https")


@dataclass(frozen=True, slots=True)
class StorePlace:
    """The chosen store and what it needs to open a table of one tenant.

    ``access`` is that of every table but for its name. ``keywords`` is the server that holds the
    keyword index and the locks of shared tables, None for files in the folder.
    """

    name: str
    access: StoreAccess
    keywords: str | None = None
    s3: S3Access = field(default_factory=S3Access)

    def open(
        self,
        table: str,
        *,
        on_operation: Callable[[str], None],
        sparse: SparseEmbedder | None = None,
        pages: PageEmbedder | None = None,
        pictures: PagePictures | None = None,
        rebuild: Callable[[], str] = REINDEX,
    ) -> Index:
        """Open the index of a table; nothing is connected or made before it is needed.

        ``sparse`` is an embedder whose lexical weights are kept beside the index, ``pages`` one
        for the pages of documents, which ``pictures`` draws. ``rebuild`` returns the command that
        rebuilds the index, for messages.
        """
        access = replace(self.access, table=table)
        index = self._open(access, on_operation, rebuild)
        # A server is asked later whether it has vectors of a model that was used before.
        kept = self.keywords is not None or (access.folder / f"{table}.pages.sqlite").exists()
        seen = pages is not None or kept
        if sparse is None and not seen:
            return index
        from quoth.backends.indexes.beside import IndexWithLists
        from quoth.backends.indexes.page_vectors import PageList, SqlPageVectors
        from quoth.backends.indexes.sparse import SparseList, SqlSparse

        page_list = weights = None
        if seen:
            connect, file = self._database(access, "pages")
            rows = SqlPageVectors(connect, table=table, file=file, rebuild=rebuild)
            page_list = PageList(rows, embedder=pages, pictures=pictures)
        if sparse is not None:
            connect, file = self._database(access, "sparse")
            weights = SparseList(SqlSparse(connect, table=table, file=file), embedder=sparse)
        return IndexWithLists(
            index,
            folder=access.folder,
            table=table,
            sparse=weights,
            pages=page_list,
            rebuild=rebuild,
        )

    def tables(self) -> dict[str, float]:
        """Return the tenant's tables in a bucket, and when each was last written to.

        Empty for stores in the folder, where that is seen, and for servers, which do not tell.
        """
        found: dict[str, float] = {}
        if self.name == "lancedb" and self.access.address:
            whole = S3Folder(f"{self.access.address}/{self.access.folder.name}", access=self.s3)
            for name, at in whole.written().items():
                table = name.removeprefix("segments/").partition("/")[0].partition(".")[0]
                found[table] = max(at, found.get(table, at))
        return found

    def _open(
        self,
        access: StoreAccess,
        on_operation: Callable[[str], None],
        rebuild: Callable[[], str],
    ) -> Index:
        if self.name == "lancedb":
            return LanceIndex(
                access.folder,
                access.table,
                dimension=access.dimension,
                bucket=self._bucket() if access.address else None,
                on_operation=on_operation,
                rebuild=rebuild,
            )
        from quoth.backends.indexes.keywords import SqlKeywords
        from quoth.backends.indexes.paired import PairedIndex

        connect, file = self._database(access, "keywords")
        if plugin("store", self.name) is None:
            store = backend("store", self.name)(access)
        else:
            store = open_plugin("store", self.name, access, protocol=VectorStore)
        return PairedIndex(
            store,
            SqlKeywords(connect, table=access.table, file=file),
            folder=access.folder,
            table=access.table,
            dimension=access.dimension,
            timeout_s=access.timeout_s,
            on_operation=on_operation,
            rebuild=rebuild,
        )

    def _database(self, access: StoreAccess, kind: str) -> tuple[Callable[[], Engine], Path | None]:
        """Return how the database of an index in SQL is opened, and its file, if it is one."""
        file = None
        if self.keywords is None:
            file = access.folder / f"{access.table}.{kind}.sqlite"
        return partial(access.connect, file or self.keywords or ""), file

    def _bucket(self) -> Bucket:
        """Return where the tenant's tables are; their lock is in the catalogue's own server."""
        access, server = self.access, self.keywords
        address = f"{access.address}/{access.folder.name}"
        return Bucket(
            address,
            options=self.s3.lance_options(),
            objects=S3Folder(f"{address}/segments", access=self.s3),
            locks=None if server is None else partial(access.connect, server),
        )


STORES: Mapping[str, StoreRow] = {
    "lancedb": StoreRow(servers=True, schemes=()),
    "sqlite-vec": StoreRow(),
    "chroma": StoreRow(servers=True, key="chroma_api_key"),
    "pgvector": StoreRow(servers=True, local=False, schemes=("postgresql", "postgres")),
    "qdrant": StoreRow(servers=True, key="qdrant_api_key"),
    "milvus": StoreRow(servers=True, key="milvus_token"),
    "pinecone": StoreRow(
        servers=True, local=False, key="pinecone_api_key", url="https://api.pinecone.io"
    ),
}


def store_access(
    settings: Settings, *, folder: Path, dimension: int, connect: Connect
) -> tuple[str, StoreAccess]:
    """Return the store of the settings and how it is reached; raises ConfigError, MissingExtra."""
    text = settings.store or profile(settings.profile).store
    name, _, address = text.strip().partition("@")
    require("store", name)
    try:
        password = urlsplit(address).password
    except ValueError:
        password = None
    if password is not None:
        raise ConfigError(
            f"The address of the store '{name}' contains a password, which would be shown. Take "
            "it from the address; for PostgreSQL set QUOTH_DATABASE instead."
        )
    row = STORES.get(name, StoreRow(servers=True, schemes=()))
    if name == "lancedb" and address:
        address = checked_address(address)
    if address and not row.servers:
        raise ConfigError(f"The store '{name}' is a folder on this machine and takes no address.")
    if name == "pgvector" and not address and settings.database is not None:
        address = settings.database.get_secret_value()
    elif address and row.schemes:
        check_address("store", name, address, schemes=row.schemes)
    address = address or row.url
    if not address and not row.local:
        raise ConfigError(
            f"The store '{name}' needs a server. Set QUOTH_DATABASE, or write its address after "
            f"the name: {name}@postgresql://HOST/DATABASE"
        )
    secret = getattr(settings, row.key) if row.key else None
    if secret is None and row.url:
        raise ConfigError(
            f"The store '{name}' needs a key, and there is none. Set {row.key.upper()}."
        )
    return name, StoreAccess(
        folder=folder,
        table="",
        dimension=dimension,
        connect=connect,
        address=address,
        key=None if secret is None else secret.get_secret_value(),
        timeout_s=settings.store_seconds,
    )


def store_place(
    settings: Settings, *, folder: Path, dimension: int, connect: Connect
) -> StorePlace:
    """Return the store of the settings, ready to open tables; raises ConfigError, MissingExtra.

    A store on a server has its keyword index in the catalogue's own server, where there is one.
    """
    name, access = store_access(settings, folder=folder, dimension=dimension, connect=connect)
    keywords = None
    if name == "pgvector":
        keywords = access.address
    elif access.address and settings.database is not None:
        keywords = settings.database.get_secret_value()
    s3 = S3Access.of(settings) if access.address else S3Access()
    return StorePlace(name, access, keywords, s3)
