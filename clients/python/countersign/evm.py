"""Computes the 32 bytes that an attester signed for an EVM chain from the request and the answer. Does not check the
signature, because Python's standard library has no secp256k1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from .attestation import Attestation, AttestationAnswer, AttestationRequest
from .errors import ArgumentInvalidError
from .keccak import keccak256

#: EIP-155 ids by chain name. They are part of the signed statement.
EVM_CHAIN_IDS = {
    "ethereum": 1,
    "base": 8453,
    "arbitrum": 42161,
    "hyperliquid": 999,
    "plume": 98866,
    "bsc": 56,
    "plasma": 9745,
    "worldchain": 480,
    "sepolia": 11155111,
    "megaeth": 4326,
    "megaeth-testnet": 6343,
}
_ZERO_ADDRESS = "0x" + "0" * 40


@dataclass(frozen=True, kw_only=True)
class EvmAttestedCall:
    """A complete call on an EVM chain, for which the attester signed."""

    chain_id: int
    from_: str
    #: The zero address for off-chain use.
    to: str
    #: The requested project, if the request names one; otherwise the answer's.
    verification_hash: str
    data: str = "0x"
    wei: int = 0


def evm_attested_call(
    request: AttestationRequest, answer: AttestationAnswer, chain_id: Optional[int] = None
) -> EvmAttestedCall:
    """Returns the call of an answer. ``chain_id`` is required for chains that EVM_CHAIN_IDS lacks."""
    known = EVM_CHAIN_IDS.get(request.chain) if chain_id is None else chain_id
    if known is None:
        raise ArgumentInvalidError("chain_id", f"must be given for the chain {request.chain}")
    return EvmAttestedCall(
        chain_id=known,
        from_=request.from_,
        to=request.to or _ZERO_ADDRESS,
        verification_hash=request.verification_hash or answer.verification_hash,
        data=request.data or "0x",
        wei=request.msg_value or 0,
    )


def _word(argument: str, value: int) -> bytes:
    if not 0 <= value < 2**256:
        raise ArgumentInvalidError(argument, "must be from 0 to 2^256 - 1")
    return value.to_bytes(32, "big")


def _address(argument: str, text: str) -> bytes:
    if not re.fullmatch(r"0x[0-9a-fA-F]{40}", text):
        raise ArgumentInvalidError(argument, "must be 0x and 40 hex digits")
    return bytes(12) + bytes.fromhex(text[2:])


def evm_digest(call: EvmAttestedCall, attestation: Attestation) -> bytes:
    """keccak256 of the statement's ABI encoding (docs/decisions.md §2, "What EVM signs")."""
    if call.chain_id < 1:
        raise ArgumentInvalidError("chain_id", "must be a whole number from 1")
    if not re.fullmatch(r"0x(?:[0-9a-fA-F]{2})*", call.data):
        raise ArgumentInvalidError("data", "must be 0x and whole bytes of hex")
    tails = [attestation.uuid.encode(), bytes.fromhex(call.data[2:]), call.verification_hash.encode()]
    encoded = [len(tail).to_bytes(32, "big") + tail + bytes(-len(tail) % 32) for tail in tails]
    head = 8 * 32
    offsets = [head, head + len(encoded[0]), head + len(encoded[0]) + len(encoded[1])]
    words = [
        _word("chain_id", call.chain_id),
        offsets[0].to_bytes(32, "big"),
        _address("from_", call.from_),
        _address("to", call.to),
        _word("wei", call.wei),
        offsets[1].to_bytes(32, "big"),
        offsets[2].to_bytes(32, "big"),
        _word("expiration", attestation.expiration),
    ]
    return keccak256(b"".join(words + encoded))
