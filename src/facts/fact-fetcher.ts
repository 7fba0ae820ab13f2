import type { WalletAddress } from '../domain/address.ts'
import type { IdentityFacts } from '../policy/sources/identity.ts'
import type { IdentityDetails } from '../policy/sources/identity-details.ts'
import type { FactSubject } from '../policy/types/needs.ts'
import type { ReadableChains } from './chain-reads.ts'
import type { Geography } from './geography.ts'
import type { JsonRpc } from './json-rpc.ts'
import type { RemoteCounts } from './remote.ts'

export interface FactFetcher<Answer> {
  /** Returns null if there is no answer. Errors are reported and count as no answer. */
  readonly ask: (subject: FactSubject) => Answer | null | Promise<Answer | null>
  /**
   * Returns the number of changes to the source's in-memory data. Set if every change must affect all later decisions.
   */
  readonly changes?: () => number
  /** Returns the name of the server for this subject, if the source has several. */
  readonly serverOf?: (subject: FactSubject) => string
  readonly counts?: () => ReadonlyMap<string, RemoteCounts>
}

export type IdentityOf = (
  caller: Pick<FactSubject, 'organizationId' | 'environment'>,
  address: WalletAddress,
  chain: string,
) => IdentityFacts | Promise<IdentityFacts>

/** Like `IdentityOf`, for country and age on the day of the given time. */
export type IdentityDetailsOf = (
  ...identity: [...Parameters<IdentityOf>, nowSeconds: number]
) => IdentityDetails | Promise<IdentityDetails>

export interface FetchContext extends ReadableChains {
  readonly geography: Pick<Geography, 'lookup'> | null
  readonly identityOf: IdentityOf
  readonly identityDetailsOf: IdentityDetailsOf
  readonly identityChanges: () => number
  readonly connect?: (url: string) => JsonRpc
}

export type OpenFactFetcher<Answer> = (context: FetchContext) => FactFetcher<Answer>
