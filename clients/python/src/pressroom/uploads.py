"""Uploads of files to the media library."""

from __future__ import annotations

import functools
import hashlib
import io
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Union, cast

from ._generated import Pressroom, UploadFile, UploadLink, UploadResult
from ._retry import ErrorResponse, retry
from ._runtime import new_key, read_problem
from .errors import APIError, CallError

_BATCH_FILES = 50  # maximum number of files in one call of create_uploads


@dataclass(frozen=True)
class File:
    """A file in memory, with its name in the library."""

    name: str
    content: bytes


Source = Union[str, "os.PathLike[str]", File]


@dataclass(frozen=True)
class Uploaded:
    """The outcome of uploading one file: its ID in the library, or an error."""

    name: str
    media_id: int | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class _Part:
    """A file to send, with its index among the caller's files."""

    index: int
    source: Source
    described: UploadFile


def upload(
    client: Pressroom,
    files: Sequence[Source],
    *,
    folder_id: int | None = None,
    parallel: int = 4,
    idempotency_key: str | None = None,
) -> list[Uploaded]:
    """Uploads files, given as paths or as File, and returns an outcome for each one, in their order.

    A file that is already in the library is not sent. If one file fails, the others are still uploaded. Files are sent in
    batches of 50. If a batch cannot be started, its files and all later files have that error as their outcome. If the
    first batch cannot be started, the error is raised.
    """
    key = idempotency_key or new_key()
    outcomes: list[Uploaded] = []
    for start in range(0, len(files), _BATCH_FILES):
        batch_key = key if start == 0 else f"{key}-{start // _BATCH_FILES + 1}"
        try:
            outcomes += _upload_batch(client, files[start : start + _BATCH_FILES], start, folder_id, parallel, batch_key)
        except CallError as e:
            e.idempotency_key = key  # the key to repeat the whole upload with
            if start == 0:
                raise
            return outcomes + [Uploaded(_name(f), error=e) for f in files[start:]]
    return outcomes


def _upload_batch(
    client: Pressroom, files: Sequence[Source], start: int, folder_id: int | None, parallel: int, key: str
) -> list[Uploaded]:
    outcomes = [Uploaded(_name(f)) for f in files]
    parts: list[_Part] = []
    for i, source in enumerate(files):
        try:
            described = _describe(source)
        except OSError as e:
            outcomes[i] = Uploaded(_name(source), error=e)
            continue
        if described["size_bytes"] == 0:  # the service would reject the whole batch
            outcomes[i] = Uploaded(_name(source), error=ValueError(f"{_name(source)}: the file is empty"))
        else:
            parts.append(_Part(i, source, described))
    if not parts:
        return outcomes
    batch = client.create_uploads(files=[p.described for p in parts], folder_id=folder_id, idempotency_key=key)
    links, job = batch.data["upload"]["uploads"], batch.data["job_id"]
    with ThreadPoolExecutor(max(1, parallel)) as pool:
        sent = pool.map(lambda n: _upload_one(client, parts[n], links[n], n, job), range(len(parts)))
        for part, outcome in zip(parts, sent):
            outcomes[part.index] = outcome
    return outcomes


def _upload_one(client: Pressroom, part: _Part, link: UploadLink, index: int, job: str) -> Uploaded:
    name = _name(part.source)
    media_id, url = link.get("media_id"), link.get("url")
    if media_id is not None:
        return Uploaded(name, media_id)
    if url is None:
        return Uploaded(name, error=ValueError(f"{name} is {link['state']} and has no open link: use another idempotency key"))
    try:
        client.safe_url(url)
        put = functools.partial(_put, client, part, link, url)
        return Uploaded(name, retry(client.policy, f"upload {name}", None, put))
    except APIError as e:
        return _find_stored(client, name, index, job) if e.code == "upload_link_used" else Uploaded(name, error=e)
    except (CallError, OSError, ValueError) as e:
        return Uploaded(name, error=e)


def _put(client: Pressroom, part: _Part, link: UploadLink, url: str) -> int:
    headers = {**link.get("headers", {}), "Content-Type": "application/octet-stream"}
    headers["Content-Length"] = str(part.described["size_bytes"])
    with _open(part.source) as content:
        response = client.http.request("PUT", url, content=content, headers=headers)
    if response.status_code != 201:
        raise ErrorResponse(read_problem(response))
    media_id: int = response.json()["data"]["media_id"]
    return media_id


def _find_stored(client: Pressroom, name: str, index: int, job_id: str) -> Uploaded:
    """Returns the outcome of a file that an earlier attempt sent, but whose response was lost."""
    try:
        job = client.get_job(job_id=job_id).data
    except CallError as e:
        return Uploaded(name, error=e)
    result = job.get("result") if job["type"] == "media_import" else None
    if not result or "files" not in result:
        return Uploaded(name, error=ValueError(f"{name}: the job has no result"))
    file = cast(UploadResult, result)["files"][index]
    if file["state"] == "stored" and "media_id" in file:
        return Uploaded(name, file["media_id"])
    return Uploaded(name, error=ValueError(f"{name} is {file['state']}: {file.get('reason', '')}"))


def _name(source: Source) -> str:
    return source.name if isinstance(source, File) else Path(source).name


def _open(source: Source) -> BinaryIO:
    return io.BytesIO(source.content) if isinstance(source, File) else open(source, "rb")


def _describe(source: Source) -> UploadFile:
    digest, size = hashlib.sha256(), 0
    with _open(source) as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    return {"sha256": digest.hexdigest(), "size_bytes": size, "file_name": _name(source)}
