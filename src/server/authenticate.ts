// Authenticates API keys (decisions §1, "Keys"; threats row 21). All unusable keys get the same error. An unavailable
// store is 503, never 401.
import { LRUCache } from 'lru-cache'
import {
  type ApiKeyCredential,
  type ApiKeyEnvironment,
  type ApiKeyKind,
  type ApiKeyRateLimit,
  type ApiKeyScope,
  apiKeyStatus,
  matchesApiKey,
  parseApiKey,
  possibleKeyId,
} from '../domain/api-key.ts'
import { CountersignError, DependencyUnavailableError, fixedError, QueueFullError } from '../domain/errors.ts'
import { atMostEntries, NO_OPTIONS } from '../lib/cache-limit.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import type { Clock } from '../lib/time.ts'

/** Frozen and shared by all requests with the key. */
export interface Principal {
  readonly keyId: string
  readonly organizationId: string
  readonly kind: ApiKeyKind
  readonly environment: ApiKeyEnvironment
  readonly rateLimit: ApiKeyRateLimit | null
}

/** Missing, invalid, expired and revoked keys share one text (spec, Errors row 4). */
export class KeyUnusableError extends fixedError('UNAUTHENTICATED', 'the API key is missing, invalid or expired') {}

export class KeyScopeError extends CountersignError {
  constructor(scope: ApiKeyScope) {
    super('FORBIDDEN_SCOPE', `the API key does not have access to the ${scope} API`)
  }
}

/** A key may have been revoked since its request was admitted. @throws KeyUnusableError */
export const requireActiveKey = async <Key extends Parameters<typeof apiKeyStatus>[0]>(
  apiKeys: { find(organizationId: string, keyId: string): Promise<Key | null> },
  clock: Pick<Clock, 'unixSeconds'>,
  { organizationId, keyId }: Pick<Principal, 'organizationId' | 'keyId'>,
): Promise<Key> => {
  const key = await apiKeys.find(organizationId, keyId)
  if (key === null || apiKeyStatus(key, clock.unixSeconds()) !== 'active') throw new KeyUnusableError()
  return key
}

export interface AuthenticatorDependencies {
  /** Returns the key with this id, even if expired or revoked. Rejects if the lookup fails. */
  findKey(keyId: string): Promise<ApiKeyCredential | null>
  readonly clock: Clock
  readonly cacheSize?: number
  /** Time for which an unknown key id is cached, so that repeated guesses don’t query the store. */
  readonly unknownForMs?: number
}

/** Shares the lookups of keys fairly. Called for lookups only. */
export interface LookupOwner {
  /** The client's network, or the organization of a key that was valid. */
  lookupOwner(): string
}

export interface Authenticator {
  /**
   * Synchronous if cached. After the lease, only attestations use cached keys, because the pool holds their jobs until
   * the lease is renewed.
   */
  authenticate(text: string | null, scope: ApiKeyScope, owner: LookupOwner): Principal | Promise<Principal>
  /** A principal is current until this number increases or its key expires. */
  changes(): number
  /** Call after a key was created, changed or revoked. Pending lookups are repeated. */
  invalidate(keyId: string): void
  /** Call for changes that the change feed cannot identify. */
  clear(): void
  /** Extends the lease to this time (monotonic milliseconds). Without a call, the lease never ends. */
  renewLease(untilMs: number): void
  /** Returns the last uses since the last call, accurate to a minute: Unix seconds by key id. */
  takeUses(): ReadonlyMap<string, number>
}

interface Entry {
  readonly credential: ApiKeyCredential
  readonly principal: Principal
  notedSeconds: number
}

interface Read {
  readonly requestedMs: number
  /** Number of changes before the read; null if queued, because a read includes all changes before its start. */
  changes: number | null
}

interface QueuedRead {
  readonly read: Read
  readonly withdrawal: AbortController
}

interface Lookup {
  readonly found: Promise<Entry | null>
  readonly read: Read
}

const LOOKUP_ATTEMPTS = 3
/** Maximum lookups, running or queued: guessed key ids must not exhaust memory if the store is slow (invariant 8). */
const LOOKUPS_MAX = 1_000
/** Maximum concurrent lookups. Further lookups wait here, because in the store they would delay all other reads. */
const LOOKUPS_AT_ONCE = 8
/** Per owner, so that the invented keys of one network leave lookups for others. */
const OWN_LOOKUPS_AT_ONCE = 4
const OWN_WAITING_MAX = 250
/** Maximum age of lookups that are joined or stay queued, so that keys work again after a stalled store recovers. */
const JOIN_MAX_MS = 2_000
const NOTED_EVERY_SECONDS = 60
/** Compared for unknown keys, so that a miss takes as long as a wrong secret. */
const NO_HASH = new Uint8Array(32)

const notChecked = (options?: ErrorOptions): DependencyUnavailableError =>
  new DependencyUnavailableError('the API key could not be checked; retry with exponential backoff', options)

const createEntry = (credential: ApiKeyCredential): Entry => ({
  credential,
  principal: Object.freeze({
    keyId: credential.keyId,
    organizationId: credential.organizationId,
    kind: credential.kind,
    environment: credential.environment,
    rateLimit: credential.rateLimit,
  }),
  notedSeconds: 0,
})

const createKeyLookup = (
  { findKey, clock, unknownForMs = 1_000 }: AuthenticatorDependencies,
  known: LRUCache<string, Entry>,
) => {
  // Separate from the known keys, so that guesses cannot evict them. Values: time of the next lookup.
  const unknown = new LRUCache<string, number>({ max: 1_024 })
  const lookups = new Map<string, Lookup>()
  const slots = createFairSlots(LOOKUPS_AT_ONCE, LOOKUPS_MAX - LOOKUPS_AT_ONCE, OWN_WAITING_MAX, OWN_LOOKUPS_AT_ONCE)
  /** Queued reads, oldest first. */
  const queued = new Set<QueuedRead>()
  let changes = 0

  const isTooOld = ({ requestedMs }: Read): boolean => clock.monotonicMs() - requestedMs > JOIN_MAX_MS

  const giveUpOld = (): void => {
    for (const item of queued) {
      if (!isTooOld(item.read)) return
      queued.delete(item)
      item.withdrawal.abort(notChecked())
    }
  }

  /** @throws QueueFullError at once */
  const acquire = (read: Read, owner: string): Promise<() => void> => {
    const item = { read, withdrawal: new AbortController() }
    const slot = slots.acquire(owner, item.withdrawal.signal)
    if (slot === null) throw new QueueFullError()
    queued.add(item)
    return slot.finally(() => queued.delete(item))
  }

  const find = async (keyId: string, read: Read, slot: Promise<() => void>): Promise<Entry | null> => {
    const release = await slot
    read.changes = changes
    try {
      const credential = await findKey(keyId)
      return credential === null ? null : createEntry(credential)
    } catch (cause) {
      throw notChecked({ cause })
    } finally {
      giveUpOld()
      release()
    }
  }

  const joinLookup = (keyId: string, owner: LookupOwner): Lookup => {
    const pending = lookups.get(keyId)
    if (pending !== undefined && (pending.read.changes ?? changes) === changes && !isTooOld(pending.read))
      return pending
    giveUpOld()
    const read: Read = { requestedMs: clock.monotonicMs(), changes: null }
    const lookup = { read, found: find(keyId, read, acquire(read, owner.lookupOwner())) }
    lookups.set(keyId, lookup)
    return lookup
  }

  return {
    changes: (): number => changes,
    isCachedMiss: (keyId: string): boolean => {
      const untilMs = unknown.get(keyId)
      return untilMs !== undefined && clock.monotonicMs() < untilMs
    },
    lookUp: async (keyId: string, owner: LookupOwner): Promise<Entry | null> => {
      for (let attempt = 0; attempt < LOOKUP_ATTEMPTS; attempt++) {
        const lookup = joinLookup(keyId, owner)
        try {
          const entry = await lookup.found
          if (lookup.read.changes !== changes) continue
          if (entry === null) unknown.set(keyId, clock.monotonicMs() + unknownForMs)
          else known.set(keyId, entry)
          return entry
        } finally {
          if (lookups.get(keyId) === lookup) lookups.delete(keyId)
        }
      }
      throw new DependencyUnavailableError('API keys are changing; retry with exponential backoff')
    },
    invalidate: (keyId: string): void => {
      changes += 1
      known.delete(keyId)
      unknown.delete(keyId)
    },
    clear: (): void => {
      changes += 1
      known.clear()
      unknown.clear()
    },
  }
}

export const createAuthenticator = (dependencies: AuthenticatorDependencies): Authenticator => {
  const { clock, cacheSize = 100_000 } = dependencies
  const known = new LRUCache<string, Entry>(atMostEntries(cacheSize))
  const { changes, isCachedMiss, lookUp, invalidate, clear } = createKeyLookup(dependencies, known)
  let uses = new Map<string, number>()
  let leaseUntilMs = Number.POSITIVE_INFINITY

  const check = (text: string, entry: Entry | null, scope: ApiKeyScope): Principal => {
    if (!matchesApiKey(text, entry === null ? NO_HASH : entry.credential.hash) || entry === null) {
      throw new KeyUnusableError()
    }
    const { credential } = entry
    const nowSeconds = clock.unixSeconds()
    if (apiKeyStatus(credential, nowSeconds) !== 'active') throw new KeyUnusableError()
    if (!credential.scopes.includes(scope)) throw new KeyScopeError(scope)
    if (nowSeconds - entry.notedSeconds >= NOTED_EVERY_SECONDS) {
      entry.notedSeconds = nowSeconds
      uses.set(credential.keyId, nowSeconds)
    }
    return entry.principal
  }

  const checkLater = async (text: string, keyId: string, scope: ApiKeyScope, owner: LookupOwner): Promise<Principal> =>
    check(text, await lookUp(keyId, owner), scope)

  return {
    authenticate: (text, scope, owner) => {
      const possibleId = text === null ? null : possibleKeyId(text)
      if (text === null || possibleId === null) throw new KeyUnusableError()
      const isUpToDate = scope === 'attestation' || clock.monotonicMs() < leaseUntilMs
      // The hash covers the whole text, so a cached key needs no other check.
      const entry = isUpToDate ? known.get(possibleId, NO_OPTIONS) : undefined
      if (entry !== undefined) return check(text, entry, scope)
      const parsed = parseApiKey(text)
      if (parsed === null) throw new KeyUnusableError()
      const { keyId } = parsed
      if (isCachedMiss(keyId)) return check(text, null, scope)
      return checkLater(text, keyId, scope, owner)
    },
    changes,
    invalidate,
    clear,
    renewLease: (untilMs) => {
      leaseUntilMs = untilMs
    },
    takeUses: () => {
      const taken = uses
      uses = new Map()
      return taken
    },
  }
}
