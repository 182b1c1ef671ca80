"""Objects of a bucket of S3-compatible storage, below one prefix; calls block."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from quoth.core.errors import BackendError, ConfigError
from quoth.core.replace_file import replacing

if TYPE_CHECKING:
    from quoth.core.settings import Settings

SCHEME = "s3://"
CONNECT_S, REQUEST_S, TRIES = 5.0, 30.0, 4
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class S3Access:
    """How a bucket is reached; without ``endpoint`` at AWS, without keys by its usual ways."""

    endpoint: str | None = None
    region: str = "us-east-1"
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> S3Access:
        """Return the access that the settings name."""
        access, secret = settings.s3_access_key, settings.s3_secret_key
        return cls(
            settings.s3_endpoint,
            settings.s3_region,
            None if access is None else access.get_secret_value(),
            None if secret is None else secret.get_secret_value(),
        )

    @property
    def url(self) -> str:
        """The address of the server, to be shown."""
        return self.endpoint or f"https://s3.{self.region}.amazonaws.com"

    def lance_options(self) -> Mapping[str, str]:
        """Return the options that LanceDB takes for a table there."""
        options = {
            "aws_region": self.region,
            "aws_endpoint": self.endpoint,
            "aws_access_key_id": self.access_key,
            "aws_secret_access_key": self.secret_key,
        }
        found = {name: value for name, value in options.items() if value}
        if self.endpoint:
            found["allow_http"] = str(self.endpoint.startswith("http:")).lower()
            found["aws_virtual_hosted_style_request"] = "false"
        return found


class S3Folder:
    """The objects below s3://BUCKET/PREFIX, by name; every failure is a BackendError."""

    def __init__(self, address: str, *, access: S3Access) -> None:
        self._root = checked_address(address).removeprefix(SCHEME)
        self._access = access

    def below(self, name: str) -> S3Folder:
        """Return a folder in this one."""
        return S3Folder(f"{SCHEME}{self._root}/{name}", access=self._access)

    def get(self, name: str) -> bytes | None:
        """Return an object's content, None where there is none."""
        with self._told():
            try:
                with self._files().open_input_stream(self._path(name)) as stream:
                    content: bytes = stream.read()
                    return content
            except FileNotFoundError:
                return None

    def put(self, name: str, content: bytes) -> None:
        """Write an object in one step."""
        with self._told(), self._files().open_output_stream(self._path(name)) as stream:
            stream.write(content)

    def upload(self, name: str, path: Path) -> None:
        """Write a file as an object; it is there once it is complete."""
        with (
            self._told(),
            path.open("rb") as file,
            self._files().open_output_stream(self._path(name)) as stream,
        ):
            shutil.copyfileobj(file, stream, BLOCK)

    def download(self, name: str, path: Path) -> bool:
        """Write an object to a file, which is there once it is complete; False if there is none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._told():
            try:
                with (
                    self._files().open_input_stream(self._path(name)) as stream,
                    replacing(path) as draft,
                    draft.open("wb") as file,
                ):
                    shutil.copyfileobj(stream, file, BLOCK)
            except FileNotFoundError:
                return False
        return True

    def has(self, name: str) -> bool:
        """Return whether there is an object of this name, by one request."""
        from pyarrow.fs import FileType

        with self._told():
            found = self._files().get_file_info(self._path(name))
        return bool(found.type == FileType.File)

    def names(self) -> list[str]:
        """Return the names of all objects, those in folders with their path."""
        return list(self.written())

    def written(self) -> dict[str, float]:
        """Return when each object was written, in seconds since 1970, by name."""
        from pyarrow.fs import FileSelector, FileType

        with self._told():
            every = FileSelector(self._root, recursive=True, allow_not_found=True)
            found = self._files().get_file_info(every)
        begin = f"{self._root}/"
        return {
            each.path.removeprefix(begin): each.mtime_ns / 1e9
            for each in found
            if each.type == FileType.File
        }

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; one that is not there is no error."""
        with self._told():
            for name in names:
                try:
                    self._files().delete_file(self._path(name))
                except FileNotFoundError:
                    continue

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _files(self) -> Any:
        return _filesystem(self._access)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            first = str(error).splitlines()[0][:200]
            raise BackendError(
                f"The storage at {self._access.url} failed: {first}", retryable=True
            ) from error


def open_files(settings: Settings) -> S3Folder | None:
    """Return the storage of uploaded files that machines share, None for the home folder."""
    if settings.files is None:
        return None
    return S3Folder(settings.files, access=S3Access.of(settings))


def checked_address(address: str) -> str:
    """Return s3://BUCKET or s3://BUCKET/PREFIX without a slash at its end; raises ConfigError."""
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.netloc or "@" in parts.netloc:
        raise ConfigError(
            f"'{address.rpartition('@')[2]}' is no bucket. Write it as s3://BUCKET/FOLDER; "
            "keys are settings (QUOTH_S3_ACCESS_KEY, QUOTH_S3_SECRET_KEY)."
        )
    return address.rstrip("/")


@cache
def _filesystem(access: S3Access) -> Any:
    """Return the connections to a server, which all folders there share."""
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    endpoint = urlsplit(access.endpoint or "")
    return S3FileSystem(
        access_key=access.access_key,
        secret_key=access.secret_key,
        region=access.region,
        scheme=endpoint.scheme or "https",
        endpoint_override=endpoint.netloc or None,
        connect_timeout=CONNECT_S,
        request_timeout=REQUEST_S,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=TRIES),
    )
