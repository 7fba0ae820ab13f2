// Caches wallets' standings per organization. Invariant: cached data was read after the last change that affects it.
import { LRUCache } from 'lru-cache'
import type { WalletAddress } from '../../domain/address.ts'
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Level } from '../../domain/level.ts'
import { type CheckType, SESSION_TYPES } from '../../domain/session.ts'
import type { PersonDetails, StandingSource, VerifiedWallet, WalletSession } from '../../domain/standing.ts'
import { parseWalletAddress } from '../../domain/wallet.ts'
import { ageOn, nextTurn } from '../../lib/time.ts'
import type { IdentityFacts } from '../../policy/sources/identity.ts'
import type { IdentityDetails } from '../../policy/sources/identity-details.ts'
import {
  findDetailedSession,
  judgeStanding,
  type KnownStanding,
  type StandingCaller,
  type StandingsByType,
  type StandingType,
  sessionsOn,
} from './standing.ts'
import { createStandingMemory } from './standing-memory.ts'
import { NEVER_SEEN } from './standing-record.ts'

export interface StandingChange {
  readonly environment: ApiKeyEnvironment
  readonly personId: string | null
  readonly addresses: readonly WalletAddress[]
}

export interface StandingsDependencies {
  readonly source: StandingSource
  /** Returns null if the organization no longer exists. */
  readonly loadLevel: (organizationId: string) => Promise<Level | null>
  /** Returns the details of an organization's session that policies may use. Defaults to none. */
  readonly loadDetails?: (organizationId: string, sessionId: string) => Promise<PersonDetails | null>
  /** Returns false if changes were last read too long ago; standings are then read from the store. */
  readonly isUpToDate: () => boolean
  /** Bytes of cached standings: 150 to 200 per wallet. */
  readonly maxBytes?: number
}

/** Maximum memory of the cache, 128 MiB: some 700,000 wallets. */
const MAX_BYTES = 128 * 1_048_576
const MAX_ORGANIZATIONS = 10_000
/**
 * Wallets read per turn. Other requests proceed between these reads: SQLite reads a wallet with many sessions for 1 ms
 * in the main thread.
 */
const WALLETS_PER_TURN = 8

const onlyTypeOf = (sessions: readonly WalletSession[]): CheckType | null => {
  const [first] = sessions
  return first !== undefined && sessions.every(({ checkType }) => checkType === first.checkType)
    ? first.checkType
    : null
}

export const createStandings = (dependencies: StandingsDependencies) => {
  const { source, loadLevel, isUpToDate, loadDetails = async () => null, maxBytes = MAX_BYTES } = dependencies
  const memory = createStandingMemory({ maxBytes })
  const levels = new LRUCache<string, Level>({ max: MAX_ORGANIZATIONS })
  /** Incremented with every organization change: a level read before a change must not be cached after it. */
  let organizationChanges = 0

  const readLevel = async (organizationId: string): Promise<Level> => {
    const changesBefore = organizationChanges
    const level = await loadLevel(organizationId)
    if (level === null) throw new Error('the organization no longer exists')
    if (changesBefore === organizationChanges) levels.set(organizationId, level)
    return level
  }

  const knownLevel = (organizationId: string): Level | undefined =>
    isUpToDate() ? levels.get(organizationId) : undefined

  const load = async (
    caller: StandingCaller,
    address: WalletAddress,
    chain: string | null,
    withDetails = false,
  ): Promise<StandingsByType> => {
    const { organizationId, environment } = caller
    const readAt = memory.now()
    const level = knownLevel(organizationId) ?? (await readLevel(organizationId))
    const query = { organizationId, environment, level }
    const loaded = await source.loadSessions(query, address)
    const sessions = sessionsOn(loaded, chain)
    const personIds = new Set<string>()
    const otherAddresses = new Set<WalletAddress>()

    /** Omits wallets that the organization rejected, or whose results it doesn't accept. */
    const listWallets = async (personId: string, checkType: CheckType): Promise<readonly VerifiedWallet[]> => {
      const wallets = await source.loadPersonWallets(query, personId)
      const sessionsOf = new Map<WalletAddress, Promise<readonly WalletSession[]>>([[address, Promise.resolve(loaded)]])
      const isAccepted = async (wallet: VerifiedWallet): Promise<boolean> => {
        const parsed = parseWalletAddress(wallet.address)
        if (parsed === null) return true
        const found = sessionsOf.get(parsed.address) ?? source.loadSessions(query, parsed.address)
        sessionsOf.set(parsed.address, found)
        return judgeStanding(sessionsOn(await found, wallet.chain), level, checkType).verifying !== null
      }
      const accepted: boolean[] = []
      for (let at = 0; at < wallets.length; at += WALLETS_PER_TURN) {
        if (at > 0) await nextTurn()
        accepted.push(...(await Promise.all(wallets.slice(at, at + WALLETS_PER_TURN).map(isAccepted))))
      }
      for (const other of sessionsOf.keys()) if (other !== address) otherAddresses.add(other)
      return wallets.filter((_, at) => accepted[at])
    }

    const complete = async (type: StandingType): Promise<KnownStanding> => {
      const { personId, status, verifying } = judgeStanding(sessions, level, type === 'any' ? null : type)
      if (personId === null) return status === null ? NEVER_SEEN : { verifying, status, userId: null, wallets: [] }
      personIds.add(personId)
      const userId = source.userIdOf(organizationId, personId)
      const wallets = verifying === null ? [] : await listWallets(personId, verifying.checkType)
      return { verifying, status, userId, wallets }
    }
    const detailed = findDetailedSession(sessions, level)
    const details =
      detailed === null ? null : withDetails ? await loadDetails(organizationId, detailed.sessionId) : undefined
    const any = { ...(await complete('any')), details }
    // Most wallets have sessions of only one type, so one record serves all types.
    const only = onlyTypeOf(sessions)
    const of = async (type: CheckType): Promise<KnownStanding> =>
      only === type ? any : only === null && sessions.length > 0 ? complete(type) : NEVER_SEEN
    const standings = { any, kyc: await of('kyc'), kyb: await of('kyb') }
    // Empty if the standing is the same on every chain.
    const on = loaded.some(({ provenChain }) => provenChain !== null) ? { chain } : {}
    memory.keep({ caller, address, level, standings, personIds, otherAddresses, readAt, ...on })
    return standings
  }

  const findKnown = (
    caller: StandingCaller,
    address: WalletAddress,
    type: StandingType,
    chain: string | null,
  ): KnownStanding | undefined => {
    const level = knownLevel(caller.organizationId)
    return level === undefined ? undefined : memory.find(caller, address, level, type, chain)
  }

  return {
    /**
     * Returns the wallet's standing on a chain. Contract wallets are verified only where they were proven, so nowhere
     * if `chain` is null. Synchronous if cached. Rejects if the store is unavailable, which never means "not verified".
     */
    find: (
      caller: StandingCaller,
      address: WalletAddress,
      checkType: CheckType | null,
      chain: string | null,
    ): KnownStanding | Promise<KnownStanding> => {
      const type = checkType ?? 'any'
      return (
        findKnown(caller, address, type, chain) ?? load(caller, address, chain).then((standings) => standings[type])
      )
    },
    /**
     * Like `find`, but returns the person's details. Reads and decrypts them only here, so that an unreadable file
     * doesn't affect `find`. The details are cached with the standing.
     */
    findDetails: (
      caller: StandingCaller,
      address: WalletAddress,
      chain: string,
    ): PersonDetails | null | Promise<PersonDetails | null> => {
      const details = findKnown(caller, address, 'any', chain)?.details
      return details === undefined ? load(caller, address, chain, true).then(({ any }) => any.details ?? null) : details
    },
    /** Number of changes so far. A standing is current until this number increases. */
    changes: memory.now,
    sessionChanged: ({ environment, personId, addresses }: StandingChange) =>
      memory.changed(environment, addresses, personId),
    organizationChanged: (organizationId: string) => {
      organizationChanges += 1
      levels.delete(organizationId)
      memory.forget(organizationId)
    },
    clear: () => {
      organizationChanges += 1
      levels.clear()
      memory.clear()
    },
  }
}

export type Standings = ReturnType<typeof createStandings>

/** Facts of a wallet for a policy. Synchronous if cached. Rejects if the store is unavailable: no verdict. */
type IdentityFactsOf = (
  caller: StandingCaller,
  address: WalletAddress,
  chain: string,
) => IdentityFacts | Promise<IdentityFacts>

const UNVERIFIED: IdentityFacts = Object.freeze({
  verified: false,
  type: null,
  level: 0,
  verifiedAtSeconds: null,
})

const toFacts = ({ verifying }: KnownStanding): IdentityFacts =>
  verifying === null
    ? UNVERIFIED
    : {
        verified: true,
        type: SESSION_TYPES[verifying.checkType],
        level: verifying.level,
        verifiedAtSeconds: verifying.completedAtSeconds,
      }

export const createIdentityFacts =
  (standings: Pick<Standings, 'find'>): IdentityFactsOf =>
  (caller, address, chain) => {
    const found = standings.find(caller, address, null, chain)
    return found instanceof Promise ? found.then(toFacts) : toFacts(found)
  }

/** Like IdentityFactsOf, but returns country and age on the day of the given time. */
type IdentityDetailsOf = (
  ...identity: [...Parameters<IdentityFactsOf>, nowSeconds: number]
) => IdentityDetails | Promise<IdentityDetails>

const UNKNOWN: IdentityDetails = Object.freeze({ country: null, age: null })

export const createIdentityDetails =
  (standings: Pick<Standings, 'findDetails'>): IdentityDetailsOf =>
  (caller, address, chain, nowSeconds) => {
    const toAnswer = (details: PersonDetails | null): IdentityDetails =>
      details === null ? UNKNOWN : { country: details.country, age: ageOn(details.birthDate, nowSeconds) }
    const found = standings.findDetails(caller, address, chain)
    return found instanceof Promise ? found.then(toAnswer) : toAnswer(found)
  }
