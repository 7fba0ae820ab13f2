// Interface of a fact source (./sources), and its dependencies.
import type { WalletAddress } from '../domain/address.ts'
import type { IdentityFacts } from '../policy/sources/identity.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import type { ReadableChains } from './chain-reads.ts'
import type { Geography } from './geography.ts'
import type { JsonRpc } from './json-rpc.ts'
import type { RemoteCounts } from './remote.ts'

export interface FactFetcher<Answer> {
  /** Null if the source has no answer. If this throws or rejects, the error is reported and the answer is null. */
  readonly ask: (subject: FactSubject) => Answer | null | Promise<Answer | null>
  /**
   * Number of changes of the source's in-memory data. Present if a change must reach every decision: older answers are
   * then confirmed before the job is decided.
   */
  readonly changes?: () => number
  /** For a source with several servers: returns the configured name of the server for this subject. */
  readonly serverOf?: (subject: FactSubject) => string
  /** Returns counts by server name. */
  readonly counts?: () => ReadonlyMap<string, RemoteCounts>
}

/** Returns the identity of a wallet on a chain, from the identity API. Rejects if it cannot be read. */
export type IdentityOf = (
  caller: Pick<FactSubject, 'organizationId' | 'environment'>,
  address: WalletAddress,
  chain: string,
) => IdentityFacts | Promise<IdentityFacts>

export interface FetchContext extends ReadableChains {
  /** Null if there is no geography file. */
  readonly geography: Pick<Geography, 'lookup'> | null
  readonly identityOf: IdentityOf
  /** Returns the number of identity changes so far. */
  readonly identityChanges: () => number
  /** Replaced in tests. */
  readonly connect?: (url: string) => JsonRpc
}

export type OpenFactFetcher<Answer> = (context: FetchContext) => FactFetcher<Answer>
