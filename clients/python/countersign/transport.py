"""Calls with a time limit per attempt, and with retries. All attempts have the same request and Idempotency-Key, so
that the service processes the call once."""

from __future__ import annotations

import json
import random
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from .backoff import RetryPolicy, is_retried, twin_in_flight_seconds
from .connection import Endpoint, Request
from .errors import AnswerInvalidError, ClientError


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    request_id: str


@dataclass(frozen=True)
class Transport:
    #: Maximum duration of one attempt, from connecting to the last byte.
    timeout_seconds: float
    retry: RetryPolicy
    random: Callable[[], float] = random.random
    sleep: Callable[[float], None] = time.sleep

    def call(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Answer:
        sent = dict(headers or {})
        if body is not None:
            sent["content-type"] = "application/json"
        if idempotency_key is not None:
            sent["idempotency-key"] = idempotency_key
        payload = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        request = Request(method, path, sent, payload, str(uuid.uuid4()))
        failures = 0
        asked = 0
        waited = 0.0
        while True:
            try:
                status, request_id, text = endpoint.ask(request, self.timeout_seconds)
                return Answer(status, _parse(text, request_id), request_id)
            except ClientError as error:
                if not is_retried(error):
                    raise
                held = twin_in_flight_seconds(error)
                if held is not None and self.retry.tries > 1:
                    delay = self.retry.twin_delay(asked, waited, held, self.random)
                    asked += 1
                    waited += delay or 0.0
                else:
                    failures += 1
                    delay = self.retry.delay(failures, error, self.random) if failures < self.retry.tries else None
                if delay is None:
                    raise
            self.sleep(delay)


def _parse(text: bytes, request_id: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise AnswerInvalidError("it is not JSON", request_id) from None
