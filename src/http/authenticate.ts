// Turns an API key into a principal (decisions §1, "Keys"; threats row 21). Found by key id in an LRU cache, compared by
// SHA-256 in constant time. Whatever is wrong with a key, the caller reads one and the same text; a store that is down
// is 503 and never 401.
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
} from '../domain/api-key.ts'
import { CountersignError, DependencyUnavailableError, QueueFullError } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'

/** Who calls. One frozen object a cached key, shared by its requests. */
export interface Principal {
  readonly keyId: string
  readonly organizationId: string
  readonly kind: ApiKeyKind
  readonly environment: ApiKeyEnvironment
  /** Null: no limit. */
  readonly rateLimit: ApiKeyRateLimit | null
}

/** Spec, Errors row 4: no key, or none that works. One text for all of it. */
export class KeyUnusableError extends CountersignError {
  override readonly name = 'KeyUnusableError'
  constructor() {
    super('UNAUTHENTICATED', 'the API key is missing, invalid or expired')
  }
}

/** A key that works, but not here. */
export class KeyScopeError extends CountersignError {
  override readonly name = 'KeyScopeError'
  constructor(scope: ApiKeyScope) {
    super('FORBIDDEN_SCOPE', `the API key is not allowed to use the ${scope} API`)
  }
}

export interface AuthenticatorDependencies {
  /** The key of this id, also when expired or revoked; null when there is none. Rejects when it can't be looked up. */
  findKey(keyId: string): Promise<ApiKeyCredential | null>
  readonly clock: Clock
  /** How many keys are kept. */
  readonly cacheSize?: number
  /** How long an unknown key id is remembered as such, so that guessing does not reach the store each time. */
  readonly unknownForMs?: number
}

export interface Authenticator {
  /**
   * The principal of a key's text: at once when the key is cached, else after one look-up that concurrent requests share.
   * @throws KeyUnusableError 401, KeyScopeError 403, DependencyUnavailableError or QueueFullError 503 (thrown or
   * rejected alike)
   */
  authenticate(text: string | null, scope: ApiKeyScope): Principal | Promise<Principal>
  /** Forgets a key that was made, changed or revoked. Look-ups under way, also of other keys, are done again. */
  invalidate(keyId: string): void
  /** Forgets everything: for when the change feed can't tell what changed. */
  clear(): void
  /** Key id → Unix seconds of its last use, for the keys used since the last call. */
  takeUses(): ReadonlyMap<string, number>
}

interface Entry {
  readonly credential: ApiKeyCredential
  readonly principal: Principal
  lastUsedSeconds: number
}

interface Lookup {
  readonly found: Promise<Entry | null>
  readonly startedMs: number
  /** How many changes had been announced when it began. After another one, what it finds may be older than that. */
  readonly changes: number
}

const LOOKUP_ATTEMPTS = 3
/** Look-ups under way at once: what guessed key ids can make a slow store hold (invariant 8). */
const LOOKUPS_MAX = 1_000
/** A look-up that hangs is joined no longer than this: once the store answers again, so do its keys. */
const JOIN_MAX_MS = 2_000
/** Compared against when there is no such key, so that a miss does the same work as a wrong secret. */
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
  lastUsedSeconds: 0,
})

export const createAuthenticator = ({
  findKey,
  clock,
  cacheSize = 100_000,
  unknownForMs = 1_000,
}: AuthenticatorDependencies): Authenticator => {
  const known = new LRUCache<string, Entry>({ max: cacheSize })
  // Apart from the known keys, so that guesses can't push them out. Values: when to ask the store again.
  const unknown = new LRUCache<string, number>({ max: 1_024 })
  const lookups = new Map<string, Lookup>()
  let uses = new Map<string, number>()
  let changes = 0

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

  /** The look-up of this key that is under way, if its result can still be used; else a new one. */
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
    if (entry.lastUsedSeconds !== nowSeconds) {
      entry.lastUsedSeconds = nowSeconds
      uses.set(credential.keyId, nowSeconds)
    }
    return entry.principal
  }

  const isKnownUnknown = (keyId: string): boolean => {
    const untilMs = unknown.get(keyId)
    return untilMs !== undefined && clock.monotonicMs() < untilMs
  }

  return {
    authenticate: (text, scope) => {
      const parsed = text === null ? null : parseApiKey(text)
      if (text === null || parsed === null) throw new KeyUnusableError()
      const { keyId } = parsed
      const entry = known.get(keyId)
      if (entry !== undefined) return check(text, entry, scope)
      if (isKnownUnknown(keyId)) return check(text, null, scope)
      return lookUp(keyId).then((found) => check(text, found, scope))
    },
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
    takeUses: () => {
      const taken = uses
      uses = new Map()
      return taken
    },
  }
}
