"""Retries of calls."""

from __future__ import annotations

import email.utils
import random
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import httpx

from .errors import APIError, NoResponseError, Problem

T = TypeVar("T")


@dataclass(frozen=True)
class Policy:
    """How calls are retried. Times are in seconds."""

    attempts: int = 5
    first_pause: float = 0.5  # each further pause is twice as long
    longest_pause: float = 60.0  # a response that asks for a longer pause is an error
    sleep: Callable[[float], None] = time.sleep


class ErrorResponse(Exception):
    """A response that is an error."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def retry(policy: Policy, operation: str, key: str | None, attempt: Callable[[], T]) -> T:
    """Calls attempt until it succeeds, fails permanently or the attempts are used up."""
    n = 0
    while True:
        n += 1
        try:
            return attempt()
        except ErrorResponse as e:
            pause = _pause_after(policy, n, e.problem)
            if pause is None or n >= policy.attempts:
                raise APIError(operation, key, n, e.problem) from None
        except (httpx.RequestError, ValueError) as e:
            if _is_permanent(e) or n >= policy.attempts:
                raise NoResponseError(operation, key, n, e) from e
            pause = _backoff(policy, n)
        policy.sleep(pause)


def _pause_after(policy: Policy, n: int, problem: Problem) -> float | None:
    """Returns the seconds to wait before the next attempt, or None if a retry cannot succeed."""
    if not _is_temporary(problem) or problem.retry_after > policy.longest_pause:
        return None
    if problem.retry_after > 0:
        return problem.retry_after + random.random() * policy.first_pause
    return _backoff(policy, n)


def _backoff(policy: Policy, n: int) -> float:
    longest = min(policy.first_pause * 2.0 ** min(n - 1, 16), policy.longest_pause)
    return longest / 2 + random.random() * longest / 2


_TEMPORARY = {
    "idempotency_key_in_progress",
    "rate_limited",
    "daily_call_limit_reached",
    "daily_credit_limit_reached",
    "internal_error",
}


def _is_temporary(problem: Problem) -> bool:
    """Reports whether a retry may succeed soon.

    provider_unavailable is not retried, because a data provider is unreachable or not configured, which retries rarely
    fix. Nothing was done or charged.
    """
    if problem.code in _TEMPORARY:
        return True
    if not problem.code:  # from a proxy
        return problem.status in (429, 500, 502, 503, 504)
    return problem.status == 503 or (problem.status == 429 and problem.retry_after > 0)


def _is_permanent(error: BaseException | None) -> bool:
    """Reports whether the host does not exist, its certificate is invalid or the URL has another scheme."""
    while error is not None:
        if isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN:
            return True
        if isinstance(error, (ssl.SSLCertVerificationError, httpx.UnsupportedProtocol)):
            return True
        error = error.__cause__ or error.__context__
    return False


def retry_after(headers: Mapping[str, str], now: float) -> float:
    """Returns the seconds of a Retry-After header field, or 0.

    A date is relative to the Date of the response, because the local clock may be wrong.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    until = _timestamp(text)
    if until is None:
        return 0.0
    return max(0.0, until - (_timestamp(headers.get("date", "")) or now))


def _timestamp(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError):
        return None
