// One request of the attestation API, decoded: canonical, typed, complete. The decoders (src/attestation) make it, and the same
// object goes to the sources of facts, over the wire to the worker, into the rules, the signature and the record. Its
// outer forms are the request bodies and the decision record (src/decision-log/types.ts).
import type { WalletAddress } from './address.ts'
import type { Chain } from './chain.ts'

/** The longest lifetime that a project may give its attestations. */
export const LIFETIME_SECONDS_MAX = 3_600

/** A v2 request or a v1 task (spec, "Attestation request (v2)", "Task request"): what rules read and keys sign. */
export interface AttestationRequest {
  readonly chain: Chain
  readonly from: WalletAddress
  /** The user for whom `from`, a relayer, sends; empty when not sent. Screened and recorded, never signed. */
  readonly onBehalf: WalletAddress | ''
  /** The zero address when the request names a project instead of a contract. */
  readonly to: WalletAddress
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** `0x` hex exactly as sent: it is signed verbatim. */
  readonly data: string
  /** Canonical text of an IP address, at most 64 characters; empty when not sent. */
  readonly userIp: string
  /** When the request arrived, Unix seconds. */
  readonly nowSeconds: number
}
