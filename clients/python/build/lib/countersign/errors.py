"""What the client raises. Every error has a stable ``code`` and the id under which the service's log knows the call.
No message holds a key or what was sent."""

from __future__ import annotations

from typing import Optional


class ClientError(Exception):
    """The base of everything raised here."""

    def __init__(self, code: str, message: str, request_id: Optional[str]) -> None:
        super().__init__(message)
        self.code = code
        #: None when nothing was sent.
        self.request_id = request_id


class ArgumentInvalidError(ClientError):
    """An argument that can't be used. The message names it and says what is expected."""

    def __init__(self, argument: str, expected: str) -> None:
        super().__init__("ARGUMENT_INVALID", f"{argument} {expected}", None)
        self.argument = argument


class RequestRefusedError(ClientError):
    """The service answered with an error (RFC 9457). A denial by policy is an answer and no error."""

    def __init__(
        self, code: str, status: int, detail: str, request_id: str, retry_after_seconds: Optional[int]
    ) -> None:
        super().__init__(code, f"{detail} ({code}, status {status}, request {request_id})", request_id)
        self.status = status
        #: The service's words, meant for developers.
        self.detail = detail
        #: From ``Retry-After``; None without one.
        self.retry_after_seconds = retry_after_seconds


class ServiceUnreachableError(ClientError):
    """No answer: the network failed, or it took too long. Whether the service acted on the request is not known."""

    def __init__(self, what: str, request_id: str) -> None:
        super().__init__("SERVICE_UNREACHABLE", f"{what} (request {request_id})", request_id)


class AnswerInvalidError(ClientError):
    """An answer that is not what this API answers: a wrong address, or something in between that changed it."""

    def __init__(self, what: str, request_id: str) -> None:
        super().__init__("ANSWER_INVALID", f"the answer is not usable: {what} (request {request_id})", request_id)
