"""Computes the 32 bytes that an attester signed for Solana from the request and the answer. Does not check the
signature, because Python's standard library has no Ed25519."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from .attestation import Attestation, AttestationAnswer, AttestationRequest
from .errors import ArgumentInvalidError
from .fields import UUID_FORM

#: Prefix that the deployed registry program expects.
SOLANA_MESSAGE_PREFIX = "predicate_solana_attestation"
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
#: 32 zero bytes.
_ZERO_KEY = "1" * 32


@dataclass(frozen=True, kw_only=True)
class SolanaAttestedCall:
    """The requested call, with the project of the answer."""

    #: The user's base58 wallet address, which signs the transaction.
    from_: str
    #: Base58 address of the program that requires the attestation; 32 zero bytes for off-chain use.
    to: str
    #: The requested project, if the request names one; otherwise the answer's.
    verification_hash: str
    data: str = "0x"
    lamports: int = 0


def solana_attested_call(request: AttestationRequest, answer: AttestationAnswer) -> SolanaAttestedCall:
    """Returns the call of an answer."""
    return SolanaAttestedCall(
        from_=request.from_,
        to=request.to or _ZERO_KEY,
        verification_hash=request.verification_hash or answer.verification_hash,
        data=request.data or "0x",
        lamports=request.msg_value or 0,
    )


def decode_key(argument: str, text: str) -> bytes:
    """Decodes a base58 key to 32 bytes, and accepts only its canonical spelling."""
    value = 0
    for character in text if len(text) <= 44 else "0":
        digit = _ALPHABET.find(character)
        if digit < 0:
            raise ArgumentInvalidError(argument, "must be base58 of 32 bytes")
        value = value * 58 + digit
    zeros = len(text) - len(text.lstrip("1"))
    if zeros + (value.bit_length() + 7) // 8 != 32:
        raise ArgumentInvalidError(argument, "must be base58 of 32 bytes")
    return value.to_bytes(32, "big")


def solana_message(
    call: SolanaAttestedCall, attestation: Attestation, prefix: str = SOLANA_MESSAGE_PREFIX
) -> bytes:
    """SHA-256 of the statement's layout (docs/decisions.md §2, "What Solana signs"). ``prefix`` is the
    deployment's prefix."""
    if not re.fullmatch(r"[\x21-\x7e]{1,64}", prefix):
        raise ArgumentInvalidError("prefix", "must be 1 to 64 visible ASCII characters")
    if not UUID_FORM.fullmatch(attestation.uuid):
        raise ArgumentInvalidError("uuid", "must be a UUID")
    if not re.fullmatch(r"0x(?:[0-9a-fA-F]{2})*", call.data):
        raise ArgumentInvalidError("data", "must be 0x and whole bytes of hex")
    if not 0 <= call.lamports < 2**64:
        raise ArgumentInvalidError("lamports", "must be from 0 to 2^64 - 1")
    if not 0 <= attestation.expiration < 2**53:
        raise ArgumentInvalidError("expiration", "must be Unix seconds")
    return hashlib.sha256(
        b"".join(
            [
                prefix.encode(),
                bytes.fromhex(attestation.uuid.replace("-", "")),
                decode_key("from_", call.from_),
                decode_key("to", call.to),
                call.lamports.to_bytes(8, "little"),
                hashlib.sha256(bytes.fromhex(call.data[2:])).digest(),
                hashlib.sha256(call.verification_hash.encode()).digest(),
                attestation.expiration.to_bytes(8, "little"),
            ]
        )
    ).digest()
