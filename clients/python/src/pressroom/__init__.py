"""A client for pressroom, which schedules and publishes posts on social networks."""

from ._generated import *  # noqa: F403
from ._generated import __all__ as _generated
from ._retry import Policy
from ._runtime import UNSET, Response, Unset
from .errors import APIError, CallError, JobFailedError, NoResponseError, Problem
from .jobs import wait
from .uploads import File, Uploaded, upload

__all__ = [
    *_generated,
    "APIError",
    "CallError",
    "File",
    "JobFailedError",
    "NoResponseError",
    "Policy",
    "Problem",
    "Response",
    "UNSET",
    "Unset",
    "Uploaded",
    "upload",
    "wait",
]
