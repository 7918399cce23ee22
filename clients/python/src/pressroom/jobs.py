"""Waiting for jobs."""

from __future__ import annotations

import random
import time

from ._generated import Job, Pressroom
from ._runtime import Response
from .errors import JobFailedError

_MAX_WAIT_SECONDS = 20  # maximum wait_seconds of get_job
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0


def wait(client: Pressroom, job_id: str) -> Response[Job]:
    """Waits until a job has ended and returns it.

    If the job failed completely or partially, it raises JobFailedError, which contains the job.
    """
    seconds = min(_MAX_WAIT_SECONDS, int(client.timeout / 2))  # the response must arrive before the timeout
    pause = _FIRST_PAUSE
    while True:
        sent = time.monotonic()
        response = client.get_job(job_id=job_id, wait_seconds=seconds)
        job = response.data
        if job["finished"]:
            if job["state"] in ("failed", "partially_succeeded"):
                raise JobFailedError(job)
            return response
        if seconds > 0 and time.monotonic() - sent > seconds / 2:
            pause = _FIRST_PAUSE
        client.policy.sleep(pause / 2 + random.random() * pause / 2)
        pause = min(2 * pause, _LONGEST_PAUSE)
