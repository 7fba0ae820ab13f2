interface AttestationRequestBase {
  /** Address of the end user's wallet: `0x` and 40 hex digits, or base58 on Solana. */
  readonly from: string
  /** User that `from` represents. Screened and recorded, but not signed. */
  readonly onBehalf?: string | undefined
  /** Chain name, such as `base` or `solana`. */
  readonly chain: string
  /** Encoded call as `0x` hex. Required if the contract validates the whole call or the policy reads it. */
  readonly data?: string | undefined
  /** Native tokens that the call transfers, in wei or lamports. Required in the same cases as `data`. */
  readonly msgValue?: bigint | undefined
  /** End user's IP address, for policies that read the location. */
  readonly userIp?: string | undefined
}

/** Request for on-chain enforcement by the contract or program `to`. */
export interface ContractAttestationRequest extends AttestationRequestBase {
  readonly to: string
  readonly verificationHash?: undefined
}

/** Request for off-chain use in the project with this `verificationHash`. */
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
  /** Identifies the project: policy id in contracts, and part of the signed statement. */
  readonly verificationHash: string
  /** Request id in the service's log. */
  readonly requestId: string
}

export interface CompliantAnswer extends Evaluation {
  readonly isCompliant: true
  readonly attestation: Attestation
}

/** Denial by policy, which no contract accepts. */
export interface DeniedAnswer extends Evaluation {
  readonly isCompliant: false
  readonly uuid: string
  /** Reason from the policy; null if it gives none. */
  readonly reason: { readonly code: string; readonly message: string } | null
}

export type AttestationAnswer = CompliantAnswer | DeniedAnswer

/** Request to the v1 API; EVM chains only. */
export interface TaskRequest {
  readonly from: string
  /** User that `from` represents. Screened and recorded, but not signed. */
  readonly onBehalf?: string | undefined
  readonly to: string
  /** Encoded call as `0x` hex; `0x` for an empty call. */
  readonly data: string
  /** Amount in wei. */
  readonly msgValue: bigint
  /** Defaults to 1 (Ethereum). */
  readonly chainId?: number | undefined
}

export interface CompliantTask {
  readonly isCompliant: true
  readonly taskId: string
  /** Ascending; `signatures[i]` is the signature of `signers[i]`. */
  readonly signers: readonly `0x${string}`[]
  readonly signatures: readonly `0x${string}`[]
  /** Block number, or Unix seconds if the service uses seconds for the chain. */
  readonly expiryBlock: number
  readonly requestId: string
}

export interface DeniedTask {
  readonly isCompliant: false
  readonly taskId: string
  readonly requestId: string
}

export type TaskAnswer = CompliantTask | DeniedTask
