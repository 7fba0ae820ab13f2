"""Sends one HTTP request. Redirects are not followed, because they would forward the key. Connections stay open for
some seconds for the next call."""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from .backoff import parse_retry_after
from .errors import AnswerInvalidError, ArgumentInvalidError, ClientError, RequestRefusedError, ServiceUnreachableError

#: Shorter than the service's own idle timeout.
_IDLE_SECONDS = 10.0
_CHUNK_BYTES = 65_536
#: Maximum size of an answer. The largest real answer, of a full batch, has a hundredth of this size.
_ANSWER_BYTES_MAX = 16_777_216


class AnswerTooLongError(Exception):
    """The answer is longer than any answer of the service."""


@dataclass(frozen=True)
class Request:
    method: str
    #: Includes the query.
    path: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    #: The same for each attempt of a call.
    request_id: str


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for this try is over")
    return left


class _TimedSocket:
    """A socket for http.client with a deadline for all sending and receiving. A socket's own timeout restarts with
    every byte."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.deadline = 0.0

    def timed(self) -> socket.socket:
        """Returns the socket with the remaining time as its timeout. Raises TimeoutError if no time remains."""
        self._sock.settimeout(_left(self.deadline))
        return self._sock

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self.timed().send(rest) :]

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self, self._sock.makefile("rb", buffering=0)))

    def close(self) -> None:
        self._sock.close()


class _Incoming(io.RawIOBase):
    def __init__(self, owner: _TimedSocket, raw: io.RawIOBase) -> None:
        super().__init__()
        self._owner = owner
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self._owner.timed()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _dial(host: str, port: int, deadline: float) -> socket.socket:
    """Returns a connection to the first address of the host that accepts it."""
    failure = OSError("the host has no address")
    for family, _, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(_left(deadline))
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError as error:
            sock.close()
            failure = error
    raise failure


class Response:
    """An answer with status 2xx, whose body is read in chunks."""

    def __init__(
        self, connection: http.client.HTTPConnection, head: http.client.HTTPResponse, sock: _TimedSocket
    ) -> None:
        self._connection = connection
        self._head = head
        self._sock = sock
        self.status = head.status

    def header(self, name: str) -> Optional[str]:
        return self._head.headers.get(name)

    def read(self, deadline: float) -> bytes:
        """Returns the next bytes; empty at the end. Raises OSError or HTTPException if none arrive in time."""
        self._sock.deadline = deadline
        return self._head.read1(_CHUNK_BYTES)

    def read_all(self, deadline: float) -> bytes:
        parts: List[bytes] = []
        size = 0
        while part := self.read(deadline):
            size += len(part)
            if size > _ANSWER_BYTES_MAX:
                raise AnswerTooLongError
            parts.append(part)
        body = b"".join(parts)
        length = self._head.headers.get("content-length")
        if length is not None and length.isdigit() and len(body) < int(length):
            raise http.client.IncompleteRead(body)
        return body

    @property
    def is_reusable(self) -> bool:
        return not self._head.will_close

    def close(self) -> None:
        self._head.close()
        self._connection.close()


class Endpoint:
    """One of the service's two APIs: its URL, and the header with its key."""

    def __init__(self, name: str, url: str, api_key: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ArgumentInvalidError(f"{name}_url", "must be an http or https URL") from None
        plain = not (parts.username or parts.password or parts.query or parts.fragment) and parts.hostname
        if parts.scheme not in ("http", "https") or not plain or not re.fullmatch(r"[\x21-\x7e]*", url):
            raise ArgumentInvalidError(f"{name}_url", "must be an http or https URL without a user, query or fragment")
        # A pasted key with a line break or a space is not a valid header.
        if not re.fullmatch(r"[\x21-\x7e]{1,512}", api_key):
            raise ArgumentInvalidError(f"{name}_api_key", "must be visible ASCII characters")
        self._secure = parts.scheme == "https"
        self._host = str(parts.hostname)
        self._port = port
        self._prefix = parts.path.rstrip("/")
        self._headers = {"x-api-key": api_key} if name == "attestation" else {"authorization": f"Bearer {api_key}"}
        self._tls = ssl.create_default_context() if self._secure else None
        self._lock = threading.Lock()
        self._idle: List[Tuple[float, http.client.HTTPConnection]] = []

    def _connect(self, deadline: float) -> http.client.HTTPConnection:
        if self._tls is None:
            connection = http.client.HTTPConnection(self._host, self._port)
        else:
            connection = http.client.HTTPSConnection(self._host, self._port, context=self._tls)
        sock = _dial(self._host, connection.port, deadline)
        if self._tls is not None:
            sock.settimeout(_left(deadline))
            sock = self._tls.wrap_socket(sock, server_hostname=self._host)
        connection.sock = _TimedSocket(sock)
        return connection

    def _take_idle(self) -> Optional[http.client.HTTPConnection]:
        with self._lock:
            while self._idle:
                since, connection = self._idle.pop()
                if time.monotonic() - since < _IDLE_SECONDS:
                    return connection
                connection.close()
        return None

    def _send(self, connection: http.client.HTTPConnection, request: Request, deadline: float) -> Response:
        headers: Dict[str, str] = {"accept": "application/json"}
        headers.update(request.headers)
        headers.update(self._headers)
        headers["x-request-id"] = request.request_id
        sock = connection.sock
        sock.deadline = deadline
        connection.request(request.method, self._prefix + request.path, body=request.body, headers=headers)
        return Response(connection, connection.getresponse(), sock)

    def open(self, request: Request, deadline: float) -> Response:
        """Sends the request, and waits for the head of the answer. The caller closes the response.

        Raises RequestRefusedError, ServiceUnreachableError, AnswerInvalidError (a redirect)."""
        connection = self._take_idle()
        try:
            if connection is not None:
                try:
                    return _accepted(self._send(connection, request, deadline), request, deadline)
                except (ConnectionError, http.client.BadStatusLine):
                    # The service had closed the idle connection. Sending again is safe, because the request id and
                    # the Idempotency-Key are the same.
                    connection.close()
            connection = self._connect(deadline)
            return _accepted(self._send(connection, request, deadline), request, deadline)
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            if connection is not None:
                connection.close()
            what = f"the service cannot be reached: {type(error).__name__}"
            raise ServiceUnreachableError(what, request.request_id) from error
        except ClientError:
            if connection is not None:
                connection.close()
            raise

    def ask(self, request: Request, timeout_seconds: float) -> Tuple[int, str, bytes]:
        """Returns the status, the answer's request id and the whole body, within the time. Raises like ``open``."""
        deadline = time.monotonic() + timeout_seconds
        response = self.open(request, deadline)
        request_id = response.header("x-request-id") or request.request_id
        try:
            body = response.read_all(deadline)
        except (OSError, http.client.HTTPException) as error:
            response.close()
            raise ServiceUnreachableError("the answer was cut off", request_id) from error
        except AnswerTooLongError:
            response.close()
            raise AnswerInvalidError("it is too long", request_id) from None
        self._keep(response)
        return response.status, request_id, body

    def _keep(self, response: Response) -> None:
        if not response.is_reusable:
            response.close()
            return
        with self._lock:
            self._idle.append((time.monotonic(), response._connection))

    def close(self) -> None:
        with self._lock:
            for _, connection in self._idle:
                connection.close()
            self._idle.clear()


def _accepted(response: Response, request: Request, deadline: float) -> Response:
    if 200 <= response.status < 300:
        return response
    request_id = response.header("x-request-id") or request.request_id
    if response.status < 400:
        raise AnswerInvalidError(f"status {response.status}", request_id)
    try:
        problem: Any = json.loads(response.read_all(deadline))
    except (OSError, http.client.HTTPException, AnswerTooLongError, ValueError, RecursionError):
        problem = None

    def text(name: str, otherwise: str) -> str:
        found = problem.get(name) if isinstance(problem, dict) else None
        return found if isinstance(found, str) else otherwise

    raise RequestRefusedError(
        text("code", "UNKNOWN_REFUSAL"),
        response.status,
        text("detail", "the service refused the request without a reason"),
        text("request_id", request_id),
        parse_retry_after(response.header("retry-after")),
    )
