// A decoded request of the attestation API, as used by sources of facts, rules, signatures and records.
import type { WalletAddress } from './address.ts'
import type { Chain } from './chain.ts'

export const LIFETIME_SECONDS_MAX = 3_600

/** v2 request or v1 task (spec, "Attestation request (v2)", "Task request"). */
export interface AttestationRequest {
  readonly chain: Chain
  readonly from: WalletAddress
  /** User for whom the relayer `from` sends; empty if not sent. Screened and recorded, never signed. */
  readonly onBehalf: WalletAddress | ''
  /** Address of the contract; the zero address if the request names a project instead. */
  readonly to: WalletAddress
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** `0x` hex as sent, because it is signed unchanged. */
  readonly data: string
  /** Canonical IP address of at most 64 characters; empty if not sent. */
  readonly userIp: string
  /** Arrival of the request in Unix seconds. */
  readonly nowSeconds: number
}
