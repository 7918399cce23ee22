"""Tests the client with a server that sends given responses."""

from __future__ import annotations

import json
import os
import socket
import threading
import unittest
import unittest.mock
from collections.abc import Callable
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from pressroom import APIError, File, NoResponseError, Policy, Pressroom, upload
from pressroom._retry import retry_after

Answer = Callable[[BaseHTTPRequestHandler], None]


def answer(status: int, media_type: str, body: str, **headers: str) -> Answer:
    def write(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", media_type)
        request.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body.encode())

    return write


OK = answer(200, "application/json", json.dumps({"data": {"id": "p"}, "meta": {"request_id": "r"}}))


def problem(status: int, code: str, **headers: str) -> Answer:
    body = {"title": "T.", "detail": "D.", "code": code, "context": {"argument": "caption", "reason": "too_long"}}
    return answer(status, "application/problem+json", json.dumps(body), **headers)


def proxy(status: int, **headers: str) -> Answer:
    return answer(status, "text/html", "<h1>busy</h1>", **headers)


def cut(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b'{"data":')
    request.close_connection = True


class Server:
    """A server that sends the answers in order. It repeats the last one for all further requests."""

    def __init__(self, test: unittest.TestCase, answers: list[Answer]) -> None:
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.bodies: list[bytes] = []
        self.waits: list[float] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_one(self) -> None:
                outer.paths.append(self.path)
                outer.keys.append(self.headers.get("Idempotency-Key"))
                outer.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                answers[min(len(outer.keys), len(answers)) - 1](self)

            do_GET = do_POST = do_PATCH = do_PUT = handle_one

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.client = Pressroom(self.url, "prk_test", policy=Policy(sleep=self.waits.append))
        test.addCleanup(self.client.close)


class CallsTest(unittest.TestCase):
    def test_retries(self) -> None:
        cases: list[tuple[str, list[Answer], int, str, float]] = [
            ("503 of a proxy", [proxy(503), OK], 2, "", 0),
            ("502 of a proxy with seconds", [proxy(502, Retry_After="7"), OK], 2, "", 7),
            ("429 with seconds", [problem(429, "rate_limited", Retry_After="3"), OK], 2, "", 3),
            ("429 for an hour", [problem(429, "daily_call_limit_reached", Retry_After="3600")], 1, "daily_call_limit_reached", 0),
            ("key in use", [problem(409, "idempotency_key_in_progress", Retry_After="1"), OK], 2, "", 1),
            ("500", [problem(500, "internal_error"), OK], 2, "", 0),
            ("incomplete response", [cut, OK], 2, "", 0),
            ("always busy", [problem(429, "rate_limited", Retry_After="1")], 5, "rate_limited", 1),
            ("reused key", [problem(422, "idempotency_key_reused"), OK], 1, "idempotency_key_reused", 0),
            ("provider unavailable", [problem(502, "provider_unavailable"), OK], 1, "provider_unavailable", 0),
            ("no credits", [problem(402, "insufficient_credits"), OK], 1, "insufficient_credits", 0),
            ("code of a later version", [problem(422, "brand_new"), OK], 1, "brand_new", 0),
        ]
        for name, answers, calls, code, pause in cases:
            with self.subTest(name):
                server = Server(self, answers)
                if code:
                    with self.assertRaises(APIError) as raised:
                        server.client.create_post(caption="c", account_ids=[1])
                    self.assertEqual((raised.exception.code, raised.exception.attempts), (code, calls))
                else:
                    response = server.client.create_post(caption="c", account_ids=[1])
                    self.assertEqual(response.idempotency_key, server.keys[0])
                self.assertEqual(len(server.keys), calls)
                self.assertEqual(len(set(server.keys)), 1, "the key changed")
                self.assertIsNotNone(server.keys[0])
                if pause:
                    self.assertTrue(pause <= server.waits[0] < pause + 1, server.waits)

    def test_keys(self) -> None:
        server = Server(self, [OK])
        server.client.create_post(caption="c", account_ids=[1])
        server.client.create_post(caption="c", account_ids=[1])
        server.client.create_post(caption="c", account_ids=[1], idempotency_key="mine")
        server.client.get_post(id="p")
        self.assertNotEqual(server.keys[0], server.keys[1])
        self.assertEqual(server.keys[2:], ["mine", None])

    def test_arguments(self) -> None:
        server = Server(self, [OK])
        server.client.list_posts(from_="2026-03-29", limit=5)
        server.client.get_post(id="a/b c")
        self.assertEqual(server.paths, ["/api/v1/posts?from=2026-03-29&limit=5", "/api/v1/posts/a%2Fb%20c"])
        server.client.update_post(id="p", caption="")
        server.client.update_post(id="p", scheduled_at=None)
        server.client.update_post(id="p")
        self.assertEqual([json.loads(body) for body in server.bodies[2:]], [{"caption": ""}, {"scheduled_at": None}, {}])
        server.client.publish_post(post_id="p")
        self.assertEqual(server.bodies[5], b"", "an operation without a body sends one")
        with self.assertRaises(ValueError):
            server.client.get_post(id="..")

    def test_redirects_are_not_followed(self) -> None:
        other = Server(self, [OK])
        for status in (301, 302, 307, 308):
            server = Server(self, [answer(status, "text/plain", "", Location=other.url + "/api/v1/me")])
            with self.assertRaisesRegex(APIError, "redirect"):
                server.client.get_identity()
        self.assertEqual(other.keys, [])

    def test_addresses(self) -> None:
        for address in ("http://press.example.com", "ftp://press.example.com", "https://a:b@press.example.com", "https://p.example?x=1", "p"):
            with self.subTest(address), self.assertRaises(ValueError):
                Pressroom(address, "prk_test")
        with self.assertRaisesRegex(ValueError, "must begin with https://"):
            Pressroom("press.example.com:8080", "prk_test")
        with self.assertRaises(ValueError):
            Pressroom("https://press.example.com", "prk test")
        Pressroom("http://press.example.com", "prk_test", plain_http=True).close()

    def test_context_manager(self) -> None:
        server = Server(self, [OK])
        with Pressroom(server.url, "prk_x") as client:
            self.assertEqual(client.get_post("p").data["id"], "p")
        self.assertTrue(client.http.is_closed)

    def test_environment(self) -> None:
        server = Server(self, [OK])
        with unittest.mock.patch.dict(os.environ, {"PRESSROOM_URL": server.url, "PRESSROOM_KEY": "prk_env"}), Pressroom() as client:
            self.assertEqual(client.get_post("p").data["id"], "p")
            self.assertEqual(repr(client), f"Pressroom(url='{server.url}/api/v1')")
        with unittest.mock.patch.dict(os.environ, clear=True):
            with self.assertRaisesRegex(ValueError, "PRESSROOM_URL"):
                Pressroom()
            with self.assertRaisesRegex(ValueError, "PRESSROOM_KEY"):
                Pressroom(server.url)

    def test_unknown_host(self) -> None:
        def connect(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("no such host", request=request) from socket.gaierror(socket.EAI_NONAME, "unknown")

        client = Pressroom(
            "https://press.invalid", "prk_test", policy=Policy(sleep=self.fail), transport=httpx.MockTransport(connect)
        )
        self.addCleanup(client.close)
        with self.assertRaises(NoResponseError) as raised:
            client.create_post(caption="c", account_ids=[1], idempotency_key="mine")
        self.assertEqual(raised.exception.idempotency_key, "mine")
        self.assertIn("no response in 1 attempt: ", str(raised.exception))

    def test_empty_file(self) -> None:
        server = Server(self, [OK])
        (outcome,) = upload(server.client, [File("empty.png", b"")])
        self.assertIn("empty", str(outcome.error))
        self.assertEqual(server.keys, [])

    def test_retry_after(self) -> None:
        now = 1_774_771_200.0
        cases: list[tuple[dict[str, str], float]] = [
            ({"retry-after": "120"}, 120),
            ({"retry-after": "-5"}, 0),
            ({"retry-after": "soon"}, 0),
            ({}, 0),
            ({"retry-after": formatdate(now + 30, usegmt=True)}, 30),
            ({"retry-after": formatdate(now - 30, usegmt=True)}, 0),
            ({"retry-after": formatdate(now + 3600, usegmt=True), "date": formatdate(now + 3595, usegmt=True)}, 5),
        ]
        for headers, want in cases:
            self.assertEqual(retry_after(headers, now), want, headers)


if __name__ == "__main__":
    unittest.main()
