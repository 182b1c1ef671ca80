"""Archives of files with checksums: a folder or one ``.tar.zst`` file.

The last file, ``manifest.json``, lists all others with size and SHA-256 and ends with its own
checksum, so that missing, altered or added files are detected.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from quoth.core.errors import ConfigError, InputError, StorageFull

MANIFEST = "manifest.json"
FORMAT = 1
ENDING = ".tar.zst"
BLOCK = 1 << 20
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class ArchiveInfo:
    """Contents of an archive: size and SHA-256 of each file by name, and its description."""

    files: Mapping[str, tuple[int, str]]
    about: Mapping[str, Any]

    @property
    def bytes(self) -> int:
        """Return the total size of all files."""
        return sum(size for size, _ in self.files.values())


@dataclass(slots=True)
class ArchiveWriter:
    """Writes files to an archive; ``put`` stores the data of a reader under a name."""

    put: Callable[[str, IO[bytes], int], None]
    files: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, name: str, path: Path) -> bool:
        """Add a file; return False where it has just been removed."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return False
        with file:
            self._add(name, file, os.fstat(file.fileno()).st_size)
        return True

    def add_text(self, name: str, text: str) -> None:
        """Add a small file."""
        content = text.encode()
        self._add(name, BytesIO(content), len(content))

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        read = _Hashed(file)
        self.put(name, cast("IO[bytes]", read), size)
        self.files[name] = (read.count, read.hash.hexdigest())


class _Hashed:
    """A reader that counts and hashes what passes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.hash = sha256()
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.hash.update(data)
        self.count += len(data)
        return data


@contextmanager
def write_archive(to: Path, *, about: Mapping[str, Any], folder: Path) -> Iterator[ArchiveWriter]:
    """Write an archive in `folder` and move it to `to`; its format follows from the suffix.

    Raises InputError where `to` exists already, StorageFull and ConfigError.
    """
    if to.exists():
        raise InputError(f"{to} is there already. Name another file or folder.")
    draft = folder / "draft"
    with translate_write_errors(to):
        to.parent.mkdir(parents=True, exist_ok=True)
        try:
            with (_tar if to.name.endswith(ENDING) else _folder)(draft) as packer:
                yield packer
                packed = {"format": FORMAT, **asdict(ArchiveInfo(dict(packer.files), dict(about)))}
                packer.add_text(MANIFEST, _sealed(json.dumps(packed, indent=1)))
            draft.replace(to)
        finally:
            _remove(draft)


@contextmanager
def translate_write_errors(to: Path) -> Iterator[None]:
    """Translate errors of writing files into those of `quoth.core.errors`."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StorageFull(
                f"There is no room left on the disk for {to}. Free some space and run the same "
                "command again; nothing was lost."
            ) from error
        raise ConfigError(f"{to} cannot be written: {error.strerror or error}.") from error


@contextmanager
def _folder(draft: Path) -> Iterator[ArchiveWriter]:
    draft.mkdir(mode=0o700)

    def put(name: str, file: IO[bytes], _size: int) -> None:
        path = draft / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as target:
            shutil.copyfileobj(file, target, BLOCK)
            target.flush()
            os.fsync(target.fileno())

    yield ArchiveWriter(put)


@contextmanager
def _tar(draft: Path) -> Iterator[ArchiveWriter]:
    import pyarrow as pa

    with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        with (
            pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd") as squeezed,
            tarfile.open(fileobj=squeezed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):

            def put(name: str, source: IO[bytes], size: int) -> None:
                about = tarfile.TarInfo(name)
                about.size, about.mode = size, 0o600
                tar.addfile(about, source)

            yield ArchiveWriter(put)
        if not file.closed:
            file.flush()
            os.fsync(file.fileno())


def unpack(
    pack: Path, *, into: Path, wanted: Callable[[str], bool] = lambda _name: True
) -> ArchiveInfo:
    """Extract the wanted files of an archive, after verifying every checksum.

    Raises InputError for a damaged archive, StorageFull and ConfigError; extracted files are then
    left for the caller to remove.
    """
    found: dict[str, tuple[int, str]] = {}
    manifest = b""
    for name, file in _members(pack):
        read = _Hashed(file)
        if name == MANIFEST:
            manifest = file.read()
            continue
        if not _is_plain(name) or name in found:
            raise _damaged(pack, f"it holds a file called {name!r}")
        with translate_write_errors(into):
            if wanted(name):
                path = into / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as target:
                    _copy(pack, read, target=target)
            else:
                _copy(pack, read, target=None)
        found[name] = (read.count, read.hash.hexdigest())
    packed = _unsealed(pack, manifest)
    for name in sorted(found.keys() | packed.files.keys()):
        if found.get(name) != packed.files.get(name):
            what = "is missing" if name not in found else "is not as it was written"
            raise _damaged(pack, f"{name} {what}")
    return packed


def _members(pack: Path) -> Iterator[tuple[str, IO[bytes]]]:
    import pyarrow as pa

    try:
        if pack.is_dir():
            for path in sorted(each for each in pack.rglob("*") if not each.is_dir()):
                with path.open("rb") as file:
                    yield path.relative_to(pack).as_posix(), file
            return
        with (
            pack.open("rb") as file,
            pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as plain,
            tarfile.open(fileobj=plain, mode="r|") as tar,
        ):
            for about in tar:
                content = tar.extractfile(about) if about.isreg() else None
                if content is None:
                    raise _damaged(pack, f"{about.name!r} is no plain file")
                yield about.name, content
    except FileNotFoundError:
        raise InputError(f"There is no backup {pack}.") from None
    except (OSError, EOFError, ValueError, tarfile.TarError) as error:
        raise _damaged(pack, str(error).partition("\n")[0]) from error


def _copy(pack: Path, source: _Hashed, *, target: IO[bytes] | None) -> None:
    while True:
        try:
            block = source.read(BLOCK)
        except (OSError, EOFError, ValueError, tarfile.TarError) as error:
            raise _damaged(pack, str(error).partition("\n")[0]) from error
        if not block:
            break
        if target is not None:
            target.write(block)
    if target is not None:
        target.flush()
        os.fsync(target.fileno())


def _is_plain(name: str) -> bool:
    parts = PurePosixPath(name).parts
    odd = any(part in ("..", "/") or "\\" in part or ":" in part for part in parts)
    return bool(parts) and not odd and "\x00" not in name and not name.startswith("/")


def _sealed(text: str) -> str:
    return f"{text}\n{sha256(text.encode()).hexdigest()}\n"


def _unsealed(pack: Path, content: bytes) -> ArchiveInfo:
    if not content:
        raise _damaged(pack, f"it has no {MANIFEST}, so it was never finished, or is no backup")
    try:
        text, seal = content.decode().rstrip("\n").rsplit("\n", 1)
        if sha256(text.encode()).hexdigest() != seal:
            raise ValueError("its checksum is another")
        found = json.loads(text)
        if found["format"] > FORMAT:
            raise InputError(f"The backup {pack} was made by a newer quoth. Update quoth.")
        files = {name: (int(size), str(check)) for name, (size, check) in found["files"].items()}
        return ArchiveInfo(files, found["about"])
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(pack, f"{MANIFEST} cannot be read ({error})") from error


def _damaged(pack: Path, why: str) -> InputError:
    return InputError(f"The backup {pack} is damaged: {why}. Take another one.")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
