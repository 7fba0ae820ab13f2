// Turns an API key into a principal (decisions §1, "Keys"; threats row 21). The key id is looked up in an LRU cache,
// and the secret is compared by SHA-256 in constant time. Whatever is wrong with a key, the caller gets the same text;
// a store that is down is 503 and never 401.
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
import type { Clock } from '../lib/time.ts'

/** The caller. One frozen object per cached key, shared by the key's requests. */
export interface Principal {
  readonly keyId: string
  readonly organizationId: string
  readonly kind: ApiKeyKind
  readonly environment: ApiKeyEnvironment
  /** Null: no limit. */
  readonly rateLimit: ApiKeyRateLimit | null
}

/** Spec, Errors row 4: there is no key, or the key does not work. All cases share one text. */
export class KeyUnusableError extends fixedError('UNAUTHENTICATED', 'the API key is missing, invalid or expired') {}

/** The key works, but is not allowed on this interface. */
export class KeyScopeError extends CountersignError {
  constructor(scope: ApiKeyScope) {
    super('FORBIDDEN_SCOPE', `the API key is not allowed to use the ${scope} API`)
  }
}

/**
 * Checks a key as a transaction reads it: it may have been revoked since the request was let in.
 * @throws KeyUnusableError
 */
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
  /** The key with this id, even if expired or revoked; null when there is none. Rejects when it can't be looked up. */
  findKey(keyId: string): Promise<ApiKeyCredential | null>
  readonly clock: Clock
  /** Maximum number of cached keys. */
  readonly cacheSize?: number
  /** How long an unknown key id is cached, so that repeated guesses do not reach the store. */
  readonly unknownForMs?: number
}

export interface Authenticator {
  /**
   * The principal of a key's text. Returns synchronously when the key is cached, otherwise after one look-up that
   * concurrent requests share. Once the lease has ended, only attestations use cached keys: the pool holds them until
   * the changes are read. Keys of other interfaces are then read from the store.
   * @throws KeyUnusableError 401, KeyScopeError 403, DependencyUnavailableError or QueueFullError 503 (thrown or
   *   rejected alike)
   */
  authenticate(text: string | null, scope: ApiKeyScope): Principal | Promise<Principal>
  /** Number of key changes so far. A principal is up to date until the number grows, or until its key expires. */
  changes(): number
  /**
   * Drops a key that was created, changed or revoked from the cache. Look-ups under way, also of other keys, are
   * repeated.
   */
  invalidate(keyId: string): void
  /** Clears the cache, when the change feed can't tell what changed. */
  clear(): void
  /** Until then (monotonic milliseconds) the changes are recent enough. Without a call, the lease never ends. */
  renewLease(untilMs: number): void
  /** Key id → Unix seconds of its last use, a minute late at most, for keys used since the last call. */
  takeUses(): ReadonlyMap<string, number>
}

interface Entry {
  readonly credential: ApiKeyCredential
  readonly principal: Principal
  /** When a use was last noted. */
  notedSeconds: number
}

interface Lookup {
  readonly found: Promise<Entry | null>
  readonly startedMs: number
  /**
   * Number of changes announced before this look-up began. If it has grown, the result may be older than the latest
   * change.
   */
  readonly changes: number
}

const LOOKUP_ATTEMPTS = 3
/** Maximum number of look-ups under way: a slow store must not make guessed key ids fill the memory (invariant 8). */
const LOOKUPS_MAX = 1_000
/** A look-up that has hung for longer is not joined any more: once the store answers again, its keys work again. */
const JOIN_MAX_MS = 2_000
/**
 * A key in use is noted again only after so long. To write ten thousand of them every five seconds took a fiftieth of
 * the processor time of their attestations.
 */
const NOTED_EVERY_SECONDS = 60
/** Compared with when the key does not exist, so that a miss does the same work as a wrong secret. */
const NO_HASH = new Uint8Array(32)

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

export const createAuthenticator = ({
  findKey,
  clock,
  cacheSize = 100_000,
  unknownForMs = 1_000,
}: AuthenticatorDependencies): Authenticator => {
  const known = new LRUCache<string, Entry>(atMostEntries(cacheSize))
  // Kept apart from the known keys, so that guesses can't evict them. Values: when to ask the store again.
  const unknown = new LRUCache<string, number>({ max: 1_024 })
  const lookups = new Map<string, Lookup>()
  let uses = new Map<string, number>()
  let changes = 0
  let leaseUntilMs = Number.POSITIVE_INFINITY

  const find = async (keyId: string): Promise<Entry | null> => {
    try {
      const credential = await findKey(keyId)
      return credential === null ? null : createEntry(credential)
    } catch (cause) {
      throw new DependencyUnavailableError('the API key could not be checked; retry with exponential backoff', {
        cause,
      })
    }
  }

  /** Returns the look-up of this key under way if its result is still usable, or starts a new one. */
  const joinLookup = (keyId: string): Lookup => {
    const running = lookups.get(keyId)
    const nowMs = clock.monotonicMs()
    if (running !== undefined && running.changes === changes && nowMs - running.startedMs <= JOIN_MAX_MS) return running
    if (lookups.size >= LOOKUPS_MAX) throw new QueueFullError()
    const lookup = { found: find(keyId), startedMs: nowMs, changes }
    lookups.set(keyId, lookup)
    return lookup
  }

  const lookUp = async (keyId: string): Promise<Entry | null> => {
    for (let attempt = 0; attempt < LOOKUP_ATTEMPTS; attempt++) {
      const lookup = joinLookup(keyId)
      try {
        const entry = await lookup.found
        if (lookup.changes !== changes) continue
        if (entry === null) unknown.set(keyId, clock.monotonicMs() + unknownForMs)
        else known.set(keyId, entry)
        return entry
      } finally {
        if (lookups.get(keyId) === lookup) lookups.delete(keyId)
      }
    }
    throw new DependencyUnavailableError('API keys are changing; retry with exponential backoff')
  }

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

  const checkLater = async (text: string, keyId: string, scope: ApiKeyScope): Promise<Principal> =>
    check(text, await lookUp(keyId), scope)

  const isCachedMiss = (keyId: string): boolean => {
    const untilMs = unknown.get(keyId)
    return untilMs !== undefined && clock.monotonicMs() < untilMs
  }

  return {
    authenticate: (text, scope) => {
      const possibleId = text === null ? null : possibleKeyId(text)
      if (text === null || possibleId === null) throw new KeyUnusableError()
      const isUpToDate = scope === 'attestation' || clock.monotonicMs() < leaseUntilMs
      // The hash covers the whole text, so a cached key's text needs no other check.
      const entry = isUpToDate ? known.get(possibleId, NO_OPTIONS) : undefined
      if (entry !== undefined) return check(text, entry, scope)
      const parsed = parseApiKey(text)
      if (parsed === null) throw new KeyUnusableError()
      const { keyId } = parsed
      if (isCachedMiss(keyId)) return check(text, null, scope)
      return checkLater(text, keyId, scope)
    },
    changes: () => changes,
    invalidate: (keyId) => {
      changes += 1
      known.delete(keyId)
      unknown.delete(keyId)
    },
    clear: () => {
      changes += 1
      known.clear()
      unknown.clear()
    },
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
