// Request and response types of the attestation API.

interface AttestationRequestBase {
  /** Address of the end user's wallet: `0x` and 40 hex digits, or base58 on Solana. */
  readonly from: string
  /** Address of the user that `from` represents. Screened and recorded, but not signed. */
  readonly onBehalf?: string | undefined
  /** Name of the chain, for example `base` or `solana`. */
  readonly chain: string
  /**
   * Encoded call as `0x` hex. Required if the contract validates the whole call, or if the policy reads the call data.
   */
  readonly data?: string | undefined
  /**
   * Amount of native tokens that the call transfers, in wei, or lamports on Solana. Required in the same cases as
   * `data`.
   */
  readonly msgValue?: bigint | undefined
  /** IP address of the end user, for policies that read the user's location. */
  readonly userIp?: string | undefined
}

/** Request for on-chain enforcement. `to` is the contract or program. */
export interface ContractAttestationRequest extends AttestationRequestBase {
  readonly to: string
  readonly verificationHash?: undefined
}

/** Request for off-chain use. `verificationHash` identifies the project. */
export interface ProjectAttestationRequest extends AttestationRequestBase {
  readonly verificationHash: string
  readonly to?: undefined
}

export type AttestationRequest = ContractAttestationRequest | ProjectAttestationRequest

/** Attestation to submit to a contract or program. */
export interface Attestation {
  readonly uuid: string
  /** Last Unix second in which the attestation is accepted. */
  readonly expiration: number
  /** EVM address, or base58 public key on Solana. */
  readonly attester: string
  /** `0x` hex: 65 bytes on EVM chains, 64 on Solana. */
  readonly signature: string
}

interface Evaluation {
  readonly policyId: string
  readonly policyName: string
  /** Identifier of the project: the policy id in contracts, and part of the signed statement. */
  readonly verificationHash: string
  /** Request id in the service's log. */
  readonly requestId: string
}

export interface CompliantAnswer extends Evaluation {
  readonly isCompliant: true
  readonly attestation: Attestation
}

/** Denial by policy. No contract accepts any part of it. */
export interface DeniedAnswer extends Evaluation {
  readonly isCompliant: false
  readonly uuid: string
  /** Reason from the policy; null if the policy gives none. */
  readonly reason: { readonly code: string; readonly message: string } | null
}

export type AttestationAnswer = CompliantAnswer | DeniedAnswer

/** Request of the version 1 API, for EVM chains only. */
export interface TaskRequest {
  readonly from: string
  /** Address of the user that `from` represents. Screened and recorded, but not signed. */
  readonly onBehalf?: string | undefined
  readonly to: string
  /** Encoded call as `0x` hex; `0x` for an empty call. */
  readonly data: string
  /** Wei. */
  readonly msgValue: bigint
  /** Defaults to 1 (Ethereum). */
  readonly chainId?: number | undefined
}

export interface CompliantTask {
  readonly isCompliant: true
  readonly taskId: string
  /** In ascending order; `signatures[i]` is the signature of `signers[i]`. */
  readonly signers: readonly `0x${string}`[]
  readonly signatures: readonly `0x${string}`[]
  /** Block number, or Unix seconds if the service is configured to use seconds for the chain. */
  readonly expiryBlock: number
  readonly requestId: string
}

export interface DeniedTask {
  readonly isCompliant: false
  readonly taskId: string
  readonly requestId: string
}

export type TaskAnswer = CompliantTask | DeniedTask
