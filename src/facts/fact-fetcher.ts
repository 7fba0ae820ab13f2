// How a source of facts is asked (./sources), and what it is given for that.
import type { WalletAddress } from '../domain/address.ts'
import type { IdentityFacts } from '../policy/sources/identity.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import type { ReadableChains } from './chain-reads.ts'
import type { Geography } from './geography.ts'
import type { JsonRpc } from './json-rpc.ts'
import type { RemoteCounts } from './remote.ts'

export interface FactFetcher<Answer> {
  /**
   * Null means that the source has no answer. If this throws or rejects, the error is reported and the answer is null.
   */
  readonly ask: (subject: FactSubject) => Answer | null | Promise<Answer | null>
  /**
   * Number of changes so far of the data that this source keeps in memory. Present if such a change must reach every
   * decision: an answer from before the last change is confirmed before the job is decided.
   */
  readonly changes?: () => number
  /** For a source that asks several servers: the configured name of the one that is asked for this subject. */
  readonly serverOf?: (subject: FactSubject) => string
  /** Counts by that name. */
  readonly counts?: () => ReadonlyMap<string, RemoteCounts>
}

/** The identity behind a wallet on a chain, as the identity API sees it. Rejects when it can't be read. */
export type IdentityOf = (
  caller: Pick<FactSubject, 'organizationId' | 'environment'>,
  address: WalletAddress,
  chain: string,
) => IdentityFacts | Promise<IdentityFacts>

export interface FetchContext extends ReadableChains {
  /** Null when there is no geography file. */
  readonly geography: Pick<Geography, 'lookup'> | null
  readonly identityOf: IdentityOf
  /** Number of changes of identities so far. */
  readonly identityChanges: () => number
  /** Replaced in tests. */
  readonly connect?: (url: string) => JsonRpc
}

export type OpenFactFetcher<Answer> = (context: FetchContext) => FactFetcher<Answer>
