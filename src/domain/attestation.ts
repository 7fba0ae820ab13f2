// One decoded request of the attestation API: canonical, typed and complete. Created by the decoders (src/attestation),
// and used by sources of facts, workers, rules, signatures and records. Its external forms are the request bodies and
// the decision record (src/decision-log/types.ts).
import type { WalletAddress } from './address.ts'
import type { Chain } from './chain.ts'

export const LIFETIME_SECONDS_MAX = 3_600

/**
 * A v2 request or a v1 task (spec, "Attestation request (v2)", "Task request"): the data that rules read and keys sign.
 */
export interface AttestationRequest {
  readonly chain: Chain
  readonly from: WalletAddress
  /** The user for whom `from`, a relayer, sends; empty if not specified. Screened and recorded, never signed. */
  readonly onBehalf: WalletAddress | ''
  /** The zero address if the request specifies a project instead of a contract. */
  readonly to: WalletAddress
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** `0x` hex exactly as sent, because it is signed verbatim. */
  readonly data: string
  /** Canonical text of an IP address, at most 64 characters; empty if not sent. */
  readonly userIp: string
  /** Unix seconds of the request's arrival. */
  readonly nowSeconds: number
}
