"""Read paths and standard input into documents, each with its place.

Contents: gzip decompression within limits; files, directories and streams as texts; and the JSON or YAML documents in a
text. This module knows nothing of Kubernetes kinds.
"""

from __future__ import annotations

import codecs
import errno
import functools
import gzip
import io
import os
import shlex
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from dra_plan.api.meta import FieldPath

from . import json_reader, links, places
from .collect import Collector
from .faults import NO_SUCH_PATH, TEMPLATE, Fault, set_twice
from .json_reader import JsonError, Line, Lines, find, of_extents
from .places import DocumentText, LinedText, Place
from .recognized import CHART, recognized, recognized_file, template_hint

# -- gzip --------------------------------------------------------------------------------------------------------------

MAGIC = b"\x1f\x8b"
SUFFIX = ".gz"

_ALWAYS, _TIMES = 64 << 20, 200
"""The size that any source may have, and the maximum compression factor beyond it.

Dumps are compressed to a thirtieth of their size, bombs to a thousandth.
"""


def most(compressed: int, limit: int) -> int:
    """Return the maximum decompressed size for a compressed size. Both are in bytes."""
    return min(limit, _ALWAYS + _TIMES * compressed)


def unpacked(data: bytes, limit: int) -> bytes | None:
    """Return the decompressed data, or None if it is longer than `limit` bytes.

    Raises ValueError if the data is not valid gzip.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from error
    return content if len(content) <= limit else None


# -- files and streams -------------------------------------------------------------------------------------------------

MAX_BYTES = 1 << 30
"""The maximum size of a source in bytes."""
STDIN = "-"
_TEXTS = (".yaml", ".yml", ".json")
SUFFIXES = (*_TEXTS, *(f"{suffix}{SUFFIX}" for suffix in _TEXTS))
"""The suffixes of the files that are read from a directory."""
_MADE_BY = {
    "kustomization.yaml": "kubectl kustomize",
    "kustomization.yml": "kubectl kustomize",
    "Kustomization": "kubectl kustomize",
    CHART: "helm template",
}
"""Files that show that a directory must be rendered to manifests, and the command that does this."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source(NamedTuple):
    """A file or stream: its name as the user wrote it, and its content as UTF-8 without a byte order mark.

    If `has_lines` is not set, places in the source have no line, because the user never sees the text.
    """

    name: str
    data: bytes
    has_lines: bool = True


def read_sources(
    paths: Iterable[str | os.PathLike[str]], faults: list[Fault], *, recursive: bool, stdin: BinaryIO | None
) -> Iterator[Source]:
    """Yield each source in the paths once. Sources that cannot be read are added to `faults`.

    A directory stands for its .yaml, .yml and .json files, in name order. `-` is standard input. Gzip files are
    decompressed, whatever their names. A symbolic link out of the checkout is a fault, and so is a kustomization or a
    chart, because its files are not the manifests that a cluster gets.
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


def first_file(paths: Iterable[str], *, recursive: bool) -> str:
    """Return the first file to read, or `-` for standard input.

    Return "" if there is none, for example if the arguments are names of workloads.
    """
    for name in paths:
        files = [name] if name == STDIN else _files(name, [], recursive=recursive)
        if files:
            return files[0]
    return ""


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
    """Return the fault for a kustomization or a chart, which must be rendered first; None for any other path."""
    folder = path if path.is_dir() else path.parent
    if path.name == "values.yaml" and (folder / CHART).is_file():
        return _to_be_made(name, folder)
    wanted = _MADE_BY if path.is_dir() else {path.name: _MADE_BY[path.name]} if path.name in _MADE_BY else {}
    for file, command in wanted.items():
        if (folder / file).is_file():
            what = "a chart" if file == CHART else "a kustomization"
            made = f"use `{command} {shlex.quote(str(folder))} | dra-plan ... -`"
            return Fault(name, f"this is {what}, which has to be rendered first", hint=made)
    return None


def is_meant_as_path(name: str) -> bool:
    """Return whether the form of the name shows that it is a path, even if no such file exists."""
    return name == STDIN or name.endswith((*SUFFIXES, SUFFIX, "/")) or name.startswith((".", "/", "~"))


def is_there(name: str | os.PathLike[str]) -> bool:
    """Return whether a file or directory exists at this path. A text too long for a path is not an error."""
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
    checkout = links.checkout_of(path)
    has_folders = False
    before = len(faults)
    for folder, folders, files in os.walk(path, onerror=unreadable):
        if (fault := _to_be_made(folder, Path(folder))) is not None:
            faults.append(fault)
            folders.clear()
            continue
        for file in sorted(Path(folder, file) for file in files if file.endswith(SUFFIXES)):
            # A pipe or device that is named as a path is read; a pipe or device in a directory may block.
            if file.exists() and not file.is_file():
                faults.append(Fault(str(file), "not a regular file"))
            elif (outside := links.refused(file, checkout)) is not None:
                faults.append(outside)
            else:
                found.append(str(file))
        has_folders = bool(folders)
        if not recursive:
            break
        folders.sort()
    if not found and len(faults) == before:
        faults.append(
            _nothing_in(name, path, "-R also reads its subdirectories" if has_folders and not recursive else "")
        )
    return found


MOST_OTHERS = 20
"""The maximum number of files to look at in a directory without manifests."""


def _nothing_in(name: str, path: Path, hint: str) -> Fault:
    """Return the fault for a directory without manifests; it names a file with kubectl's output for people."""
    message = "no .yaml, .yml or .json file in this directory"
    for other in sorted(path.iterdir())[:MOST_OTHERS]:
        found = recognized_file(other) if other.is_file() and not other.is_symlink() else None
        if found is not None:
            return Fault(name, f"{message}; {other.name} is {found.what}", hint=found.hint)
    return Fault(name, message, hint=hint)


def _reason(error: OSError) -> str:
    """Return the system's message, independent of the platform."""
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
                # The size of a regular file is known, but pipes and devices may never end.
                data = file.read() if 0 < os.fstat(file.fileno()).st_size <= MAX_BYTES else _limited(file)
    except OSError as error:
        faults.append(Fault(name, _reason(error)))
        return None
    if len(data) > MAX_BYTES:
        faults.append(Fault(name, f"larger than {MAX_BYTES} bytes"))
        return None
    return _as_text(name, data, faults)


class RecordedInput(io.RawIOBase, BinaryIO):
    """A stream that can be read only once. Its content is recorded so that it can be read again."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._read = stream, bytearray()

    def read(self, size: int = -1) -> bytes:
        """Read from the stream and record what was read."""
        data = self._stream.read(size)
        self._read += data
        return data

    def again(self) -> BinaryIO:
        """Return a stream with everything read so far."""
        return io.BytesIO(self._read)


def _limited(file: BinaryIO) -> bytes:
    """Return the content, or slightly more than the limit."""
    data = bytearray()
    while len(data) <= MAX_BYTES and (piece := file.read(1 << 20)):
        data += piece
        if b"\0" in piece and not data.startswith((*_UTF16, MAGIC)):
            break  # not text, so the rest does not matter
    return bytes(data)


def _as_text(name: str, data: bytes, faults: list[Fault]) -> Source | None:
    """Decompress the data, remove byte order marks, and reject anything that is not text."""
    if data.startswith(MAGIC):
        limit = most(len(data), MAX_BYTES)
        try:
            content = unpacked(data, limit)
        except ValueError as error:
            faults.append(Fault(name, "gzip cannot unpack it", hint=str(error)))
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
    """Return the position of the first byte that is not UTF-8, reading in pieces to avoid a second copy of the text."""
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


# -- documents of a source ---------------------------------------------------------------------------------------------

_MAX_CHECKED = 1 << 20
"""The maximum number of bytes of JSON in which repeated keys are searched for.

Longer texts are dumps written by programs, which do not repeat keys.
"""
_JSON_SPACE = b" \t\r\n"


class Document(msgspec.Struct, frozen=True, eq=False):
    """A document: a plain value, or well-formed JSON text that has not been decoded."""

    place: Place
    value: Any = None
    data: bytes | None = None
    begin: int = 0
    end: int = 0
    envelope: json_reader.Envelope | None = None

    def hand_to(self, collector: Collector) -> None:
        """Add the document to the collector."""
        if self.data is None:
            collector.add(self.value, self.place)
        else:
            collector.add_json(self.data, self.begin, self.end, self.place, self.envelope)

    def plain(self) -> Any:
        """Return the document as a plain value. Raises `JsonError`."""
        if self.data is None:
            return self.value
        return json_reader.plain(memoryview(self.data)[self.begin : self.end])

    def place_of_fields(self) -> Place:
        """Return the place of the document, from which the lines of its fields can be found."""
        if self.data is None:
            return self.place
        text = _JsonText(self.data, self.begin, self.end, self.place.line)
        return self.place._replace(find_lines=text.lines, find_text=text)


def read_documents(source: Source, faults: list[Fault]) -> list[Document]:
    """Return the readable documents in the source. The faults of the others are added to `faults`."""
    head = source.data[:4096].lstrip(_JSON_SPACE)[:1]
    if head not in (b"{", b"["):
        known = recognized(source.name, source.data)
        if known is not None:
            faults.append(known)
            return []
        return list(_yaml(source, faults))
    documents: list[Document] = []
    try:
        for number, span in enumerate(json_reader.spans(source.data), 1):
            documents.extend(_json(source, number, span, faults))
    except JsonError as error:
        return _yaml_instead(source, error, documents, faults)
    return documents


# JSON


def _json(source: Source, number: int, span: json_reader.JsonExtent, faults: list[Fault]) -> Iterator[Document]:
    line = _line_at(source.data, span.begin) if source.has_lines else 0
    if span.end - span.begin <= _MAX_CHECKED and json_reader.has_repeated_keys(source.data[span.begin : span.end]):
        text = _JsonText(source.data, span.begin, span.end, line)
        for path, at in text.repeated:
            faults.append(Fault(source.name, set_twice(str(path[-1])), at, number))
    else:
        yield Document(Place(source.name, number, line), None, source.data, *span)


def _line_at(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _yaml_instead(source: Source, error: JsonError, read: list[Document], faults: list[Fault]) -> list[Document]:
    """Read a string that starts like JSON as flow-style YAML (KYAML).

    If both readers fail, report the error of the reader that got further.
    """
    line = _line_at(source.data, error.position)
    hint = template_hint(source.name) if source.data.lstrip(_JSON_SPACE).startswith(b"{{") else ""
    as_json = Fault(source.name, f"JSON: {error.message}", line, len(read) + 1, hint=hint)
    if source.name.endswith(".json"):
        faults.append(as_json)
        return read
    yaml_faults: list[Fault] = []
    documents = list(_yaml(source, yaml_faults))
    if not yaml_faults:
        return documents
    if yaml_faults[0].line > line:
        faults.extend(yaml_faults)
        return documents
    faults.append(as_json)
    return read


# YAML


def _yaml(source: Source, faults: list[Fault]) -> Iterator[Document]:
    from . import yaml_reader

    for document in yaml_reader.read_documents(source.data.decode()):
        if document.fault is not None:
            fault = document.fault
            hint = template_hint(source.name) if fault.hint == TEMPLATE else fault.hint
            faults.append(Fault(source.name, fault.message, fault.line, document.number, hint=hint))
            continue
        text = _YamlText(document.text, document.first_line, document.line)
        line = document.starts.get(id(document.value), document.line)
        place = Place(source.name, document.number, line, (), text.lines, document.starts.get, text)
        yield Document(place, document.value)


class _DocumentText:
    """The text and fields of one document, which is read a second time on first use."""

    def __call__(self) -> DocumentText:
        """Return the text of the document."""
        return self._read

    def lines(self, paths: list[FieldPath]) -> list[int]:
        """Return the lines of the fields.

        For a field without a known line, return the line of the nearest outer field, or 0.
        """
        return [find(self._lines, path) for path in paths]

    @functools.cached_property
    def _read(self) -> DocumentText:
        raise NotImplementedError

    @functools.cached_property
    def _lines(self) -> Lines:
        return of_extents(self._read.extents, self._read.lines)


class _YamlText(_DocumentText):
    def __init__(self, text: str, first_line: int, document_line: int) -> None:
        self._where = (text, first_line, document_line)

    @functools.cached_property
    def _read(self) -> DocumentText:
        from .yaml_reader import of_yaml

        text, first_line, document_line = self._where
        return DocumentText(LinedText(text, first_line), of_yaml(text, document_line - first_line))


class _JsonText(_DocumentText):
    """The text of one JSON value, which begins on `line`, which may not be the first line in the text."""

    def __init__(self, data: bytes, begin: int, end: int, line: int) -> None:
        self._where = (data, begin, end, line)

    @functools.cached_property
    def _read(self) -> DocumentText:
        return self._extents(None)

    @property
    def repeated(self) -> list[tuple[FieldPath, Line]]:
        """Return each key that is set again in the same map, with its place."""
        found: list[tuple[FieldPath, int]] = []
        text = self._extents(found).lines
        return [(path, Line.at(*text.place(position))) for path, position in found]

    def _extents(self, repeated: list[tuple[FieldPath, int]] | None) -> DocumentText:
        data, begin, end, line = self._where
        first = data.rfind(b"\n", 0, begin) + 1
        last = data.find(b"\n", end)
        text = data[first : len(data) if last < 0 else last].decode()
        start = len(data[first:begin].decode())
        stop = start + len(data[begin:end].decode())
        return DocumentText(LinedText(text, line), places.of_json(text, start, stop, repeated))
