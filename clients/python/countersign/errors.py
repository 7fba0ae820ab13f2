"""Errors of the client. Each error has a stable ``code`` and the call's id in the service's log. Messages never contain
a key or sent data."""

from __future__ import annotations

from typing import Optional


class ClientError(Exception):
    """Base class of the client's errors."""

    def __init__(self, code: str, message: str, request_id: Optional[str]) -> None:
        super().__init__(message)
        self.code = code
        #: None if nothing was sent.
        self.request_id = request_id


class ArgumentInvalidError(ClientError):
    """An invalid argument. The message names it and the expected value."""

    def __init__(self, argument: str, expected: str) -> None:
        super().__init__("ARGUMENT_INVALID", f"{argument} {expected}", None)
        self.argument = argument


class RequestRefusedError(ClientError):
    """An error of the service (RFC 9457). A denial by policy is an answer, not an error."""

    def __init__(
        self, code: str, status: int, detail: str, request_id: str, retry_after_seconds: Optional[int]
    ) -> None:
        super().__init__(code, f"{detail} ({code}, status {status}, request {request_id})", request_id)
        self.status = status
        #: The service's message for developers.
        self.detail = detail
        #: Value of ``Retry-After``; None if the header is missing.
        self.retry_after_seconds = retry_after_seconds


class ServiceUnreachableError(ClientError):
    """There is no answer, because of a network failure or a timeout. The service may have processed the request."""

    def __init__(self, what: str, request_id: str) -> None:
        super().__init__("SERVICE_UNREACHABLE", f"{what} (request {request_id})", request_id)


class AnswerInvalidError(ClientError):
    """The answer is not one of this API, for example because of a wrong URL or a proxy that changed it."""

    def __init__(self, what: str, request_id: str) -> None:
        super().__init__("ANSWER_INVALID", f"the answer is not usable: {what} (request {request_id})", request_id)
