"""From paths and standard input to texts. Knows nothing of YAML, JSON or Kubernetes."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from . import gzipped
from .faults import NO_SUCH_PATH, Fault

MAX_BYTES = 1 << 30
"""The largest source that is read."""
STDIN = "-"
_TEXTS = (".yaml", ".yml", ".json")
SUFFIXES = (*_TEXTS, *(f"{suffix}{gzipped.SUFFIX}" for suffix in _TEXTS))
"""How files end that are read of a directory."""
_MADE_BY = {
    "kustomization.yaml": "kubectl kustomize",
    "kustomization.yml": "kubectl kustomize",
    "Kustomization": "kubectl kustomize",
    "Chart.yaml": "helm template",
}
"""Files that say that manifests have to be made of a directory, and the command that makes them."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source(NamedTuple):
    """One file or stream: its name as the user wrote it, and its content as UTF-8 without byte order mark.

    Without `has_lines` it is no text that anybody sees: places in it are told without a line.
    """

    name: str
    data: bytes
    has_lines: bool = True


def read_sources(
    paths: Iterable[str | os.PathLike[str]], faults: list[Fault], *, recursive: bool, stdin: BinaryIO | None
) -> Iterator[Source]:
    """Reads everything that the paths name, each file once; what can't be read becomes a fault.

    Directories stand for the .yaml, .yml and .json files in them, in name order; `-` is standard input. What is
    compressed with gzip is unpacked, whatever its name. A kustomization or a chart is a fault, wherever it is met:
    what lies in it is not what a cluster gets.
    """
    seen: set[str] = set()
    for given in paths:
        name = os.fspath(given)
        for file in [name] if name == STDIN else _files(name, faults, recursive=recursive):
            identity = name if name == STDIN else os.path.realpath(file)
            if identity in seen:
                continue
            seen.add(identity)
            source = _read(file, faults, stdin)
            if source is not None:
                yield source


def _files(name: str, faults: list[Fault], *, recursive: bool) -> list[str]:
    path = Path(name)
    if not name:
        faults.append(Fault("", "empty path"))
    elif not is_there(path):
        faults.append(_missing(name, path))
    elif (fault := _to_be_made(name, path)) is not None:
        faults.append(fault)
    elif not path.is_dir():
        return [name]
    else:
        return _directory(name, path, faults, recursive=recursive)
    return []


def _to_be_made(name: str, path: Path) -> Fault | None:
    """That a path is a kustomization or a chart, of which manifests have to be made; None if it is neither."""
    folder = path if path.is_dir() else path.parent
    wanted = _MADE_BY if path.is_dir() else {path.name: _MADE_BY[path.name]} if path.name in _MADE_BY else {}
    for file, command in wanted.items():
        if (folder / file).is_file():
            what = "a chart" if file == "Chart.yaml" else "a kustomization"
            made = f"`{command} {shlex.quote(str(folder))} | dra-plan ... -` plans what it makes"
            return Fault(name, f"{what}, of which manifests have to be made", hint=made)
    return None


def is_meant_as_path(name: str) -> bool:
    """Whether a text, by its form, can only be meant as a path: whether there is such a file or not."""
    return name == STDIN or name.endswith((*SUFFIXES, gzipped.SUFFIX, "/")) or name.startswith((".", "/", "~"))


def is_there(name: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file or directory; not if it is too long to be one."""
    try:
        return Path(name).exists()
    except OSError:
        return False


def _missing(name: str, path: Path) -> Fault:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        return Fault(name, _reason(error) if isinstance(error, OSError) else NO_SUCH_PATH)
    if path.is_symlink():
        try:
            path.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                return Fault(name, "a link that leads back to itself")
        return Fault(name, f"broken link to {path.readlink()}")
    if name.startswith(("http://", "https://")):
        return Fault(name, NO_SUCH_PATH, hint="addresses are not fetched; pipe the content into `-`")
    return Fault(name, NO_SUCH_PATH)


def _directory(name: str, path: Path, faults: list[Fault], *, recursive: bool) -> list[str]:
    def unreadable(error: OSError) -> None:
        faults.append(Fault(error.filename or name, _reason(error)))

    found: list[str] = []
    has_folders = False
    before = len(faults)
    for folder, folders, files in os.walk(path, onerror=unreadable):
        if (fault := _to_be_made(folder, Path(folder))) is not None:
            faults.append(fault)
            folders.clear()
            continue
        for file in sorted(Path(folder, file) for file in files if file.endswith(SUFFIXES)):
            # A pipe or device that is named as a path is read; one that happens to lie in a directory may block.
            if file.exists() and not file.is_file():
                faults.append(Fault(str(file), "not a regular file"))
            else:
                found.append(str(file))
        has_folders = bool(folders)
        if not recursive:
            break
        folders.sort()
    if not found and len(faults) == before:
        hint = "-R looks into its directories too" if has_folders and not recursive else ""
        faults.append(Fault(name, "no .yaml, .yml or .json file in this directory", hint=hint))
    return found


def _reason(error: OSError) -> str:
    """The system's words, as they are on every system."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def _read(name: str, faults: list[Fault], stdin: BinaryIO | None) -> Source | None:
    try:
        if name == STDIN:
            data = _limited(stdin) if stdin is not None else b""
        elif not is_there(name):
            faults.append(_missing(name, Path(name)))
            return None
        else:
            with Path(name).open("rb") as file:
                # The size of a regular file is known; pipes and devices may go on for ever.
                data = file.read() if 0 < os.fstat(file.fileno()).st_size <= MAX_BYTES else _limited(file)
    except OSError as error:
        faults.append(Fault(name, _reason(error)))
        return None
    if len(data) > MAX_BYTES:
        faults.append(Fault(name, f"larger than {MAX_BYTES} bytes"))
        return None
    return _as_text(name, data, faults)


class RecordedInput(io.RawIOBase, BinaryIO):
    """A stream that can be read only once, and again what was read of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._read = stream, bytearray()

    def read(self, size: int = -1) -> bytes:
        """As for files."""
        data = self._stream.read(size)
        self._read += data
        return data

    def again(self) -> BinaryIO:
        """What was read so far, from its beginning."""
        return io.BytesIO(self._read)


def _limited(file: BinaryIO) -> bytes:
    """The content, or a little more than may be read of it."""
    data = bytearray()
    while len(data) <= MAX_BYTES and (piece := file.read(1 << 20)):
        data += piece
        if b"\0" in piece and not data.startswith((*_UTF16, gzipped.MAGIC)):
            break  # no text, so the rest of it need not be known
    return bytes(data)


def _as_text(name: str, data: bytes, faults: list[Fault]) -> Source | None:
    """Unpacks, removes byte order marks and refuses what is not text."""
    if data.startswith(gzipped.MAGIC):
        limit = gzipped.most(len(data), MAX_BYTES)
        try:
            content = gzipped.unpacked(data, limit)
        except ValueError as error:
            faults.append(Fault(name, "not to be unpacked with gzip", hint=str(error)))
            return None
        if content is None:
            faults.append(Fault(name, f"larger than {limit} bytes when unpacked"))
            return None
        data = content
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif data.startswith(_UTF16):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError:
            faults.append(Fault(name, "starts as UTF-16 but is not valid UTF-16"))
            return None
    zero = data.find(b"\0")
    if zero >= 0:
        hint = "if it is UTF-16, save it as UTF-8"
        faults.append(Fault(name, "NUL byte; not a text file", line=data.count(b"\n", 0, zero) + 1, hint=hint))
        return None
    invalid = _invalid_utf8(data)
    if invalid is not None:
        line = data.count(b"\n", 0, invalid) + 1
        faults.append(Fault(name, f"not UTF-8: byte 0x{data[invalid]:02x}", line=line))
        return None
    return Source(name, data)


def _invalid_utf8(data: bytes) -> int | None:
    """The position of the first byte that is not UTF-8; in pieces, so that no second copy of the text is held."""
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin in range(0, len(data), 1 << 20):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[begin : begin + (1 << 20)], final=begin + (1 << 20) >= len(data))
        except UnicodeDecodeError as error:
            return begin - pending + error.start
    return None
