"""Reading a published file from a folder or an address, with a bound on everything.

An address has to keep pace from the moment that its name is looked up: so one that sends a byte
now and then, or its headers so, is given up like one that is silent. Tries, redirects and bytes
are bounded, too, and what arrives is taken as it is: nothing is unpacked on the way.
"""

import ipaddress
import os
import secrets
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from socket import getaddrinfo
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

SLOWEST_BYTES_PER_S = 100_000  # an address may be behind this pace by timeout_s and no more
CONNECT_S = 10  # for one of a host's addresses, so that IPv4 has its turn where IPv6 is a hole
TRIES = 3  # of an address that says it is busy, or breaks off
BACKOFF_S = 1.0  # before the second try, twice as long before the third
MOST_REDIRECTS = 5
BLOCK_BYTES = 4096


class UnreachableError(Exception):
    """A source is not there, does not answer, or is too slow."""


class WrongAnswerError(Exception):
    """A source answers, but not with the file: somebody should look."""


class _TryAgainError(Exception):
    """A source may have the file in a moment."""

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


def read_folder(path: Path, size: int) -> bytes:
    """What a file holds, or its first `size` + 1 bytes if it is longer than that.

    Raises:
        UnreachableError: it is not there, cannot be read, or is no regular file, which might have
            no end.
        WrongAnswerError: it is longer than `size`.
    """
    try:
        if not path.is_file():
            raise UnreachableError("not a regular file" if path.exists() else "no such file")
        with path.open("rb") as file:
            content = file.read(size + 1)
    except OSError as error:
        raise UnreachableError(error.strerror or type(error).__name__) from None
    if len(content) > size:
        raise WrongAnswerError(f"longer than the published {size} bytes")
    return content


def read_address(url: str, size: int, timeout_s: float) -> bytes:
    """What an http(s) address sends, which is at most `size` bytes.

    It takes at most `timeout_s` and the time of what arrived at SLOWEST_BYTES_PER_S, all tries and
    waits included.

    Raises:
        UnreachableError: no answer, an error, a part only, or too slow.
        WrongAnswerError: a web page, more bytes, a redirect to where the file cannot be, or a
            certificate that proves nothing.
    """
    transfer = _Transfer(url, size, timeout_s)
    # in a thread, since nothing else ends a look-up of a name or the reading of headers in time
    thread = threading.Thread(target=transfer.run, daemon=True)
    thread.start()
    while thread.is_alive():
        left = transfer.seconds_left()
        if left <= 0:
            transfer.given_up.set()
            raise UnreachableError(f"timed out after {transfer.arrived} bytes{_by_proxy(url)}")
        thread.join(left)
    if transfer.error is not None:
        raise transfer.error
    return transfer.content


class _Transfer:
    """The reading of an address, in a thread that another one watches."""

    def __init__(self, url: str, size: int, timeout_s: float) -> None:
        self.url, self.size, self.timeout_s = url, size, timeout_s
        self.started = time.monotonic()
        self.arrived = 0  # bytes, of all tries
        self.given_up = threading.Event()
        self.content = b""
        self.error: Exception | None = None

    def seconds_left(self) -> float:
        """How long it may go on, if nothing more arrives."""
        allowed = self.timeout_s + self.arrived / SLOWEST_BYTES_PER_S
        return self.started + allowed - time.monotonic()

    def run(self) -> None:
        try:
            self.content = self._tried()
        except Exception as error:  # the watching thread raises it
            self.error = _explained(error, self.url)

    def _tried(self) -> bytes:
        for again in range(TRIES):
            try:
                return self._once()
            except _TryAgainError as error:
                # some more, so that not all who were turned away come back at the same moment
                jitter_s = BACKOFF_S * secrets.randbelow(1000) / 1000
                wait_s = max(error.wait_s, BACKOFF_S * 2**again) + jitter_s
                if again == TRIES - 1 or wait_s > self.seconds_left():
                    raise UnreachableError(f"{error}, in try {again + 1} of {TRIES}") from None
                self.given_up.wait(wait_s)
        raise AssertionError("the last try returns or raises")

    def _once(self) -> bytes:
        with _answer(self.url, self.timeout_s) as response:
            status = response.status_code
            if status == requests.codes.too_many or status >= 500:
                raise _TryAgainError(f"HTTP {status}", _retry_after(response))
            if status != requests.codes.ok:
                raise UnreachableError(f"HTTP {status}")
            kind = response.headers.get("Content-Type", "")
            content = bytearray()
            for block in self._blocks(response):
                content += block
                # the same for a page that is sent as something else: no published file begins so
                if "text/html" in kind or content[:100].lstrip().startswith(b"<"):
                    raise WrongAnswerError(
                        f"got a web page ({kind or 'no type'}), first bytes {bytes(content[:40])!r}"
                    )
                if len(content) > self.size:
                    raise WrongAnswerError(f"longer than the published {self.size} bytes")
        if len(content) < self.size:
            raise _TryAgainError(f"ended after {len(content)} of {self.size} bytes")
        return bytes(content)

    def _blocks(self, response: requests.Response) -> Iterator[bytes]:
        """The bytes of an answer as they were sent, in blocks that a slow one still fills."""
        before = self.arrived
        try:
            for block in response.raw.stream(BLOCK_BYTES, decode_content=False):
                if self.given_up.is_set():
                    return
                self.arrived += len(block)
                yield block
        except urllib3.exceptions.TimeoutError:
            raise UnreachableError(f"timed out after {self.arrived} bytes") from None
        except urllib3.exceptions.HTTPError:
            arrived = self.arrived - before
            raise _TryAgainError(f"broke off after {arrived} of {self.size} bytes") from None


class _Session(requests.Session):
    """Leaves redirects alone: requests reads their bodies to the end, if there is one."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def _answer(url: str, timeout_s: float) -> requests.Response:
    """The answer at the end of an address's redirects, which lead nowhere that they should not."""
    at, session = url, _Session()
    for _ in range(MOST_REDIRECTS + 1):
        response = session.get(
            at,
            stream=True,
            timeout=(min(CONNECT_S, timeout_s), timeout_s),
            headers={"Accept-Encoding": "identity"},
        )
        if not response.is_redirect:
            return response
        response.close()
        target = urljoin(at, response.headers["Location"])
        _require_harmless(url, at, target)
        at = target
    raise WrongAnswerError(f"redirects more than {MOST_REDIRECTS} times")


def _require_harmless(url: str, at: str, target: str) -> None:
    scheme, host = urlsplit(target).scheme, urlsplit(target).hostname or ""
    where = f"redirected to {scheme}://{host}"
    if scheme not in ("http", "https"):
        raise WrongAnswerError(f"{where}, which is no http(s) address")
    if urlsplit(at).scheme == "https" and scheme == "http":
        raise WrongAnswerError(f"{where}, which is not https")
    if _is_private(host) and not _is_private(urlsplit(url).hostname or ""):
        raise WrongAnswerError(f"{where}, which is in a private network")


def _is_private(host: str) -> bool:
    """Whether a host is this one or in a network of its own; no, if only a proxy knows its name."""
    try:
        found = {str(entry[4][0]).partition("%")[0] for entry in getaddrinfo(host, None)}
    except OSError:
        return False
    return any(not ipaddress.ip_address(address).is_global for address in found)


def _retry_after(response: requests.Response) -> float:
    """The seconds that a busy server asks for; 0 if it does not say, or nothing sensible."""
    try:
        return urllib3.Retry().parse_retry_after(response.headers.get("Retry-After", "0"))
    except urllib3.exceptions.InvalidHeader:
        return 0.0


def _explained(error: Exception, url: str) -> Exception:
    """What a failure of the network means for the file; other errors are what they are."""
    network = OSError | ValueError | urllib3.exceptions.HTTPError  # requests' are the first two
    if not isinstance(error, network):
        return error
    cause = _first_cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return WrongAnswerError(
            f"its certificate is not accepted ({cause.verify_message}): this machine's clock or CA"
            " certificates may be wrong (REQUESTS_CA_BUNDLE names others), or somebody is in"
            " between"
        )
    if isinstance(error, ValueError):  # requests' errors of addresses
        return WrongAnswerError(f"no address ({type(error).__name__})")
    if isinstance(error, requests.Timeout):
        return UnreachableError(f"timed out{_by_proxy(url)}")
    reason = getattr(cause, "strerror", None) or " ".join(str(cause).split())[:200]
    return UnreachableError(f"no connection ({reason}){_by_proxy(url)}")


def _first_cause(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def _by_proxy(url: str) -> str:
    """Which variable sends requests for an address through a proxy, if one does."""
    if not requests.utils.get_environ_proxies(url):
        return ""
    scheme = urlsplit(url).scheme
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    name = next((name for name in names if os.environ.get(name)), None)
    return f", through the proxy in {name}; is it right?" if name else ""
