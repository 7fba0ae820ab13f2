// the attestation API in TypeScript: what is asked and what is answered, with the wire's texts turned into values.

interface AttestationRequestBase {
  /** The end user's wallet: `0x` and 40 hex digits, or base58 on Solana. */
  readonly from: string
  /** The user for whom `from` sends, where `from` is a relayer: screened and recorded, not signed. */
  readonly onBehalf?: string | undefined
  /** A chain's name, for example `base` or `solana`. */
  readonly chain: string
  /** The encoded call, `0x` hex. Needed where the contract validates the whole call, or the policy reads it. */
  readonly data?: string | undefined
  /** Native tokens of the call: wei, or lamports on Solana. Needed as `data` is. */
  readonly msgValue?: bigint | undefined
  /** The end user's IP address, for policies that read where they are. */
  readonly userIp?: string | undefined
}

/** For enforcement on chain: the contract or program. */
export interface ContractAttestationRequest extends AttestationRequestBase {
  readonly to: string
  readonly verificationHash?: undefined
}

/** For use off chain: the project. */
export interface ProjectAttestationRequest extends AttestationRequestBase {
  readonly verificationHash: string
  readonly to?: undefined
}

export type AttestationRequest = ContractAttestationRequest | ProjectAttestationRequest

/** What a contract or program checks. */
export interface Attestation {
  readonly uuid: string
  /** Unix seconds: the last one in which it is accepted. */
  readonly expiration: number
  /** EVM address, or base58 public key on Solana. */
  readonly attester: string
  /** `0x` hex: 65 bytes on EVM chains, 64 on Solana. */
  readonly signature: string
}

interface Evaluation {
  readonly policyId: string
  readonly policyName: string
  /** The project: what contracts carry as their policy id, and what is signed. */
  readonly verificationHash: string
  /** The id under which the service's log knows this call. */
  readonly requestId: string
}

export interface CompliantAnswer extends Evaluation {
  readonly isCompliant: true
  readonly attestation: Attestation
}

/** A denial: an answer, not an error. It carries nothing that could be submitted. */
export interface DeniedAnswer extends Evaluation {
  readonly isCompliant: false
  readonly uuid: string
  /** The policy's own words, where it has them. */
  readonly reason: { readonly code: string; readonly message: string } | null
}

export type AttestationAnswer = CompliantAnswer | DeniedAnswer

/** Version 1, EVM only. */
export interface TaskRequest {
  readonly from: string
  /** As in an attestation request. */
  readonly onBehalf?: string | undefined
  readonly to: string
  /** `0x` hex; `0x` for none. */
  readonly data: string
  /** Wei. */
  readonly msgValue: bigint
  /** 1, Ethereum, unless stated. */
  readonly chainId?: number | undefined
}

export interface CompliantTask {
  readonly isCompliant: true
  readonly taskId: string
  /** Ascending; `signatures[i]` is by `signers[i]`. */
  readonly signers: readonly `0x${string}`[]
  readonly signatures: readonly `0x${string}`[]
  /** A block number, or Unix seconds where the service counts so for the chain. */
  readonly expiryBlock: number
  readonly requestId: string
}

export interface DeniedTask {
  readonly isCompliant: false
  readonly taskId: string
  readonly requestId: string
}

export type TaskAnswer = CompliantTask | DeniedTask
