// Who is verified, at hand: each wallet's standing for each organization that asked, kept until a change says otherwise.
// Invariant: what is kept was read after the last change that concerns it; a read that overlaps one is used once and
// thrown away.
import { LRUCache } from 'lru-cache'
import type { WalletAddress } from '../domain/address.ts'
import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import type { Level } from '../domain/level.ts'
import type { CheckType } from '../domain/session.ts'
import type { StandingSource, VerifiedWallet } from '../domain/standing.ts'
import { judgeStanding, type Standing } from './standing.ts'

/** Who asks. */
export interface StandingCaller {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
}

/** A standing with what an answer needs beside it. */
export interface KnownStanding extends Standing {
  /** The person as the caller knows them (pairwise). */
  readonly userId: string | null
  /** Empty unless verified. */
  readonly wallets: readonly VerifiedWallet[]
}

/** What a change concerns: see the store's session changes. */
export interface StandingChange {
  readonly environment: ApiKeyEnvironment
  readonly personId: string | null
  readonly addresses: readonly WalletAddress[]
}

export interface StandingsDependencies {
  readonly source: StandingSource
  /** An organization's level; null when it is gone. */
  readonly loadLevel: (organizationId: string) => Promise<Level | null>
  /** Wallets kept. */
  readonly maxWallets?: number
}

export interface Standings {
  /** At once when it is at hand. Rejects when the store is unavailable: that is never "not verified". */
  find(
    caller: StandingCaller,
    address: WalletAddress,
    checkType: CheckType | null,
  ): KnownStanding | Promise<KnownStanding>
  sessionChanged(change: StandingChange): void
  organizationChanged(organizationId: string): void
  /** Forgets everything: changes may have been missed. */
  clear(): void
}

type Variant = CheckType | 'any'

interface Entry {
  readonly level: Level
  readonly standings: Readonly<Record<Variant, KnownStanding>>
}

interface Wallet {
  readonly byOrganization: Map<string, Entry>
  /** Whose wallets the answers list: a change of any of them changes the answers. */
  readonly personIds: Set<string>
}

interface Load {
  readonly key: string
  readonly personIds: Set<string>
  outdated: boolean
}

const MAX_WALLETS = 20_000
const MAX_ORGANIZATIONS = 10_000

const keyOf = (environment: ApiKeyEnvironment, address: string): string => `${environment} ${address}`

export const createStandings = ({ source, loadLevel, maxWallets = MAX_WALLETS }: StandingsDependencies): Standings => {
  const byPerson = new Map<string, Set<string>>()
  const wallets = new LRUCache<string, Wallet>({
    max: maxWallets,
    dispose: ({ personIds }, key) => {
      for (const personId of personIds) {
        const keys = byPerson.get(personId)
        keys?.delete(key)
        if (keys?.size === 0) byPerson.delete(personId)
      }
    },
  })
  const levels = new LRUCache<string, Level>({ max: MAX_ORGANIZATIONS })
  const loads = new Set<Load>()
  /** Rises with every change of an organization: a level read before it must not be kept after it. */
  let organizationChanges = 0

  const readLevel = async (organizationId: string): Promise<Level> => {
    const changesBefore = organizationChanges
    const level = await loadLevel(organizationId)
    if (level === null) throw new Error('the organization is gone')
    if (changesBefore === organizationChanges) levels.set(organizationId, level)
    return level
  }

  const remember = ({ key, personIds }: Load, organizationId: string, entry: Entry): void => {
    let wallet = wallets.get(key)
    if (wallet === undefined) {
      wallet = { byOrganization: new Map(), personIds: new Set() }
      wallets.set(key, wallet)
    }
    wallet.byOrganization.set(organizationId, entry)
    for (const personId of personIds) {
      wallet.personIds.add(personId)
      const keys = byPerson.get(personId)
      if (keys === undefined) byPerson.set(personId, new Set([key]))
      else keys.add(key)
    }
  }

  const load = async (caller: StandingCaller, address: WalletAddress): Promise<Entry> => {
    const { organizationId, environment } = caller
    const level = levels.get(organizationId) ?? (await readLevel(organizationId))
    const query = { organizationId, environment, level }
    const current: Load = { key: keyOf(environment, address), personIds: new Set(), outdated: false }
    loads.add(current)
    try {
      const sessions = await source.loadSessions(query, address)
      const complete = async (variant: Variant): Promise<KnownStanding> => {
        const standing = judgeStanding(sessions, level, variant === 'any' ? null : variant)
        const { personId, verifying } = standing
        if (personId === null) return { ...standing, userId: null, wallets: [] }
        current.personIds.add(personId)
        return {
          ...standing,
          userId: source.userIdOf(organizationId, personId),
          wallets: verifying === null ? [] : await source.loadPersonWallets(query, personId),
        }
      }
      const any = await complete('any')
      // Most wallets were only ever checked in one way, and then that way is all there is.
      const only = sessions.every(({ checkType }) => checkType === sessions[0]?.checkType)
        ? sessions[0]?.checkType
        : null
      const none: KnownStanding = { verifying: null, status: null, personId: null, userId: null, wallets: [] }
      const of = async (type: CheckType): Promise<KnownStanding> =>
        only === null ? complete(type) : only === type ? any : none
      const entry: Entry = { level, standings: { any, kyc: await of('kyc'), kyb: await of('kyb') } }
      if (!current.outdated) remember(current, organizationId, entry)
      return entry
    } finally {
      loads.delete(current)
    }
  }

  return {
    find: (caller, address, checkType) => {
      const variant = checkType ?? 'any'
      const { organizationId, environment } = caller
      const entry = wallets.get(keyOf(environment, address))?.byOrganization.get(organizationId)
      if (entry !== undefined && entry.level === levels.get(organizationId)) return entry.standings[variant]
      return load(caller, address).then(({ standings }) => standings[variant])
    },
    sessionChanged: ({ environment, personId, addresses }) => {
      const keys = addresses.map((address) => keyOf(environment, address))
      for (const current of loads) {
        if (keys.includes(current.key) || (personId !== null && current.personIds.has(personId)))
          current.outdated = true
      }
      for (const key of keys) wallets.delete(key)
      if (personId === null) return
      for (const key of [...(byPerson.get(personId) ?? [])]) wallets.delete(key)
    },
    organizationChanged: (organizationId) => {
      organizationChanges += 1
      levels.delete(organizationId)
    },
    clear: () => {
      organizationChanges += 1
      levels.clear()
      wallets.clear()
      for (const current of loads) current.outdated = true
    },
  }
}
