import { describe, expect, test } from 'bun:test'
import {
  type ApiKeyCredential,
  type ApiKeyKind,
  type ApiKeyScope,
  hashApiKey,
  mintApiKey,
  parseApiKey,
  SCOPES_BY_KIND,
} from '../../src/domain/api-key.ts'
import { CountersignError, DependencyUnavailableError, type ErrorCode } from '../../src/domain/errors.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { createAuthenticator, type Principal } from '../../src/server/authenticate.ts'
import { createManualClock } from './manual-clock.ts'

const START_SECONDS = 1_700_000_000

const issue = (
  kind: ApiKeyKind = 'attestation',
  changes: Partial<ApiKeyCredential> = {},
): { text: string; credential: ApiKeyCredential } => {
  const { text, keyId } = mintApiKey(kind, 'live')
  const credential: ApiKeyCredential = {
    keyId,
    organizationId: 'org_0000000000000000',
    kind,
    environment: 'live',
    scopes: SCOPES_BY_KIND[kind],
    name: 'test',
    createdAtSeconds: 0,
    expiresAtSeconds: null,
    revokedAtSeconds: null,
    lastUsedAtSeconds: null,
    replacedByKeyId: null,
    rateLimit: { requestsPerSecond: 10, burst: 20 },
    hash: hashApiKey(text),
    ...changes,
  }
  return { text, credential }
}

/** A store of keys whose look-ups end when the test says so. */
const createStore = (...credentials: ApiKeyCredential[]) => {
  const keys = new Map(credentials.map((credential) => [credential.keyId, credential]))
  const waiting: (() => void)[] = []
  const store = {
    held: false,
    down: false,
    lookups: 0,
    set: (credential: ApiKeyCredential) => keys.set(credential.keyId, credential),
    release: () => {
      for (const go of waiting.splice(0)) go()
    },
    findKey: async (keyId: string): Promise<ApiKeyCredential | null> => {
      store.lookups += 1
      // What is read is what was there when the look-up began.
      const found = keys.get(keyId) ?? null
      const down = store.down
      if (store.held) await new Promise<void>((resolve) => waiting.push(resolve))
      if (down) throw new Error('SQLITE_BUSY at /srv/keys.db')
      return found
    },
  }
  return store
}

const open = (dependencies: Parameters<typeof createAuthenticator>[0]) => {
  const authenticator = createAuthenticator(dependencies)
  /** @param network of the client */
  const authenticate = (text: string | null, scope: ApiKeyScope, network = '192.0.2.1') =>
    authenticator.authenticate(text, scope, { lookupOwner: () => network })
  return { ...authenticator, authenticate }
}

const setUp = (...issued: { credential: ApiKeyCredential }[]) => {
  const clock = createManualClock(START_SECONDS)
  const store = createStore(...issued.map(({ credential }) => credential))
  return { clock, store, authenticator: open({ findKey: store.findKey, clock }) }
}

type Authenticate = ReturnType<typeof setUp>['authenticator']['authenticate']

/** The error of an authentication, thrown or rejected; fails when there is none. */
const refusal = async (
  authenticate: Authenticate,
  text: string | null,
  scope: ApiKeyScope = 'attestation',
  network?: string,
): Promise<CountersignError> => {
  try {
    await authenticate(text, scope, network)
  } catch (error) {
    if (error instanceof CountersignError) return error
    throw error
  }
  throw new Error('the key was accepted')
}
const codeOf = async (...parameters: Parameters<typeof refusal>): Promise<ErrorCode> =>
  (await refusal(...parameters)).code

/** Codes of invented keys, each from another network unless one is given. */
const guess = ({ authenticate }: { authenticate: Authenticate }, count: number, network?: string) =>
  Array.from({ length: count }, (_, at) =>
    codeOf(authenticate, mintApiKey('attestation', 'live').text, 'attestation', network ?? `198.51.100.${at}`),
  )

describe('a good key', () => {
  test('is a principal: after one look-up, then at once', async () => {
    const key = issue()
    const { authenticator, store } = setUp(key)
    const first = authenticator.authenticate(key.text, 'attestation')
    expect(first).toBeInstanceOf(Promise)
    const principal = await first
    expect(principal).toEqual({
      keyId: key.credential.keyId,
      organizationId: 'org_0000000000000000',
      kind: 'attestation',
      environment: 'live',
      rateLimit: { requestsPerSecond: 10, burst: 20 },
    })
    expect(authenticator.authenticate(key.text, 'attestation')).toBe(principal)
    expect(store.lookups).toBe(1)
    expect(Object.isFrozen(principal)).toBe(true)
  })

  test('is looked up once by any number of concurrent requests', async () => {
    const key = issue()
    const { authenticator, store } = setUp(key)
    const principals = await Promise.all(
      Array.from({ length: 50 }, () => authenticator.authenticate(key.text, 'attestation')),
    )
    expect(new Set(principals).size).toBe(1)
    expect(store.lookups).toBe(1)
  })

  test('of another scope is 403, also from the cache', async () => {
    const key = issue('identity')
    const { authenticator } = setUp(key)
    for (let i = 0; i < 2; i++) {
      expect(await codeOf(authenticator.authenticate, key.text, 'attestation')).toBe('FORBIDDEN_SCOPE')
      expect(await codeOf(authenticator.authenticate, key.text, 'admin')).toBe('FORBIDDEN_SCOPE')
      expect((await authenticator.authenticate(key.text, 'identity')).kind).toBe('identity')
    }
  })
})

describe('a key that does not work', () => {
  const key = issue()
  const other = issue()
  const middle = key.text.length - 20
  const otherCharacter = key.text[middle] === 'a' ? 'b' : 'a'
  const forged = mintApiKey('attestation', 'live').text

  test.each<[string, string | null]>([
    ['missing', null],
    ['empty', ''],
    ['nonsense', 'nonsense'],
    ['cut', key.text.slice(0, -1)],
    ['longer', `${key.text}x`],
    ['mistyped', key.text.slice(0, middle) + otherCharacter + key.text.slice(middle + 1)],
    ['sent twice', `${key.text}, ${key.text}`],
    ['sent twice, joined without a space', `${key.text},${key.text}`],
    ['beside another', `${key.text}, ${other.text}`],
    ['with a space', `${key.text} `],
    ['in another case', key.text.toUpperCase()],
    ['with another prefix', key.text.replace('csa_', 'csi_')],
    ['very long', 'c'.repeat(100_000)],
    ['well-formed but unknown', forged],
  ])('%s: 401 with one text', async (_name, text) => {
    const { authenticator } = setUp(key)
    // Once when nothing is cached, once when the good key is.
    const cold = await refusal(authenticator.authenticate, text)
    await authenticator.authenticate(key.text, 'attestation')
    const warm = await refusal(authenticator.authenticate, text)
    for (const error of [cold, warm]) {
      expect(error.code).toBe('UNAUTHENTICATED')
      expect(error.detail).toBe('the API key is missing, invalid or expired')
    }
  })

  test('another secret under a known key id is refused, cached or not', async () => {
    const { credential } = issue()
    const stored = { ...credential, keyId: parseApiKey(forged)!.keyId }
    const { authenticator, store } = setUp({ credential: stored })
    expect(await codeOf(authenticator.authenticate, forged)).toBe('UNAUTHENTICATED')
    expect(await codeOf(authenticator.authenticate, forged)).toBe('UNAUTHENTICATED')
    expect(store.lookups).toBe(1)
  })

  test('the secret is compared before the scope: a wrong secret learns nothing of it', async () => {
    const { credential } = issue('identity')
    const stored = { ...credential, keyId: parseApiKey(forged)!.keyId }
    const { authenticator } = setUp({ credential: stored })
    expect(await codeOf(authenticator.authenticate, forged, 'attestation')).toBe('UNAUTHENTICATED')
  })

  test('revoked', async () => {
    const revoked = issue('attestation', { revokedAtSeconds: START_SECONDS - 1 })
    const { authenticator, store } = setUp(revoked)
    expect(await codeOf(authenticator.authenticate, revoked.text)).toBe('UNAUTHENTICATED')
    expect(await codeOf(authenticator.authenticate, revoked.text)).toBe('UNAUTHENTICATED')
    expect(store.lookups).toBe(1)
  })

  test('expired: at the very second, by the clock and not by the cache', async () => {
    const expiring = issue('attestation', { expiresAtSeconds: START_SECONDS + 10 })
    const { authenticator, clock, store } = setUp(expiring)
    await authenticator.authenticate(expiring.text, 'attestation')
    clock.advance(9_999)
    await authenticator.authenticate(expiring.text, 'attestation')
    clock.advance(1)
    expect(await codeOf(authenticator.authenticate, expiring.text)).toBe('UNAUTHENTICATED')
    expect(store.lookups).toBe(1)
  })
})

describe('guessing', () => {
  test('the same unknown key id reaches the store once a second', async () => {
    const { authenticator, clock, store } = setUp()
    const { text } = mintApiKey('attestation', 'live')
    for (let i = 0; i < 20; i++) expect(await codeOf(authenticator.authenticate, text)).toBe('UNAUTHENTICATED')
    expect(store.lookups).toBe(1)
    clock.advance(1_000)
    expect(await codeOf(authenticator.authenticate, text)).toBe('UNAUTHENTICATED')
    expect(store.lookups).toBe(2)
  })

  test('any number of unknown key ids pushes out no known one', async () => {
    const key = issue()
    const clock = createManualClock()
    const store = createStore(key.credential)
    const authenticator = open({ findKey: store.findKey, clock, cacheSize: 2 })
    await authenticator.authenticate(key.text, 'attestation')
    for (let i = 0; i < 50; i++) await codeOf(authenticator.authenticate, mintApiKey('attestation', 'live').text)
    const before = store.lookups
    await authenticator.authenticate(key.text, 'attestation')
    expect(store.lookups).toBe(before)
  })

  test('a wrong checksum never reaches the store', async () => {
    const { authenticator, store } = setUp()
    for (let i = 0; i < 20; i++) {
      const { text } = mintApiKey('attestation', 'live')
      await codeOf(authenticator.authenticate, text.slice(0, -1) + (text.endsWith('0') ? '1' : '0'))
    }
    expect(store.lookups).toBe(0)
  })

  test('few look-ups are in the store at once; over a thousand under way, 503 at once', async () => {
    const { authenticator, store } = setUp()
    store.held = true
    const waiting = guess(authenticator, 1_000)
    expect(await Promise.all(guess(authenticator, 1))).toEqual(['OVERLOADED'])
    expect(store.lookups).toBe(8)
    store.held = false
    store.release()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['UNAUTHENTICATED']))
    expect(store.lookups).toBe(1_000)
    store.held = true
    const further = guess(authenticator, 9)
    await nextTurn()
    expect(store.lookups).toBe(1_008)
    store.held = false
    store.release()
    await Promise.all(further)
  })

  test('a key made after it was guessed works once it is announced', async () => {
    const key = issue()
    const { authenticator, store } = setUp()
    expect(await codeOf(authenticator.authenticate, key.text)).toBe('UNAUTHENTICATED')
    store.set(key.credential)
    authenticator.invalidate(key.credential.keyId)
    expect((await authenticator.authenticate(key.text, 'attestation')).keyId).toBe(key.credential.keyId)
  })
})

describe('a store that fails', () => {
  test('is 503 with Retry-After and never 401; nothing of it is told or cached', async () => {
    const key = issue()
    const { authenticator, store } = setUp(key)
    store.down = true
    const error = await refusal(authenticator.authenticate, key.text)
    expect(error).toBeInstanceOf(DependencyUnavailableError)
    expect(error.retryAfterSeconds).toBe(1)
    expect(error.detail).not.toContain('SQLITE')
    store.down = false
    expect((await authenticator.authenticate(key.text, 'attestation')).keyId).toBe(key.credential.keyId)
  })

  test('does not touch keys that are cached', async () => {
    const key = issue()
    const { authenticator, store } = setUp(key)
    await authenticator.authenticate(key.text, 'attestation')
    store.down = true
    expect((authenticator.authenticate(key.text, 'attestation') as Principal).keyId).toBe(key.credential.keyId)
  })

  test('a look-up that hangs is not joined for ever', async () => {
    const key = issue()
    const { authenticator, store, clock } = setUp(key)
    store.held = true
    const hung = authenticator.authenticate(key.text, 'attestation')
    await nextTurn()
    store.held = false
    clock.advance(2_001)
    expect((await authenticator.authenticate(key.text, 'attestation')).keyId).toBe(key.credential.keyId)
    store.release()
    expect((await hung).keyId).toBe(key.credential.keyId)
  })
})

describe('a queue of lookups in front of a stalled store', () => {
  test('queued lookups give up after 2 s and delay no later key', async () => {
    const key = issue()
    const { authenticator, store, clock } = setUp(key)
    store.held = true
    const running = guess(authenticator, 8)
    await nextTurn()
    const texts = Array.from({ length: 900 }, () => mintApiKey('attestation', 'live').text)
    const rounds = [1, 2, 3].map(() => {
      clock.advance(2_001)
      return texts.map((text, at) => codeOf(authenticator.authenticate, text, 'attestation', `network ${at}`))
    })
    clock.advance(2_000)
    const late = authenticator.authenticate(key.text, 'attestation')
    clock.advance(1)
    store.held = false
    store.release()
    expect((await late).keyId).toBe(key.credential.keyId)
    expect(new Set(await Promise.all(rounds.flat()))).toEqual(new Set(['DEPENDENCY_UNAVAILABLE']))
    expect(new Set(await Promise.all(running))).toEqual(new Set(['UNAUTHENTICATED']))
    expect(store.lookups).toBe(9)
  })

  test('the limit of a thousand includes running lookups that a later lookup of the same key replaced', async () => {
    const { authenticator, store, clock } = setUp()
    store.held = true
    const { text } = mintApiKey('attestation', 'live')
    const replaced = codeOf(authenticator.authenticate, text)
    await nextTurn()
    clock.advance(2_001)
    const pending = [replaced, codeOf(authenticator.authenticate, text), ...guess(authenticator, 998)]
    const refused = guess(authenticator, 1)
    store.held = false
    store.release()
    expect(await Promise.all(refused)).toEqual(['OVERLOADED'])
    expect(new Set(await Promise.all(pending))).toEqual(new Set(['UNAUTHENTICATED']))
  })

  test('a queued lookup reads the changes before its start, and later requests join it', async () => {
    const key = issue()
    const { authenticator, store } = setUp(key)
    store.held = true
    const running = guess(authenticator, 8)
    await nextTurn()
    const queued = codeOf(authenticator.authenticate, key.text)
    store.set({ ...key.credential, revokedAtSeconds: START_SECONDS })
    authenticator.invalidate(key.credential.keyId)
    const joined = codeOf(authenticator.authenticate, key.text)
    store.held = false
    store.release()
    expect(await Promise.all([queued, joined])).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED'])
    await Promise.all(running)
    // The eight running lookups read again after the change.
    expect(store.lookups).toBe(8 + 1 + 8)
  })
})

describe('invented keys from one network', () => {
  test('leave lookups to other networks', async () => {
    const key = issue()
    const { authenticator, store } = setUp(key)
    store.held = true
    const guesses = guess(authenticator, 300, '203.0.113.1')
    const found = authenticator.authenticate(key.text, 'attestation')
    const codes = Promise.all(guesses)
    await nextTurn()
    store.release()
    expect((await found).keyId).toBe(key.credential.keyId)
    store.held = false
    store.release()
    // Four run, and 250 wait.
    expect((await codes).filter((code) => code === 'OVERLOADED')).toHaveLength(300 - 254)
  })
})

describe('changes', () => {
  test('a revocation is in force once it is announced', async () => {
    const key = issue()
    const { authenticator, store } = setUp(key)
    await authenticator.authenticate(key.text, 'attestation')
    store.set({ ...key.credential, revokedAtSeconds: START_SECONDS })
    authenticator.invalidate(key.credential.keyId)
    expect(await codeOf(authenticator.authenticate, key.text)).toBe('UNAUTHENTICATED')
  })

  test.each(['invalidate', 'clear'] as const)(
    'a look-up under way when the key is revoked (%s) is done again, and its result is not cached',
    async (how) => {
      const key = issue()
      const { authenticator, store } = setUp(key)
      store.held = true
      const early = codeOf(authenticator.authenticate, key.text)
      await nextTurn()
      store.set({ ...key.credential, revokedAtSeconds: START_SECONDS })
      if (how === 'invalidate') authenticator.invalidate(key.credential.keyId)
      else authenticator.clear()
      store.held = false
      store.release()
      expect(await early).toBe('UNAUTHENTICATED')
      expect(await codeOf(authenticator.authenticate, key.text)).toBe('UNAUTHENTICATED')
      expect(store.lookups).toBe(2)
    },
  )

  test('the same for a key that was just made', async () => {
    const key = issue()
    const { authenticator, store } = setUp()
    store.held = true
    const early = authenticator.authenticate(key.text, 'attestation')
    await nextTurn()
    store.set(key.credential)
    authenticator.invalidate(key.credential.keyId)
    store.held = false
    store.release()
    expect((await early).keyId).toBe(key.credential.keyId)
  })

  test('a look-up that hung through the revocation does not let its requests in', async () => {
    const key = issue()
    const { authenticator, store, clock } = setUp(key)
    store.held = true
    const hung = codeOf(authenticator.authenticate, key.text)
    await nextTurn()
    store.held = false
    clock.advance(2_001)
    await authenticator.authenticate(key.text, 'attestation')
    store.set({ ...key.credential, revokedAtSeconds: START_SECONDS })
    authenticator.invalidate(key.credential.keyId)
    store.release()
    expect(await hung).toBe('UNAUTHENTICATED')
    expect(await codeOf(authenticator.authenticate, key.text)).toBe('UNAUTHENTICATED')
  })

  test('a key that changes all the time is 503, not an endless loop', async () => {
    const key = issue()
    const clock = createManualClock()
    const authenticator = open({
      clock,
      findKey: async (keyId) => {
        await Promise.resolve()
        authenticator.invalidate(keyId)
        return key.credential
      },
    })
    expect(await codeOf(authenticator.authenticate, key.text)).toBe('DEPENDENCY_UNAVAILABLE')
  })

  test('keys are read from the store while the changes are unknown, but for attestations, which wait for them', async () => {
    const [identity, attestation] = [issue('identity'), issue('attestation')]
    const { authenticator, store, clock } = setUp(identity, attestation)
    const readsOf = async (act: () => unknown): Promise<number> => {
      const before = store.lookups
      await act()
      return store.lookups - before
    }
    await authenticator.authenticate(identity.text, 'identity')
    await authenticator.authenticate(attestation.text, 'attestation')
    authenticator.renewLease(clock.monotonicMs() + 2_000)
    clock.advance(1_999)
    expect(await readsOf(() => authenticator.authenticate(identity.text, 'identity'))).toBe(0)
    clock.advance(1)
    store.set({ ...identity.credential, revokedAtSeconds: START_SECONDS })
    expect(await codeOf(authenticator.authenticate, identity.text, 'identity')).toBe('UNAUTHENTICATED')
    expect(await readsOf(() => authenticator.authenticate(attestation.text, 'attestation'))).toBe(0)
    store.down = true
    expect(await codeOf(authenticator.authenticate, identity.text, 'identity')).toBe('DEPENDENCY_UNAVAILABLE')
    store.down = false
    store.set(identity.credential)
    await authenticator.authenticate(identity.text, 'identity')
    authenticator.renewLease(clock.monotonicMs() + 2_000)
    expect(await readsOf(() => authenticator.authenticate(identity.text, 'identity'))).toBe(0)
  })

  test('clear forgets everything', async () => {
    const [first, second] = [issue(), issue()]
    const { authenticator, store } = setUp(first, second)
    await authenticator.authenticate(first.text, 'attestation')
    await authenticator.authenticate(second.text, 'attestation')
    authenticator.clear()
    await authenticator.authenticate(first.text, 'attestation')
    await authenticator.authenticate(second.text, 'attestation')
    expect(store.lookups).toBe(4)
  })
})

describe('uses', () => {
  test('are noted once a minute, for keys that worked, and taken once', async () => {
    const [used, wrong] = [issue(), issue('identity')]
    const { authenticator, clock } = setUp(used, wrong)
    await authenticator.authenticate(used.text, 'attestation')
    await codeOf(authenticator.authenticate, wrong.text, 'attestation')
    await codeOf(authenticator.authenticate, mintApiKey('attestation', 'live').text)
    expect([...authenticator.takeUses()]).toEqual([[used.credential.keyId, START_SECONDS]])
    await authenticator.authenticate(used.text, 'attestation')
    expect(authenticator.takeUses().size).toBe(0)
    clock.advance(59_000)
    await authenticator.authenticate(used.text, 'attestation')
    expect(authenticator.takeUses().size).toBe(0)
    clock.advance(1_000)
    await authenticator.authenticate(used.text, 'attestation')
    expect([...authenticator.takeUses()]).toEqual([[used.credential.keyId, START_SECONDS + 60]])
  })
})
