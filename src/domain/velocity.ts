// What processes tell each other of how often and how much wallets did: counted by src/facts/velocity.ts, kept by
// src/store/velocity-tallies.ts.

/** Compliant decisions of a wallet in a project on a chain within one part of a window, counted by one process. */
export interface VelocityTally {
  readonly organizationId: string
  readonly projectId: string
  readonly wallet: string
  readonly chainName: string
  readonly windowSeconds: number
  /** Parts are numbered from 1970. */
  readonly part: number
  readonly count: number
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** When it is out of its window, Unix seconds. */
  readonly expiresAtSeconds: number
}
