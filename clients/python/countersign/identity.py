"""Requests and answers of the identity API, and their JSON forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, Optional, Tuple

from .errors import ArgumentInvalidError
from .fields import UUID_FORM, Fields
from .transport import Answer

STATUSES = ("pending", "submitted", "completed", "rejected", "retry")
#: Statuses after which a session is no longer followed.
FINAL_STATUSES = frozenset({"completed", "rejected"})
_URL_FORM = re.compile(r"https?://\S+")
_PNG_FORM = re.compile(r"data:image/png;base64,[A-Za-z0-9+/]+={0,2}")


@dataclass(frozen=True)
class RegisteredSession:
    session_id: str
    #: Link for the end user.
    redirect_url: str
    #: A PNG as a data URI, for an image source.
    qr_code: str
    #: True if an existing session of the wallet is reused.
    reused: bool


@dataclass(frozen=True)
class SessionWallet:
    id: str
    address: str
    chain: str


@dataclass(frozen=True)
class SessionState:
    session_id: str
    #: One of STATUSES.
    status: str
    #: None until the session has an identity.
    user_id: Optional[str]
    #: ISO 8601; None unless the session is completed.
    completed_at: Optional[str]
    #: Wallets of a completed session; ``unverified_wallets`` contains those of any other session.
    verified_wallets: Tuple[SessionWallet, ...]
    unverified_wallets: Tuple[SessionWallet, ...]


@dataclass(frozen=True)
class VerifiedWallet:
    address: str
    chain: str


@dataclass(frozen=True)
class WalletVerification:
    """For an unknown wallet, all fields are None or empty, even if the service omits them."""

    address: str
    verified: bool
    #: Status of the most recent session; None for an unknown wallet.
    status: Optional[str]
    user_id: Optional[str]
    #: ``kyc`` or ``kyb``.
    check_type: Optional[str]
    #: ISO 8601.
    verified_at: Optional[str]
    #: Wallets of the same identity, at accepted levels.
    wallets: Tuple[VerifiedWallet, ...]


def session_type(kind: str) -> str:
    if kind not in ("individual", "business"):
        raise ArgumentInvalidError("kind", "must be individual or business")
    return kind


def register_path(kind: str, size: Optional[int]) -> str:
    if size is not None and not 80 <= size <= 2000:
        raise ArgumentInvalidError("size", "must be a whole number from 80 to 2000")
    return f"/api/v1/register/{session_type(kind)}" + ("" if size is None else f"?size={size}")


def register_body(wallet_address: Optional[str], origin_url: Optional[str]) -> Optional[Dict[str, str]]:
    """Returns None if no option is set; no body is then sent."""
    given = {"walletAddress": wallet_address, "originUrl": origin_url}
    return {name: value for name, value in given.items() if value is not None} or None


def read_registered_session(answer: Answer) -> RegisteredSession:
    fields = Fields(answer.body, answer.request_id)
    return RegisteredSession(
        session_id=fields.matching("sessionId", UUID_FORM),
        redirect_url=fields.matching("redirectUrl", _URL_FORM),
        qr_code=fields.matching("qrCode", _PNG_FORM),
        reused=answer.status == 200,
    )


def status_path(kind: str, session_id: str, realtime: bool = False) -> str:
    if not UUID_FORM.fullmatch(session_id):
        raise ArgumentInvalidError("session_id", "must be a UUID")
    return f"/api/v1/status/{'realtime/' if realtime else ''}{session_type(kind)}/{session_id}"


def read_session_state(body: object, request_id: str) -> SessionState:
    fields = Fields(body, request_id)

    def wallets(name: str) -> Tuple[SessionWallet, ...]:
        return tuple(
            SessionWallet(wallet.text("id"), wallet.text("address"), wallet.text("chain"))
            for wallet in fields.objects(name)
        )

    return SessionState(
        session_id=fields.matching("sessionId", UUID_FORM),
        status=fields.one("status", STATUSES),
        user_id=fields.optional_text("userId"),
        completed_at=fields.optional_text("completedAt"),
        verified_wallets=wallets("verifiedWallets"),
        unverified_wallets=wallets("unverifiedWallets"),
    )


def read_wallet_verification(answer: Answer) -> WalletVerification:
    fields = Fields(answer.body, answer.request_id)
    wallets = fields.objects("wallets") if fields.has("wallets") else []
    return WalletVerification(
        address=fields.text("address"),
        verified=fields.flag("verified"),
        status=fields.one("status", STATUSES) if fields.has("status") else None,
        user_id=fields.optional_text("userId"),
        check_type=fields.one("checkType", ("kyc", "kyb")) if fields.has("checkType") else None,
        verified_at=fields.optional_text("verifiedAt"),
        wallets=tuple(VerifiedWallet(wallet.text("address"), wallet.text("chain")) for wallet in wallets),
    )
