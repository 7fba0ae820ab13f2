// Counts of wallets' requests, exchanged between processes (src/facts/velocity.ts, src/store/velocity-tallies.ts).

/** Compliant decisions of a wallet in a project on a chain, in one part of a window, counted by one process. */
export interface VelocityTally {
  readonly organizationId: string
  readonly projectId: string
  /** Environment of the API key, so that test keys don't count against live wallets. */
  readonly environment: 'live' | 'test'
  readonly wallet: string
  readonly chainName: string
  readonly windowSeconds: number
  /** Number of the part, counted from 1970. */
  readonly part: number
  readonly count: number
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** Unix seconds at which the tally leaves its window. */
  readonly expiresAtSeconds: number
}
