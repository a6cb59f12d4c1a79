"""A server on loopback that misbehaves in every way a mirror can, each time for seconds at most.

The first part of a path says how it answers, the last names the file: /good/NAME, /drip/NAME, ...
It answers as a proxy, too, where a request names a whole address.
"""

import contextlib
import gzip
import http.server
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

LONGEST_S = 20.0  # of a bad answer, if the client does not hang up as it should


class BadServer(http.server.ThreadingHTTPServer):
    """Serves `files`, and counts in `asked` how often each (manner, name) was asked for."""

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes], scheme: str) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = files
        self.address = f"{scheme}://127.0.0.1:{self.server_port}"
        self.asked: Counter[tuple[str, str]] = Counter()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that does not trust the certificate hangs up."""


@contextlib.contextmanager
def serving(
    files: Mapping[str, bytes], certificate: Path | None = None, key: Path | None = None
) -> Iterator[BadServer]:
    """A running server; with a certificate one that speaks https."""
    server = BadServer(files, "https" if certificate else "http")
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        # the handshake is left to the thread that answers
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def black_hole() -> Iterator[str]:
    """An address that answers nobody, not even to refuse: its queue of connections is full."""
    with contextlib.ExitStack() as stack:
        hole = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(hole.getsockname())
        yield f"http://127.0.0.1:{hole.getsockname()[1]}"


class Answer(http.server.BaseHTTPRequestHandler):
    """One answer; its methods are the manners."""

    server: BadServer

    def do_GET(self) -> None:
        """Answer in the manner that the path names."""
        _, manner, *_, name = urlsplit(self.path).path.split("/")
        self.server.asked[manner, name] += 1
        self.manner, self.times = manner, self.server.asked[manner, name]
        answer: Callable[[bytes], None] = getattr(self, f"_{manner}")
        answer(self.server.files[name])

    def _send(
        self,
        content: bytes,
        length: int | None = None,
        kind: str = "application/octet-stream",
        encoding: str = "",
    ) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        self.wfile.write(content)

    def _redirect(self, target: str) -> None:
        self.send_response(302)
        self.send_header("Location", target)
        self.end_headers()

    def _turn_away(self, status: int, retry_after: str = "") -> None:
        self.send_response(status)
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()

    def _slowly(self, content: bytes) -> None:
        """Send a byte, wait, send a byte, ..."""
        deadline = time.monotonic() + LONGEST_S
        for value in content:
            self.wfile.write(bytes([value]))
            time.sleep(0.02)
            if time.monotonic() > deadline:
                return

    def _good(self, content: bytes) -> None:
        self._send(content)

    def _unhurried(self, content: bytes) -> None:
        time.sleep(0.1)
        self._send(content)

    def _missing(self, content: bytes) -> None:
        self._turn_away(404)

    def _forbidden(self, content: bytes) -> None:
        self._turn_away(403)

    def _busy(self, content: bytes) -> None:
        self._turn_away(503)

    def _busy_twice(self, content: bytes) -> None:
        self._turn_away(503, "0") if self.times <= 2 else self._send(content)

    def _limited_once(self, content: bytes) -> None:
        self._turn_away(429, "1") if self.times == 1 else self._send(content)

    def _closed_for_an_hour(self, content: bytes) -> None:
        self._turn_away(503, "3600")

    def _html(self, content: bytes) -> None:
        self._send(b"<!DOCTYPE html><title>Please log in</title>", kind="text/html")

    def _disguised_html(self, content: bytes) -> None:
        self._send(b"\n<!DOCTYPE html><title>Please log in</title>")

    def _flipped(self, content: bytes) -> None:
        self._send(content[:-1] + bytes([content[-1] ^ 1]))

    def _cut(self, content: bytes) -> None:
        self._send(content[: len(content) // 2], length=len(content))

    def _cut_once(self, content: bytes) -> None:
        self._cut(content) if self.times == 1 else self._send(content)

    def _short(self, content: bytes) -> None:
        self._send(content[: len(content) // 2])

    def _long(self, content: bytes) -> None:
        self._send(content + b"x")

    def _endless(self, content: bytes) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(10_000):
            self.wfile.write(bytes(2**16))

    def _chunked(self, content: bytes) -> None:
        self.protocol_version = "HTTP/1.1"
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(content), 1000):
            chunk = content[start : start + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _packed(self, content: bytes) -> None:
        """Packed on the way, for a client that says it takes that."""
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            self._send(gzip.compress(content), encoding="gzip")
        else:
            self._send(content)

    def _labelled(self, content: bytes) -> None:
        """The file as it is, called packed because its name ends so."""
        self._send(content, encoding="gzip")

    def _silent(self, content: bytes) -> None:
        time.sleep(LONGEST_S)

    def _stalled(self, content: bytes) -> None:
        self._send(content[:10], length=len(content))
        self.wfile.flush()
        time.sleep(LONGEST_S)

    def _drip(self, content: bytes) -> None:
        self._send(b"", length=len(content))
        self._slowly(content)

    def _slow_headers(self, content: bytes) -> None:
        self._slowly(b"HTTP/1.0 200 OK\r\n" + b"X-Wait: yes\r\n" * 50)

    def _loop(self, content: bytes) -> None:
        self._redirect(self.path)

    def _elsewhere(self, content: bytes) -> None:
        self._redirect("file:///etc/hostname")

    def _nowhere(self, content: bytes) -> None:
        self._redirect("http://[")

    def _moved(self, content: bytes) -> None:
        self._redirect(self.path.replace("/moved/", "/good/"))

    def _moved_endlessly(self, content: bytes) -> None:
        """Redirects to the file, with a body that nobody needs and that has no end."""
        self._redirect(self.path.replace("/moved_endlessly/", "/good/"))
        self._slowly(bytes(10_000))

    def _home(self, content: bytes) -> None:
        """Redirects into the client's own network."""
        self._redirect(f"http://127.0.0.1:{self.server.server_port}/good/{self._name()}")

    def _name(self) -> str:
        return urlsplit(self.path).path.rsplit("/", 1)[1]

    def handle(self) -> None:
        """Answer, until the client hangs up, as it should."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, ssl.SSLError):
            super().handle()

    def log_message(self, *args: object) -> None:
        """Say nothing."""
