"""Calls of operations by their names."""

from __future__ import annotations

import enum
import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeVar, cast
from urllib.parse import quote, urlsplit

import httpx

from ._retry import ErrorResponse, Policy, retry, retry_after
from .errors import Problem

if TYPE_CHECKING:
    from ._generated import Billing, Meta, Page, Pointer, Untrusted

T = TypeVar("T")


class Unset(enum.Enum):
    """The type of UNSET, the value of an argument that is not sent. None is only sent where null clears a value."""

    UNSET = "UNSET"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True)
class Response(Generic[T]):
    """A successful response."""

    data: T
    meta: Meta
    page: Page | None
    billing: Billing | None
    untrusted_content: list[Untrusted]  # texts of third parties: content, never instructions
    notes: list[str]
    status: int
    headers: Mapping[str, str]
    replayed: bool  # whether this is the stored first response to the idempotency key
    idempotency_key: str | None  # the key that the call sent

    def text(self, pointer: Pointer | None) -> str | None:
        """Returns the text that a pointer in data refers to, or None."""
        if pointer is None:
            return None
        found = [u["text"] for u in self.untrusted_content if u["id"] == pointer["untrusted"]]
        return found[0] if found else None


@dataclass(frozen=True)
class Operation:
    """An operation of the API."""

    method: str
    path: str
    accepts_key: bool  # whether it accepts an Idempotency-Key, as every write does
    arguments: Mapping[str, Literal["path", "query", "body"]]
    nullable: frozenset[str] = frozenset()  # arguments that null clears


_API_PATH = "/api/v1"
_LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")


class Runtime:
    """Sends calls. It is safe for use by several threads."""

    _operations: Mapping[str, Operation]

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        policy: Policy | None = None,
        timeout: float = 60.0,
        plain_http: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Creates a client.

        url is the address of the service, with or without /api/v1, and key an API key of the team. If they are omitted, the
        environment variables PRESSROOM_URL and PRESSROOM_KEY are used. timeout is the maximum
        number of seconds to connect, and to wait for the next bytes of a response. plain_http allows sending the key to other
        machines over http://, where others can read it. transport replaces httpx's transport.
        """
        url = os.environ.get("PRESSROOM_URL", "") if url is None else url
        if not url:
            raise ValueError("url is missing: pass it, or set PRESSROOM_URL")
        key = (os.environ.get("PRESSROOM_KEY", "") if key is None else key).strip()
        if not re.fullmatch(r"[!-~]+", key):
            raise ValueError("the API key is missing or contains invalid characters: pass key, or set PRESSROOM_KEY")
        self._plain_http = plain_http
        base = self.safe_url(url).rstrip("/")
        self._base = base.removesuffix(_API_PATH) + _API_PATH
        self._authorization = f"Bearer {key}"
        self.policy = policy or Policy()
        self.timeout = timeout
        self.http = httpx.Client(timeout=timeout, transport=transport, follow_redirects=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._base!r})"

    def close(self) -> None:
        """Closes the connections. A with statement does this at its end."""
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def safe_url(self, address: str) -> str:
        """Returns an address to which a secret may be sent, or raises ValueError."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https"):
            raise ValueError("the address must begin with https:// or http://")
        if not parts.hostname or parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("the address must be a URL without user name, query and fragment")
        loopback = _LOOPBACK.fullmatch(parts.hostname) is not None
        if parts.scheme == "https" or (parts.scheme == "http" and (loopback or self._plain_http)):
            return address
        raise ValueError("the address must begin with https://: over plain http, others could read the key")

    def _call(self, name: str, arguments: Mapping[str, object], idempotency_key: str | None = None) -> Response[Any]:
        """Runs an operation."""
        operation = self._operations[name]
        key = (idempotency_key or new_key()) if operation.accepts_key else None
        request = _place(name, operation, arguments)
        headers = {"Authorization": self._authorization, "Accept": "application/json"}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key

        def attempt() -> Response[Any]:
            response = self.http.request(
                operation.method, self._base + request.path, params=request.query, content=request.body, headers=headers
            )
            return _read(response, key)

        return retry(self.policy, name, key, attempt)

    def _pages(self, name: str, arguments: Mapping[str, object]) -> Iterator[Response[Any]]:
        """Yields page after page, beginning with the one that the arguments select."""
        cursor = arguments.get("cursor")
        while True:
            response = self._call(name, {**arguments, "cursor": cursor})
            yield response
            if response.page is None or not response.page["has_more"]:
                return
            following = response.page.get("cursor")
            if not following or following == cursor:
                raise RuntimeError("the service has another page but returned no cursor for it")
            cursor = following


@dataclass(frozen=True)
class _Request:
    path: str
    query: dict[str, str]
    body: bytes | None


def _place(name: str, operation: Operation, arguments: Mapping[str, object]) -> _Request:
    path, query, body = operation.path, {}, {}
    for argument, value in arguments.items():
        place = operation.arguments[argument]
        if value is UNSET or (value is None and argument not in operation.nullable):
            continue
        if place == "path":
            if str(value) in ("", ".", ".."):
                raise ValueError(f"{name}: {argument} is not an ID")
            path = path.replace("{" + argument + "}", quote(str(value), safe=""))
        elif place == "query":
            query[argument] = _plain(value)
        else:
            body[argument] = value
    return _Request(path, query, json.dumps(body).encode() if "body" in operation.arguments.values() else None)


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(_plain(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value)


def _read(response: httpx.Response, key: str | None) -> Response[Any]:
    if not response.is_success:
        raise ErrorResponse(read_problem(response))
    if _media_type(response) != "application/json":
        raise ErrorResponse(_other(response, "the response is not JSON, so it is not from the API: check the service's address"))
    envelope = response.json()
    if not isinstance(envelope, dict) or "request_id" not in cast("dict[str, Any]", envelope.get("meta") or {}):
        raise ErrorResponse(_other(response, "the response is not from the API: check the service's address"))
    return Response(
        data=envelope["data"],
        meta=envelope["meta"],
        page=envelope.get("page"),
        billing=envelope.get("billing"),
        untrusted_content=envelope.get("untrusted_content", []),
        notes=envelope.get("notes", []),
        status=response.status_code,
        headers=response.headers,
        replayed=response.headers.get("idempotent-replayed") == "true",
        idempotency_key=key,
    )


def read_problem(response: httpx.Response) -> Problem:
    """Reads a problem document, or describes another error response, such as a proxy's."""
    if response.is_redirect or 300 <= response.status_code < 400:
        return _other(response, "the response is a redirect, which the client does not follow: it sends the key only to the given address")
    if _media_type(response) == "application/problem+json":
        try:
            document = response.json()
        except ValueError:
            document = None
        if isinstance(document, dict) and document.get("code"):
            return Problem(
                status=response.status_code,
                code=document["code"],
                title=document.get("title", ""),
                detail=document.get("detail", ""),
                context=document.get("context") or {},
                request_id=response.headers.get("x-request-id"),
                retry_after=retry_after(response.headers, time.time()),
            )
    return _other(response, f"not a response from pressroom ({response.reason_phrase}); it may be from a proxy")


def _other(response: httpx.Response, detail: str) -> Problem:
    return Problem(
        status=response.status_code,
        code="",
        title=response.reason_phrase,
        detail=detail,
        context={},
        request_id=response.headers.get("x-request-id"),
        retry_after=retry_after(response.headers, time.time()),
    )


def _media_type(response: httpx.Response) -> str:
    media_type: str = response.headers.get("content-type", "")
    return media_type.split(";", 1)[0].strip().lower()


def new_key() -> str:
    """Returns a new idempotency key."""
    return f"py-{uuid.uuid4()}"
