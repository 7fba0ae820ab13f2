"""The client of both interfaces, for backends: keys belong there and nowhere else. Every call is tried again where that
can help, under the same Idempotency-Key each time. One client serves many threads."""

from __future__ import annotations

import re
import time
import uuid
from typing import Dict, Iterator, List, Optional, Sequence

from .attestation import (
    AttestationAnswer,
    AttestationRequest,
    BatchResult,
    TaskAnswer,
    TaskRequest,
    attestation_body,
    read_attestation_answer,
    read_batch,
    read_task_answer,
    task_body,
)
from .backoff import RetryPolicy, is_retried
from .connection import Endpoint
from .errors import ArgumentInvalidError, ClientError, RequestRefusedError
from .follow import follow_session
from .identity import (
    RegisteredSession,
    SessionState,
    WalletVerification,
    read_registered_session,
    read_session_state,
    read_wallet_verification,
    register_body,
    register_path,
    session_type,
    status_path,
)
from .transport import Transport

#: The service's own limit.
BATCH_SIZE_MAX = 1_000
_KEY_MAX = 255
#: Leaves room for an element's place behind the key of its batch.
_BATCH_KEY_MAX = _KEY_MAX - len(f"/{BATCH_SIZE_MAX - 1}")


def _endpoint(name: str, url: Optional[str], api_key: Optional[str]) -> Optional[Endpoint]:
    if url is None and api_key is None:
        return None
    if url is None or api_key is None:
        missing, given = ("url", "api_key") if url is None else ("api_key", "url")
        raise ArgumentInvalidError(f"{name}_{missing}", f"must be given with {name}_{given}")
    return Endpoint(name, url, api_key)


def _new_key() -> str:
    """A UUID of version 7 (RFC 9562): it begins with the time, so that the service's index of keys grows at its end."""
    moment = f"{time.time_ns() // 1_000_000:012x}"
    return f"{moment[:8]}-{moment[8:]}-7{str(uuid.uuid4())[15:]}"


def _key(given: Optional[str], longest: int = _KEY_MAX) -> str:
    key = _new_key() if given is None else given
    if not re.fullmatch(rf"[\x21-\x7e]{{1,{longest}}}", key):
        raise ArgumentInvalidError("idempotency_key", f"must be 1 to {longest} visible ASCII characters")
    return key


class Client:
    """Every method raises RequestRefusedError, ServiceUnreachableError, AnswerInvalidError or ArgumentInvalidError.

    ``idempotency_key`` is made for each call unless given: up to 255 visible ASCII characters. Give one (an order's id,
    say) to get the same answer for the same thing over a restart of your own."""

    def __init__(
        self,
        *,
        attestation_url: Optional[str] = None,
        attestation_api_key: Optional[str] = None,
        identity_url: Optional[str] = None,
        identity_api_key: Optional[str] = None,
        timeout_seconds: float = 30.0,
        retry: RetryPolicy = RetryPolicy(),
    ) -> None:
        if not 0 < timeout_seconds < 2**31:
            raise ArgumentInvalidError("timeout_seconds", "must be a number above 0")
        self._attestation = _endpoint("attestation", attestation_url, attestation_api_key)
        self._identity = _endpoint("identity", identity_url, identity_api_key)
        self._transport = Transport(timeout_seconds, retry)

    def _required(self, name: str) -> Endpoint:
        endpoint = self._attestation if name == "attestation" else self._identity
        if endpoint is None:
            raise ArgumentInvalidError(f"{name}_url", "was not given to Client")
        return endpoint

    def attest(self, request: AttestationRequest, *, idempotency_key: Optional[str] = None) -> AttestationAnswer:
        """Evaluates a call or a wallet; a denial is an answer."""
        return read_attestation_answer(
            self._transport.call(
                self._required("attestation"),
                "POST",
                "/v2/attestation",
                attestation_body(request),
                _key(idempotency_key),
            )
        )

    def attest_many(
        self, requests: Sequence[AttestationRequest], *, idempotency_key: Optional[str] = None
    ) -> List[BatchResult]:
        """Up to 1,000 in one call; each has its own result, in the order of the requests. Those that were refused for
        now are asked again alone, each under a key of its own."""
        if not 1 <= len(requests) <= BATCH_SIZE_MAX:
            raise ArgumentInvalidError("requests", f"must be 1 to {BATCH_SIZE_MAX} requests")
        key = _key(idempotency_key, _BATCH_KEY_MAX)
        endpoint = self._required("attestation")
        bodies = [
            {**attestation_body(request), "idempotency_key": f"{key}/{index}"}
            for index, request in enumerate(requests)
        ]
        results: Dict[int, BatchResult] = {}
        asked = list(range(len(bodies)))
        failures = 1
        while True:
            try:
                body = {"requests": [bodies[index] for index in asked]}
                answer = self._transport.call(endpoint, "POST", "/v2/attestations", body)
                read = read_batch(answer, len(asked))
            except ClientError:
                # What an earlier round has answered is the caller's. The others keep their last refusal.
                if not results:
                    raise
                break
            results.update(zip(asked, read))
            delays = {index: self._again(result, failures) for index, result in zip(asked, read)}
            asked = [index for index, delay in delays.items() if delay is not None]
            if not asked:
                break
            self._transport.sleep(max(delay for delay in delays.values() if delay is not None))
            failures += 1
        return [results[index] for index in range(len(bodies))]

    def _again(self, result: BatchResult, failures: int) -> Optional[float]:
        """Seconds until an element is asked again; None when it has its result."""
        retry = self._transport.retry
        if not isinstance(result, RequestRefusedError) or not is_retried(result) or failures >= retry.tries:
            return None
        return retry.delay(failures, result, self._transport.random)

    def task(self, request: TaskRequest, *, idempotency_key: Optional[str] = None) -> TaskAnswer:
        """The same by the older task API: EVM, with a quorum of signatures."""
        return read_task_answer(
            self._transport.call(
                self._required("attestation"), "POST", "/v1/task", task_body(request), _key(idempotency_key)
            )
        )

    def register(
        self,
        kind: str,
        *,
        wallet_address: Optional[str] = None,
        origin_url: Optional[str] = None,
        size: Optional[int] = None,
        sandbox_outcome: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> RegisteredSession:
        """A verification session of a person (``individual``) or a business (``business``).

        ``size`` is the QR code's, in pixels. ``sandbox_outcome``, with a test key, is what becomes of the session at
        once."""
        return read_registered_session(
            self._transport.call(
                self._required("identity"),
                "POST",
                register_path(kind, size),
                register_body(wallet_address, origin_url),
                _key(idempotency_key),
                {} if sandbox_outcome is None else {"countersign-sandbox-outcome": sandbox_outcome},
            )
        )

    def status(self, kind: str, session_id: str) -> SessionState:
        answer = self._transport.call(self._required("identity"), "GET", status_path(kind, session_id))
        return read_session_state(answer.body, answer.request_id)

    def follow(self, kind: str, session_id: str, *, quiet_seconds: float = 45.0) -> Iterator[SessionState]:
        """The current status, then each change, up to ``completed`` or ``rejected``. A lost connection is taken up
        again where it ended. Closing the iterator closes the connection. A connection that brings nothing for
        ``quiet_seconds`` is given up for a new one."""
        if not 0 < quiet_seconds < 2**31:
            raise ArgumentInvalidError("quiet_seconds", "must be a number above 0")
        path = status_path(kind, session_id, realtime=True)
        return follow_session(self._transport, self._required("identity"), path, quiet_seconds)

    def verify(self, address: str, *, kind: Optional[str] = None, chain: Optional[str] = None) -> WalletVerification:
        """Whether a wallet belongs to a verified identity. With ``chain``, a contract wallet is verified only on the
        chain of its proof. Without it, compare the chains in ``wallets``."""
        body = {"address": address}
        if kind is not None:
            body["type"] = session_type(kind)
        if chain is not None:
            body["chain"] = chain
        return read_wallet_verification(
            self._transport.call(self._required("identity"), "POST", "/api/v1/verify", body)
        )

    def close(self) -> None:
        """Closes kept connections. The client can be used again."""
        for endpoint in (self._attestation, self._identity):
            if endpoint is not None:
                endpoint.close()
