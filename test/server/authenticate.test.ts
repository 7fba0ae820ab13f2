// Authentication of API keys: the cache, invented keys, a failing store, and changes during lookups.
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

type IssuedKey = ApiKeyCredential & { readonly text: string }

const issue = (kind: ApiKeyKind = 'attestation', changes: Partial<ApiKeyCredential> = {}): IssuedKey => {
  const { text, keyId } = mintApiKey(kind, 'live')
  return {
    text,
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
}
const mintText = (): string => mintApiKey('attestation', 'live').text

/** A store of keys. While it is on hold, lookups wait. Each lookup reads the key when it starts. */
const createStore = (...credentials: ApiKeyCredential[]) => {
  const keys = new Map(credentials.map((credential) => [credential.keyId, credential]))
  const waiting: (() => void)[] = []
  const store = {
    isHeld: false,
    isDown: false,
    lookups: 0,
    set: (credential: ApiKeyCredential) => keys.set(credential.keyId, credential),
    /** Ends the waiting lookups. */
    flush: () => {
      for (const resolve of waiting.splice(0)) resolve()
    },
    release: () => {
      store.isHeld = false
      store.flush()
    },
    findKey: async (keyId: string): Promise<ApiKeyCredential | null> => {
      store.lookups += 1
      const found = keys.get(keyId) ?? null
      const { isDown } = store
      if (store.isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
      if (isDown) throw new Error('SQLITE_BUSY at /srv/keys.db')
      return found
    },
  }
  return store
}

const open = (dependencies: Parameters<typeof createAuthenticator>[0]) => {
  const authenticator = createAuthenticator(dependencies)
  const authenticate = (text: string | null, scope: ApiKeyScope = 'attestation', network = '192.0.2.1') =>
    authenticator.authenticate(text, scope, { lookupOwner: () => network })
  const errorOf = async (...parameters: Parameters<typeof authenticate>): Promise<CountersignError> => {
    try {
      await authenticate(...parameters)
    } catch (error) {
      if (error instanceof CountersignError) return error
      throw error
    }
    throw new Error('the key was accepted')
  }
  const codeOf = async (...parameters: Parameters<typeof authenticate>): Promise<ErrorCode> =>
    (await errorOf(...parameters)).code
  const keyIdOf = async (text: string) => (await authenticate(text)).keyId
  /** The error codes for invented keys, each from its own network by default. */
  const guess = (count: number, network?: string) =>
    Array.from({ length: count }, (_, at) => codeOf(mintText(), 'attestation', network ?? `198.51.100.${at}`))
  return { ...authenticator, authenticate, errorOf, codeOf, keyIdOf, guess }
}

const setUp = (...keys: IssuedKey[]) => {
  const clock = createManualClock(START_SECONDS)
  const store = createStore(...keys)
  const authenticator = open({ findKey: store.findKey, clock })
  /** Stores a key and invalidates the cache. */
  const change = (key: ApiKeyCredential, changes: Partial<ApiKeyCredential> = {}): void => {
    store.set({ ...key, ...changes })
    authenticator.invalidate(key.keyId)
  }
  return { clock, store, change, ...authenticator }
}
const REVOKED = { revokedAtSeconds: START_SECONDS }

describe('a valid key', () => {
  test('yields a principal after one lookup, and then synchronously', async () => {
    const key = issue()
    const { authenticate, store } = setUp(key)
    const first = authenticate(key.text)
    expect(first).toBeInstanceOf(Promise)
    const principal = await first
    const { keyId, organizationId, kind, environment, rateLimit } = key
    expect(principal).toEqual({ keyId, organizationId, kind, environment, rateLimit })
    expect(authenticate(key.text)).toBe(principal)
    expect(store.lookups).toBe(1)
    expect(Object.isFrozen(principal)).toBe(true)
  })

  test('is looked up once for concurrent requests', async () => {
    const key = issue()
    const { authenticate, store } = setUp(key)
    const principals = await Promise.all(Array.from({ length: 50 }, () => authenticate(key.text)))
    expect([new Set(principals).size, store.lookups]).toEqual([1, 1])
  })

  test('with another scope is refused, also from the cache', async () => {
    const key = issue('identity')
    const { authenticate, codeOf } = setUp(key)
    for (let i = 0; i < 2; i++) {
      expect(await codeOf(key.text, 'attestation')).toBe('FORBIDDEN_SCOPE')
      expect(await codeOf(key.text, 'admin')).toBe('FORBIDDEN_SCOPE')
      expect((await authenticate(key.text, 'identity')).kind).toBe('identity')
    }
  })
})

describe('an unusable key', () => {
  const key = issue()
  const middle = key.text.length - 20
  const typo = key.text[middle] === 'a' ? 'b' : 'a'
  const forged = mintText()
  /** A key with the id of `forged` and another secret. */
  const withForgedId = (kind: ApiKeyKind) => ({ ...issue(kind), keyId: parseApiKey(forged)!.keyId })

  test.each<[string, string | null]>([
    ['missing', null],
    ['empty', ''],
    ['malformed', 'nonsense'],
    ['truncated', key.text.slice(0, -1)],
    ['too long', `${key.text}x`],
    ['mistyped', key.text.slice(0, middle) + typo + key.text.slice(middle + 1)],
    ['sent twice', `${key.text}, ${key.text}`],
    ['sent twice, joined without a space', `${key.text},${key.text}`],
    ['sent with another key', `${key.text}, ${issue().text}`],
    ['followed by a space', `${key.text} `],
    ['in upper case', key.text.toUpperCase()],
    ['with another prefix', key.text.replace('csa_', 'csi_')],
    ['very long', 'c'.repeat(100_000)],
    ['well-formed but unknown', forged],
  ])('that is %s is refused, whether or not the valid key is cached', async (_name, text) => {
    const { authenticate, errorOf } = setUp(key)
    const cold = await errorOf(text)
    await authenticate(key.text)
    for (const { code, detail } of [cold, await errorOf(text)]) {
      expect([code, detail]).toEqual(['UNAUTHENTICATED', 'the API key is missing, invalid or expired'])
    }
  })

  test('with a wrong secret is refused, whether or not the key is cached', async () => {
    const { codeOf, store } = setUp(withForgedId('attestation'))
    expect([await codeOf(forged), await codeOf(forged), store.lookups]).toEqual([
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      1,
    ])
  })

  test('with a wrong secret is refused before its scope is compared', async () => {
    expect(await setUp(withForgedId('identity')).codeOf(forged)).toBe('UNAUTHENTICATED')
  })

  test('that was revoked is refused', async () => {
    const revoked = issue('attestation', { revokedAtSeconds: START_SECONDS - 1 })
    const { codeOf, store } = setUp(revoked)
    for (let i = 0; i < 2; i++) expect(await codeOf(revoked.text)).toBe('UNAUTHENTICATED')
    expect(store.lookups).toBe(1)
  })

  test('is refused once it has expired, even if it is cached', async () => {
    const expiring = issue('attestation', { expiresAtSeconds: START_SECONDS + 10 })
    const { authenticate, codeOf, clock, store } = setUp(expiring)
    await authenticate(expiring.text)
    clock.advance(9_999)
    await authenticate(expiring.text)
    clock.advance(1)
    expect([await codeOf(expiring.text), store.lookups]).toEqual(['UNAUTHENTICATED', 1])
  })
})

describe('invented keys', () => {
  test('with one key id reach the store once per second', async () => {
    const { codeOf, clock, store } = setUp()
    const text = mintText()
    for (let i = 0; i < 20; i++) expect(await codeOf(text)).toBe('UNAUTHENTICATED')
    expect(store.lookups).toBe(1)
    clock.advance(1_000)
    expect([await codeOf(text), store.lookups]).toEqual(['UNAUTHENTICATED', 2])
  })

  test('do not evict a known key', async () => {
    const key = issue()
    const store = createStore(key)
    const { authenticate, codeOf } = open({ findKey: store.findKey, clock: createManualClock(), cacheSize: 2 })
    await authenticate(key.text)
    for (let i = 0; i < 50; i++) await codeOf(mintText())
    const before = store.lookups
    await authenticate(key.text)
    expect(store.lookups).toBe(before)
  })

  test('with a wrong checksum never reach the store', async () => {
    const { codeOf, store } = setUp()
    for (let i = 0; i < 20; i++) {
      const text = mintText()
      await codeOf(text.slice(0, -1) + (text.endsWith('0') ? '1' : '0'))
    }
    expect(store.lookups).toBe(0)
  })

  test('are looked up eight at a time, and refused above a thousand', async () => {
    const { guess, store } = setUp()
    store.isHeld = true
    const waiting = guess(1_000)
    expect(await Promise.all(guess(1))).toEqual(['OVERLOADED'])
    expect(store.lookups).toBe(8)
    store.release()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['UNAUTHENTICATED']))
    expect(store.lookups).toBe(1_000)
    store.isHeld = true
    const further = guess(9)
    await nextTurn()
    expect(store.lookups).toBe(1_008)
    store.release()
    await Promise.all(further)
  })

  test('are accepted once they are created and the cache is invalidated', async () => {
    const key = issue()
    const { codeOf, keyIdOf, change } = setUp()
    expect(await codeOf(key.text)).toBe('UNAUTHENTICATED')
    change(key)
    expect(await keyIdOf(key.text)).toBe(key.keyId)
  })

  test('from one network leave lookups to other networks', async () => {
    const key = issue()
    const { guess, keyIdOf, store } = setUp(key)
    store.isHeld = true
    const guesses = guess(300, '203.0.113.1')
    const found = keyIdOf(key.text)
    const codes = Promise.all(guesses)
    await nextTurn()
    store.flush()
    expect(await found).toBe(key.keyId)
    store.release()
    // Four lookups run, and 250 wait.
    expect((await codes).filter((code) => code === 'OVERLOADED')).toHaveLength(300 - 254)
  })
})

describe('a failing store', () => {
  test('yields 503 with Retry-After and without details, and the failure is not cached', async () => {
    const key = issue()
    const { errorOf, keyIdOf, store } = setUp(key)
    store.isDown = true
    const error = await errorOf(key.text)
    expect(error).toBeInstanceOf(DependencyUnavailableError)
    expect(error.retryAfterSeconds).toBe(1)
    expect(error.detail).not.toContain('SQLITE')
    store.isDown = false
    expect(await keyIdOf(key.text)).toBe(key.keyId)
  })

  test('does not affect cached keys', async () => {
    const key = issue()
    const { authenticate, store } = setUp(key)
    await authenticate(key.text)
    store.isDown = true
    expect((authenticate(key.text) as Principal).keyId).toBe(key.keyId)
  })

  test('delays later requests for a key by at most two seconds', async () => {
    const key = issue()
    const { keyIdOf, store, clock } = setUp(key)
    store.isHeld = true
    const hung = keyIdOf(key.text)
    await nextTurn()
    store.isHeld = false
    clock.advance(2_001)
    expect(await keyIdOf(key.text)).toBe(key.keyId)
    store.release()
    expect(await hung).toBe(key.keyId)
  })
})

describe('the queue of a stalled store', () => {
  test('drops lookups after two seconds, so that they do not delay later keys', async () => {
    const key = issue()
    const { guess, codeOf, keyIdOf, store, clock } = setUp(key)
    store.isHeld = true
    const running = guess(8)
    await nextTurn()
    const texts = Array.from({ length: 900 }, mintText)
    const rounds = [1, 2, 3].map(() => {
      clock.advance(2_001)
      return texts.map((text, at) => codeOf(text, 'attestation', `network ${at}`))
    })
    clock.advance(2_000)
    const late = keyIdOf(key.text)
    clock.advance(1)
    store.release()
    expect(await late).toBe(key.keyId)
    expect(new Set(await Promise.all(rounds.flat()))).toEqual(new Set(['DEPENDENCY_UNAVAILABLE']))
    expect(new Set(await Promise.all(running))).toEqual(new Set(['UNAUTHENTICATED']))
    expect(store.lookups).toBe(9)
  })

  test('counts running lookups that a later lookup of the same key replaced', async () => {
    const { guess, codeOf, store, clock } = setUp()
    store.isHeld = true
    const text = mintText()
    const replaced = codeOf(text)
    await nextTurn()
    clock.advance(2_001)
    const pending = [replaced, codeOf(text), ...guess(998)]
    const refused = guess(1)
    store.release()
    expect(await Promise.all(refused)).toEqual(['OVERLOADED'])
    expect(new Set(await Promise.all(pending))).toEqual(new Set(['UNAUTHENTICATED']))
  })

  test('reads changes before the start of a lookup, which later requests join', async () => {
    const key = issue()
    const { guess, codeOf, store, change } = setUp(key)
    store.isHeld = true
    const running = guess(8)
    await nextTurn()
    const queued = codeOf(key.text)
    change(key, REVOKED)
    const joined = codeOf(key.text)
    store.release()
    expect(await Promise.all([queued, joined])).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED'])
    await Promise.all(running)
    // The eight running lookups are repeated after the change.
    expect(store.lookups).toBe(8 + 1 + 8)
  })
})

describe('a change', () => {
  test('that revokes a key takes effect with the invalidation', async () => {
    const key = issue()
    const { authenticate, codeOf, change } = setUp(key)
    await authenticate(key.text)
    change(key, REVOKED)
    expect(await codeOf(key.text)).toBe('UNAUTHENTICATED')
  })

  test.each(['invalidate', 'clear'] as const)(
    'repeats running lookups without caching their result: %s',
    async (how) => {
      const key = issue()
      const { codeOf, store, invalidate, clear } = setUp(key)
      store.isHeld = true
      const early = codeOf(key.text)
      await nextTurn()
      store.set({ ...key, ...REVOKED })
      if (how === 'invalidate') invalidate(key.keyId)
      else clear()
      store.release()
      expect([await early, await codeOf(key.text), store.lookups]).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', 2])
    },
  )

  test('that creates a key repeats running lookups', async () => {
    const key = issue()
    const { keyIdOf, store, change } = setUp()
    store.isHeld = true
    const early = keyIdOf(key.text)
    await nextTurn()
    change(key)
    store.release()
    expect(await early).toBe(key.keyId)
  })

  test('that revokes a key refuses requests whose lookup was pending', async () => {
    const key = issue()
    const { authenticate, codeOf, store, clock, change } = setUp(key)
    store.isHeld = true
    const hung = codeOf(key.text)
    await nextTurn()
    store.isHeld = false
    clock.advance(2_001)
    await authenticate(key.text)
    change(key, REVOKED)
    store.release()
    expect([await hung, await codeOf(key.text)]).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED'])
  })

  test('during each lookup yields 503', async () => {
    const key = issue()
    const { codeOf, invalidate } = open({
      clock: createManualClock(),
      findKey: async (keyId) => {
        await Promise.resolve()
        invalidate(keyId)
        return key
      },
    })
    expect(await codeOf(key.text)).toBe('DEPENDENCY_UNAVAILABLE')
  })

  test('is unknown after the lease ends: keys are read from the store, except attestation keys, which wait elsewhere', async () => {
    const [identity, attestation] = [issue('identity'), issue('attestation')]
    const { authenticate, codeOf, store, clock, renewLease } = setUp(identity, attestation)
    const lookupsOf = async (key: IssuedKey): Promise<number> => {
      const before = store.lookups
      await authenticate(key.text, key.kind as ApiKeyScope)
      return store.lookups - before
    }
    for (const key of [identity, attestation]) await lookupsOf(key)
    renewLease(clock.monotonicMs() + 2_000)
    clock.advance(1_999)
    expect(await lookupsOf(identity)).toBe(0)
    clock.advance(1)
    store.set({ ...identity, ...REVOKED })
    expect(await codeOf(identity.text, 'identity')).toBe('UNAUTHENTICATED')
    expect(await lookupsOf(attestation)).toBe(0)
    store.isDown = true
    expect(await codeOf(identity.text, 'identity')).toBe('DEPENDENCY_UNAVAILABLE')
    store.isDown = false
    store.set(identity)
    await lookupsOf(identity)
    renewLease(clock.monotonicMs() + 2_000)
    expect(await lookupsOf(identity)).toBe(0)
  })

  test('of unknown scope clears the whole cache', async () => {
    const keys = [issue(), issue()]
    const { authenticate, store, clear } = setUp(...keys)
    for (const { text } of keys) await authenticate(text)
    clear()
    for (const { text } of keys) await authenticate(text)
    expect(store.lookups).toBe(4)
  })
})

test('uses are recorded once per minute for accepted keys, and each is returned once', async () => {
  const [used, refused] = [issue(), issue('identity')]
  const { authenticate, codeOf, clock, takeUses } = setUp(used, refused)
  await authenticate(used.text)
  await codeOf(refused.text)
  await codeOf(mintText())
  expect([...takeUses()]).toEqual([[used.keyId, START_SECONDS]])
  for (const advanceMs of [0, 59_000]) {
    clock.advance(advanceMs)
    await authenticate(used.text)
    expect(takeUses().size).toBe(0)
  }
  clock.advance(1_000)
  await authenticate(used.text)
  expect([...takeUses()]).toEqual([[used.keyId, START_SECONDS + 60]])
})
