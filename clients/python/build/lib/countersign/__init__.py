"""Client of Countersign: policy attestations for EVM chains and Solana, and identity verification."""

from .attestation import (
    Attestation,
    AttestationAnswer,
    AttestationRequest,
    BatchResult,
    Reason,
    TaskAnswer,
    TaskRequest,
)
from .backoff import RetryPolicy
from .client import BATCH_SIZE_MAX, Client
from .errors import (
    AnswerInvalidError,
    ArgumentInvalidError,
    ClientError,
    RequestRefusedError,
    ServiceUnreachableError,
)
from .evm import EVM_CHAIN_IDS, EvmAttestedCall, evm_attested_call, evm_digest
from .identity import (
    FINAL_STATUSES,
    STATUSES,
    RegisteredSession,
    SessionState,
    SessionWallet,
    VerifiedWallet,
    WalletVerification,
)
from .keccak import keccak256
from .solana import SOLANA_MESSAGE_PREFIX, SolanaAttestedCall, decode_key, solana_attested_call, solana_message

__all__ = [
    "AnswerInvalidError",
    "ArgumentInvalidError",
    "Attestation",
    "AttestationAnswer",
    "AttestationRequest",
    "BATCH_SIZE_MAX",
    "BatchResult",
    "Client",
    "ClientError",
    "EVM_CHAIN_IDS",
    "EvmAttestedCall",
    "FINAL_STATUSES",
    "Reason",
    "RegisteredSession",
    "RequestRefusedError",
    "RetryPolicy",
    "SOLANA_MESSAGE_PREFIX",
    "STATUSES",
    "ServiceUnreachableError",
    "SessionState",
    "SessionWallet",
    "SolanaAttestedCall",
    "TaskAnswer",
    "TaskRequest",
    "VerifiedWallet",
    "WalletVerification",
    "decode_key",
    "evm_attested_call",
    "evm_digest",
    "keccak256",
    "solana_attested_call",
    "solana_message",
]
