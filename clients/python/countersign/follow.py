"""Follows a session's status over any number of connections. Each connection continues after the last event, and no
status is returned twice. Ends after a final status."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
import uuid
from typing import Generator, Iterator, Optional, Tuple

from .backoff import is_retried
from .connection import Endpoint, Request
from .errors import AnswerInvalidError, ClientError, ServiceUnreachableError
from .events import Event, EventParser, EventTooLongError
from .identity import FINAL_STATUSES, SessionState, read_session_state
from .transport import Transport


def follow_session(transport: Transport, endpoint: Endpoint, path: str, quiet_seconds: float) -> Iterator[SessionState]:
    """After the first event, a lost connection is reopened without a limit; before that, the retry policy applies."""
    retry = transport.retry
    last_id: Optional[str] = None
    last_data: Optional[str] = None
    hint: Optional[float] = None
    failures = 0
    while True:
        request_id = str(uuid.uuid4())
        failure: ClientError = ServiceUnreachableError("the stream ended", request_id)
        try:
            connection = _connection(transport, endpoint, path, request_id, last_id, quiet_seconds)
            with contextlib.closing(connection) as events:
                for event, said in events:
                    last_id = event.last_event_id
                    hint = hint if said is None else said
                    # A new connection starts with the current status, which may be the last one returned.
                    if event.data == last_data:
                        continue
                    last_data = event.data
                    failures = 0
                    state = _state(event.data, request_id)
                    yield state
                    if state.status in FINAL_STATUSES:
                        return
        except ClientError as error:
            if not is_retried(error):
                raise
            failure = error
        failures += 1
        delay = retry.delay(failures, failure, transport.random)
        if delay is None or (last_data is None and failures >= retry.tries):
            raise failure
        spread = min(hint or 0.0, retry.max_delay_seconds) * (0.5 + transport.random() / 2)
        transport.sleep(max(delay, spread))


def _state(data: str, request_id: str) -> SessionState:
    try:
        return read_session_state(json.loads(data), request_id)
    except (ValueError, RecursionError):
        raise AnswerInvalidError("an event is not JSON", request_id) from None


def _connection(
    transport: Transport, endpoint: Endpoint, path: str, request_id: str, last_id: Optional[str], quiet_seconds: float
) -> Generator[Tuple[Event, Optional[float]], None, None]:
    """Yields the events of one connection with the requested reconnection delays. Always closes the connection."""
    headers = {"accept": "text/event-stream"}
    if last_id is not None:
        headers["last-event-id"] = last_id
    deadline = time.monotonic() + transport.timeout_seconds
    response = endpoint.open(Request("GET", path, headers, None, request_id), deadline)
    try:
        kind = (response.header("content-type") or "").split(";")[0].strip().lower()
        if response.status != 200 or kind != "text/event-stream":
            raise AnswerInvalidError("it is not an event stream", request_id)
        parser = EventParser(last_id)
        while True:
            try:
                received = response.read(time.monotonic() + quiet_seconds)
            except (OSError, http.client.HTTPException) as error:
                raise ServiceUnreachableError("the stream was cut off", request_id) from error
            if not received:
                return
            try:
                events = parser.push(received)
            except EventTooLongError as error:
                raise AnswerInvalidError(str(error), request_id) from None
            for event in events:
                yield event, parser.retry_seconds
    finally:
        response.close()
