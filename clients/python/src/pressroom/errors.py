"""Errors that calls raise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._generated import Job


@dataclass(frozen=True)
class Problem:
    """An error response: a problem document (RFC 9457), or what is known about another response."""

    status: int
    code: str  # empty if the response is not a problem document
    title: str
    detail: str
    context: Mapping[str, Any]
    request_id: str | None
    retry_after: float  # seconds, 0 if the response does not say


class CallError(Exception):
    """A call that failed.

    idempotency_key is the key that the call sent. If you repeat the call with this key and the same arguments, a write takes
    effect only once.
    """

    def __init__(self, message: str, operation: str, idempotency_key: str | None, attempts: int) -> None:
        super().__init__(message)
        self.operation = operation
        self.idempotency_key = idempotency_key
        self.attempts = attempts


class APIError(CallError):
    """An error response. Programs should check code, or status if they do not know the code. The texts are for people."""

    def __init__(self, operation: str, idempotency_key: str | None, attempts: int, problem: Problem) -> None:
        about = " ".join(filter(None, [str(problem.status), problem.code, _context(problem.context)]))
        request = f" [request {problem.request_id}]" if problem.request_id else ""
        super().__init__(f"{operation}: {about}: {problem.detail}{request}", operation, idempotency_key, attempts)
        self.problem = problem
        self.status = problem.status
        self.code = problem.code
        self.context = problem.context
        self.request_id = problem.request_id


class NoResponseError(CallError):
    """A call without a response. A write may have taken effect. __cause__ is the reason."""

    def __init__(self, operation: str, idempotency_key: str | None, attempts: int, cause: BaseException) -> None:
        times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        message = f"{operation}: no response in {times}: {cause}"
        super().__init__(message, operation, idempotency_key, attempts)


class JobFailedError(Exception):
    """A job that failed completely or partially. job["result"] says what succeeded."""

    def __init__(self, job: Job) -> None:
        reason = job.get("error", {"code": "", "message": ""})
        super().__init__(f"job {job['job_id']} {job['state']}: {reason['code']}: {reason['message']}")
        self.job = job


def _context(context: Mapping[str, Any]) -> str:
    argument, item = context.get("argument"), context.get("item")
    if item is not None:
        argument = f"{argument} (item {item})"
    others = [context.get(name) for name in ("reason", "scope", "limit", "state")]
    return " ".join(str(part) for part in [argument, *others, *context.get("problems", [])] if part)
