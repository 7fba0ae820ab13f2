"""Retries: exponential backoff with full jitter, never before the service's ``Retry-After``."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Callable, Optional

from .errors import ArgumentInvalidError, ClientError, RequestRefusedError, ServiceUnreachableError

#: 502 and 504 come from a proxy that got no answer from the service.
_RETRIED_STATUSES = frozenset({408, 429, 502, 503, 504})
_TWIN_POLL_SECONDS = 1.0

Random = Callable[[], float]


@dataclass(frozen=True)
class RetryPolicy:
    #: Total number of attempts per call. Queries for an earlier attempt that holds the key do not count.
    tries: int = 6
    #: Maximum of the first random delay, which doubles with each retry.
    base_delay_seconds: float = 0.25
    #: Maximum random delay.
    max_delay_seconds: float = 10.0
    #: Maximum accepted ``Retry-After``. With a longer one, the call fails immediately.
    max_retry_after_seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise ArgumentInvalidError("retry.tries", "must be a whole number of at least 1")
        for name in ("base_delay_seconds", "max_delay_seconds", "max_retry_after_seconds"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ArgumentInvalidError(f"retry.{name}", "must be a number of at least 0")

    def _jitter(self, failures: int, random: Random) -> float:
        return random() * min(self.max_delay_seconds, self.base_delay_seconds * 2.0 ** min(failures - 1, 64))

    def delay(self, failures: int, error: ClientError, random: Random) -> Optional[float]:
        """Returns the delay in seconds after ``failures`` failures; None if the call should not be retried."""
        after = error.retry_after_seconds if isinstance(error, RequestRefusedError) else None
        if after is None:
            return self._jitter(failures, random)
        return None if after > self.max_retry_after_seconds else after + self._jitter(failures, random)

    def twin_delay(self, asked: int, waited: float, left: float, random: Random) -> Optional[float]:
        """Returns the delay in seconds before the next query for an attempt that holds the key for ``left``."""
        if waited + left > self.max_retry_after_seconds:
            return None
        poll = min(left, _TWIN_POLL_SECONDS * 2.0 ** min(asked, 64), self.max_delay_seconds)
        return poll + random() * self.base_delay_seconds


def is_retried(error: ClientError) -> bool:
    """Returns whether the same request may succeed later."""
    if isinstance(error, RequestRefusedError):
        return error.status in _RETRIED_STATUSES or error.code == "IDEMPOTENCY_IN_FLIGHT"
    return isinstance(error, ServiceUnreachableError)


def twin_in_flight_seconds(error: ClientError) -> Optional[int]:
    """Returns how long an earlier attempt still holds the same key; None for other errors."""
    if isinstance(error, RequestRefusedError) and error.code == "IDEMPOTENCY_IN_FLIGHT":
        return error.retry_after_seconds
    return None


def parse_retry_after(header: Optional[str]) -> Optional[int]:
    """Parses the ``Retry-After`` header, a number of seconds or a date (RFC 9110 §10.2.3)."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", header):
        return int(header)
    try:
        return max(0, math.ceil(parsedate_to_datetime(header).timestamp() - time.time()))
    except (ValueError, OverflowError):
        return None
