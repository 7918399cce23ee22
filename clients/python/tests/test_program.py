"""Tests the client with the program at PRESSROOM_URL, which has sandbox networks."""

from __future__ import annotations

import os
import struct
import tempfile
import threading
import unittest
import zlib
from pathlib import Path

import httpx

from pressroom import APIError, File, JobFailedError, Policy, Pressroom, upload, wait

URL, KEY = os.environ.get("PRESSROOM_URL", ""), os.environ.get("PRESSROOM_KEY", "")


class LossyTransport(httpx.BaseTransport):
    """Sends everything and loses the first response to each path."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self._lost: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        with self._lock:
            known = (request.method, request.url.path) in self._lost
            self._lost.add((request.method, request.url.path))
        if known:
            return response
        response.read()
        response.close()
        raise httpx.ReadError("the response was lost", request=request)

    def close(self) -> None:
        self._inner.close()


def picture(shade: int, side: int = 8) -> bytes:
    """Returns a PNG of one color."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = (b"\0" + bytes([shade]) * 3 * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


@unittest.skipIf(not URL, "PRESSROOM_URL is not set")
class ProgramTest(unittest.TestCase):
    def setUp(self) -> None:
        self.plain = Pressroom(URL, KEY)
        self.lossy = Pressroom(URL, KEY, policy=Policy(first_pause=0.01), transport=LossyTransport())
        self.addCleanup(self.plain.close)
        self.addCleanup(self.lossy.close)

    def test_lost_responses(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "disk.png")
            path.write_bytes(picture(41))
            files = upload(self.lossy, [path, File("memory.png", picture(42))])
        self.assertEqual([f.error for f in files], [None, None])

        post = self.lossy.create_post(caption="python-once", account_ids=[1], media_ids=[f.media_id or 0 for f in files])
        self.assertTrue(post.replayed)
        published = self.lossy.publish_post(post_id=post.data["id"])
        self.assertEqual(wait(self.lossy, published.data["job_id"]).data["state"], "succeeded")
        self.assertEqual([p["excerpt"] for p in self.plain.list_posts_all(limit=2)].count("python-once"), 1)

        before = self.plain.get_credits().data["balance"]
        report = self.lossy.create_report(type="profile", subject="python.answers")
        self.assertTrue(report.replayed)
        job = wait(self.lossy, report.data["job_id"]).data
        assert job["type"] == "profile_report"
        self.assertEqual(before - self.plain.get_credits().data["balance"], job["result"]["credits_charged"])

    def test_errors(self) -> None:
        with self.assertRaises(APIError) as raised:
            self.plain.create_post(caption="to nobody", account_ids=[])
        self.assertEqual((raised.exception.status, raised.exception.code), (422, "validation_failed"))
        self.assertEqual(raised.exception.context["argument"], "account_ids")
        self.assertIsNotNone(raised.exception.request_id)

        post = self.plain.create_post(caption="no [sandbox:reject@bluesky]", account_ids=[1])
        published = self.plain.publish_post(post_id=post.data["id"])
        with self.assertRaises(JobFailedError) as failed:
            wait(self.plain, published.data["job_id"])
        self.assertEqual(failed.exception.job["error"]["code"], "rejected_content")
        rejected = self.plain.get_post(id=post.data["id"])
        self.assertTrue(rejected.text(rejected.data["accounts"][0].get("network_message")))

        (outcome,) = upload(self.plain, [File("notes.txt", b"no picture")])
        assert isinstance(outcome.error, APIError)
        self.assertEqual(outcome.error.context["reason"], "type_refused")


if __name__ == "__main__":
    unittest.main()
