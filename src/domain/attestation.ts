// Interface A's requests after decoding: canonical, typed, complete. The wire shapes live in src/attestation/schema.ts.
import type { WalletAddress } from './address.ts'
import type { Chain, EvmChain } from './chain.ts'

/** The longest lifetime that a project may give its attestations. */
export const LIFETIME_SECONDS_MAX = 3_600

/** A decoded v2 request (spec, "Attestation request (v2)"). */
export interface AttestationRequest {
  readonly chain: Chain
  readonly from: WalletAddress
  /** The user for whom `from`, a relayer, sends; null when left out. Screened and recorded, never signed. */
  readonly onBehalf: WalletAddress | null
  /** Exactly one of `to` and `verificationHash` is set. */
  readonly to: WalletAddress | null
  /** `to` as the caller spelled it, for the text of Errors row 1 only; null with `to`. */
  readonly toAsSent: string | null
  readonly verificationHash: string | null
  /** `0x` hex exactly as sent; null when left out (then `0x` is signed). */
  readonly data: string | null
  /** Canonical decimal; null when left out (then `0` is signed). Wei or lamports. */
  readonly msgValue: string | null
  readonly userIp: string | null
}

/** A decoded v1 request (spec, "Task request"). */
export interface TaskRequest {
  readonly chain: EvmChain
  readonly from: WalletAddress
  /** As in a v2 request. */
  readonly onBehalf: WalletAddress | null
  readonly to: WalletAddress
  /** `to` as the caller spelled it, for the text of Errors row 1 only. */
  readonly toAsSent: string
  readonly data: string
  readonly msgValue: string
}
