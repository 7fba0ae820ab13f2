"""Requests and answers of the attestation API, and their JSON forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from .errors import AnswerInvalidError, RequestRefusedError
from .fields import UUID_FORM, Fields
from .transport import Answer

_EVM_ADDRESS_FORM = re.compile(r"0x[0-9a-fA-F]{40}")
_ATTESTER_FORM = re.compile(r"0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}")
_SIGNATURE_FORM = re.compile(r"0x(?:[0-9a-fA-F]{130}|[0-9a-fA-F]{128})")
_TASK_SIGNATURE_FORM = re.compile(r"0x[0-9a-fA-F]{130}")


@dataclass(frozen=True, kw_only=True)
class AttestationRequest:
    """Names a contract or program (``to``) or a project (``verification_hash``), not both."""

    #: Chain name, for example ``base`` or ``solana``.
    chain: str
    #: The end user's wallet.
    from_: str
    to: Optional[str] = None
    verification_hash: Optional[str] = None
    #: The encoded call, ``0x`` hex.
    data: Optional[str] = None
    #: Native tokens of the call: wei, or lamports on Solana.
    msg_value: Optional[int] = None
    #: The end user's IP address, for policies that read the location.
    user_ip: Optional[str] = None
    #: The end user if ``from_`` is a relayer.
    on_behalf: Optional[str] = None


@dataclass(frozen=True)
class Attestation:
    """The proof that a contract or program verifies."""

    uuid: str
    #: Last second, in Unix time, in which the attestation is accepted.
    expiration: int
    #: EVM address, or base58 public key on Solana.
    attester: str
    #: ``0x`` hex: 65 bytes on EVM chains, 64 on Solana.
    signature: str


@dataclass(frozen=True)
class Reason:
    code: str
    message: str


@dataclass(frozen=True)
class AttestationAnswer:
    """``attestation`` is None if the policy denied the request. A denial is an answer, not an error."""

    is_compliant: bool
    policy_id: str
    policy_name: str
    #: Identifies the project. Contracts use it as their policy id, and it is part of the signed statement.
    verification_hash: str
    uuid: str
    attestation: Optional[Attestation]
    #: The policy's message for a denial, if any.
    reason: Optional[Reason]
    request_id: str


#: Result of one request of a batch.
BatchResult = Union[AttestationAnswer, RequestRefusedError]


@dataclass(frozen=True, kw_only=True)
class TaskRequest:
    """A request of API version 1, for EVM chains only."""

    from_: str
    to: str
    #: ``0x`` hex. Defaults to ``0x``.
    data: str
    #: Wei.
    msg_value: int
    #: Defaults to 1, Ethereum.
    chain_id: Optional[int] = None
    on_behalf: Optional[str] = None


@dataclass(frozen=True)
class TaskAnswer:
    """For a denial, ``signers`` and ``signatures`` are empty and ``expiry_block`` is 0."""

    is_compliant: bool
    task_id: str
    #: Ascending; ``signatures[i]`` is by ``signers[i]``.
    signers: Tuple[str, ...]
    signatures: Tuple[str, ...]
    #: A block number, or Unix seconds if the service uses seconds for the chain.
    expiry_block: int
    request_id: str


def _sent(body: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def attestation_body(request: AttestationRequest) -> Dict[str, Any]:
    return _sent(
        {
            "from": request.from_,
            "chain": request.chain,
            "to": request.to,
            "verification_hash": request.verification_hash,
            "data": request.data,
            "msg_value": None if request.msg_value is None else str(request.msg_value),
            "user_ip": request.user_ip,
            "on_behalf": request.on_behalf,
        }
    )


def read_evaluation(fields: Fields, request_id: str) -> AttestationAnswer:
    is_compliant = fields.flag("is_compliant")
    found = fields.object("attestation")
    attestation: Optional[Attestation] = None
    reason: Optional[Reason] = None
    if is_compliant:
        attestation = Attestation(
            uuid=found.matching("uuid", UUID_FORM),
            expiration=found.count("expiration"),
            attester=found.matching("attester", _ATTESTER_FORM),
            signature=found.matching("signature", _SIGNATURE_FORM),
        )
    elif fields.has("reason"):
        words = fields.object("reason")
        reason = Reason(words.optional_text("code") or "", words.optional_text("message") or "")
    return AttestationAnswer(
        is_compliant=is_compliant,
        policy_id=fields.text("policy_id"),
        policy_name=fields.text("policy_name"),
        verification_hash=fields.text("verification_hash"),
        uuid=found.matching("uuid", UUID_FORM),
        attestation=attestation,
        reason=reason,
        request_id=request_id,
    )


def read_attestation_answer(answer: Answer) -> AttestationAnswer:
    return read_evaluation(Fields(answer.body, answer.request_id), answer.request_id)


def read_batch(answer: Answer, size: int) -> Sequence[BatchResult]:
    elements = Fields(answer.body, answer.request_id).objects("answers")
    if [element.count("index") for element in elements] != list(range(size)):
        raise AnswerInvalidError("the answers do not match the requests", answer.request_id)
    return [_read_element(element, answer.request_id) for element in elements]


def _read_element(element: Fields, request_id: str) -> BatchResult:
    if not element.has("problem"):
        return read_evaluation(element.object("answer"), request_id)
    problem = element.object("problem")
    after = element.count("retry_after_seconds") if element.has("retry_after_seconds") else None
    return RequestRefusedError(
        problem.text("code"), element.count("status"), problem.text("detail"), request_id, after
    )


def task_body(request: TaskRequest) -> Dict[str, Any]:
    return _sent(
        {
            "from": request.from_,
            "to": request.to,
            "data": request.data,
            "msg_value": str(request.msg_value),
            "chain_id": request.chain_id,
            "on_behalf": request.on_behalf,
        }
    )


def read_task_answer(answer: Answer) -> TaskAnswer:
    fields = Fields(answer.body, answer.request_id)
    task_id = fields.matching("task_id", UUID_FORM)
    if not fields.flag("is_compliant"):
        return TaskAnswer(False, task_id, (), (), 0, answer.request_id)
    signers = tuple(fields.texts("signers", _EVM_ADDRESS_FORM))
    signatures = tuple(fields.texts("signature", _TASK_SIGNATURE_FORM))
    if not signers or len(signers) != len(signatures):
        raise AnswerInvalidError("signers and signature must have the same length", answer.request_id)
    return TaskAnswer(True, task_id, signers, signatures, fields.count("expiry_block"), answer.request_id)
