// API keys in the store: issue, regeneration, revocation and last use.
import { beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { apiKeyStatus, DEFAULT_RATE_LIMIT, matchesApiKey, parseApiKey } from '../../src/domain/api-key.ts'
import type { NewApiKey } from '../../src/store/organizations/api-keys.ts'
import { allKeys } from '../support/all-rows.ts'
import { BEFORE_ALL, changesSince } from './changes-since.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { START_SECONDS } from './temporary-store.ts'

describeStores((openTemporaryStore, dialect) => {
  const HOUR = 3_600

  const temporary = storeOfTest(openTemporaryStore)
  let organizationId: string

  const issue = (changes: Partial<NewApiKey> = {}) =>
    temporary.store.apiKeys.issue({
      organizationId,
      kind: 'attestation',
      environment: 'live',
      name: 'test',
      expiresAtSeconds: null,
      rateLimit: DEFAULT_RATE_LIMIT,
      ...changes,
    })
  const find = async (keyId: string) => {
    const key = await temporary.store.apiKeys.findForAuthentication(keyId)
    if (key === null) throw new Error(`no key ${keyId}`)
    return key
  }
  const status = async (keyId: string) => apiKeyStatus(await find(keyId), temporary.clock.unixSeconds())
  const regenerate = async (keyId: string, overlapSeconds: number) => {
    const result = await temporary.store.apiKeys.regenerate(organizationId, keyId, overlapSeconds)
    if (result.status !== 'regenerated') throw new Error(result.status)
    return result
  }
  const changedKeys = async () =>
    (await changesSince(temporary.store.database, BEFORE_ALL))
      .filter((change) => change.topic === 'api-key')
      .map((change) => change.subjectId)

  /** The stored bytes that a stolen database contains. */
  const readStored = async (): Promise<Buffer> => {
    if (dialect === 'SQLite') return Buffer.concat(['', '-wal'].map((suffix) => readFileSync(temporary.path + suffix)))
    const rows = await temporary.store.database.query<Record<string, unknown>>('SELECT * FROM api_keys')
    return Buffer.concat(
      rows.flatMap((row) =>
        Object.values(row).map((value) =>
          value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(`${value} `),
        ),
      ),
    )
  }

  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  })

  describe('issuing', () => {
    test('returns the key once and stores only its hash', async () => {
      const { text, record } = await issue()
      expect(parseApiKey(text)).toEqual({ kind: 'attestation', environment: 'live', keyId: record.keyId })
      const { hash, ...found } = await find(record.keyId)
      expect(found).toEqual(record)
      expect(matchesApiKey(text, hash)).toBe(true)
      expect(record).toMatchObject({
        scopes: ['attestation'],
        createdAtSeconds: START_SECONDS,
        rateLimit: DEFAULT_RATE_LIMIT,
      })
      const onDisk = await readStored()
      expect(onDisk.includes(record.keyId)).toBe(true)
      expect(onDisk.includes(text)).toBe(false)
      expect(onDisk.includes(text.slice(21, 64))).toBe(false)
    })

    test('stores each setting', async () => {
      const { record } = await issue({
        kind: 'admin',
        environment: 'test',
        name: 'ops ✓',
        expiresAtSeconds: START_SECONDS + 60,
        rateLimit: null,
      })
      expect(await temporary.store.apiKeys.find(organizationId, record.keyId)).toEqual(record)
      expect(record).toMatchObject({ kind: 'admin', environment: 'test', scopes: ['admin'], rateLimit: null })
    })

    test('requires an existing organization and a positive rate limit', async () => {
      await expect(issue({ organizationId: 'org_unknown' })).rejects.toMatchObject({ constraint: 'foreign-key' })
      const rateLimit = { requestsPerSecond: 0, burst: 1 }
      await expect(issue({ rateLimit })).rejects.toMatchObject({ constraint: 'check' })
    })

    test('adds keys to the list, oldest first, without hashes', async () => {
      const keys = []
      for (const name of ['a', 'b', 'c']) {
        keys.push((await issue({ name })).record)
        temporary.clock.advance(1)
      }
      const listed = await allKeys(temporary.store, organizationId)
      expect(listed).toEqual(keys)
      expect(Object.keys(listed[0] ?? {})).not.toContain('hash')
    })
  })

  describe('regenerating', () => {
    test('keeps the old key valid for the overlap period, and announces both keys', async () => {
      const { record: old } = await issue({ name: 'kept', rateLimit: { requestsPerSecond: 5, burst: 7 } })
      const before = await changedKeys()
      const { record: fresh, previous, text } = await regenerate(old.keyId, 24 * HOUR)
      expect(parseApiKey(text)?.keyId).toBe(fresh.keyId)
      expect(fresh).toMatchObject({ name: 'kept', kind: 'attestation', rateLimit: { requestsPerSecond: 5, burst: 7 } })
      expect(fresh.expiresAtSeconds).toBeNull()
      expect(previous).toEqual(await temporary.store.apiKeys.find(organizationId, old.keyId).then((key) => key!))
      expect(previous.replacedByKeyId).toBe(fresh.keyId)
      expect((await changedKeys()).slice(before.length)).toEqual([fresh.keyId, old.keyId])
      temporary.clock.advance(24 * HOUR - 1)
      expect(await status(old.keyId)).toBe('active')
      temporary.clock.advance(1)
      expect(await status(old.keyId)).toBe('expired')
      expect(await status(fresh.keyId)).toBe('active')
    })

    test('gives the new key the scopes of the old one, not those of its kind', async () => {
      const { record: old } = await issue({ kind: 'admin', scopes: ['admin', 'deployment'] })
      const { record: fresh } = await regenerate(old.keyId, 0)
      expect(fresh.scopes).toEqual(['admin', 'deployment'])
      expect((await find(fresh.keyId)).scopes).toEqual(['admin', 'deployment'])
    })

    test('never delays the expiry of the old key', async () => {
      for (const [expires, overlap, expected] of [
        [60, HOUR, 60],
        [2 * HOUR, HOUR, HOUR],
        [null, 0, 0],
      ] as const) {
        const { record } = await issue({ expiresAtSeconds: expires === null ? null : START_SECONDS + expires })
        expect((await regenerate(record.keyId, overlap)).previous.expiresAtSeconds).toBe(START_SECONDS + expected)
      }
      const { record: past } = await issue({ expiresAtSeconds: START_SECONDS + 10 })
      temporary.clock.advance(60)
      expect((await regenerate(past.keyId, HOUR)).previous.expiresAtSeconds).toBe(START_SECONDS + 10)
      expect(await status(past.keyId)).toBe('expired')
    })

    test('gives the new key the same lifetime', async () => {
      const { record } = await issue({ expiresAtSeconds: START_SECONDS + 30 * 24 * HOUR })
      temporary.clock.advance(29 * 24 * HOUR)
      const { record: fresh } = await regenerate(record.keyId, 0)
      expect(fresh.expiresAtSeconds).toBe(START_SECONDS + 59 * 24 * HOUR)
    })

    test('a duplicate key is refused', async () => {
      const { record } = await issue()
      const { record: fresh } = await regenerate(record.keyId, HOUR)
      expect(await temporary.store.apiKeys.regenerate(organizationId, record.keyId, HOUR)).toEqual({
        status: 'already-regenerated',
        replacedByKeyId: fresh.keyId,
      })
      expect(await allKeys(temporary.store, organizationId)).toHaveLength(2)
    })

    test('a revoked or unknown key is refused', async () => {
      const { record } = await issue()
      await temporary.store.apiKeys.revoke(organizationId, record.keyId)
      expect(await temporary.store.apiKeys.regenerate(organizationId, record.keyId, 0)).toEqual({ status: 'revoked' })
      expect(await temporary.store.apiKeys.regenerate(organizationId, '000000000000', 0)).toEqual({ status: 'unknown' })
    })
  })

  test('a revocation is final, announced once, and keeps its first time', async () => {
    const { record } = await issue()
    const announced = (await changedKeys()).length
    await temporary.store.apiKeys.revoke(organizationId, record.keyId)
    temporary.clock.advance(60)
    const again = await temporary.store.apiKeys.revoke(organizationId, record.keyId)
    expect([again?.revokedAtSeconds, await status(record.keyId)]).toEqual([START_SECONDS, 'revoked'])
    expect((await changedKeys()).slice(announced)).toEqual([record.keyId])
  })

  test('the latest use of each key is stored, and is not announced', async () => {
    const keys = [(await issue()).record.keyId, (await issue()).record.keyId] as const
    const before = await changedKeys()
    const uses = [
      new Map([
        [keys[0], START_SECONDS + 5],
        [keys[1], START_SECONDS + 6],
      ]),
      new Map([
        [keys[0], START_SECONDS + 3],
        [keys[1], START_SECONDS + 9],
        ['unknown00000', START_SECONDS + 9],
      ]),
    ]
    const errors: unknown[] = []
    const { upkeep } = temporary.store
    upkeep.start({ takeUses: () => uses.shift() ?? new Map(), onError: (error) => errors.push(error) })
    for (let flush = 0; flush < 2; flush++) await upkeep.flush()
    expect((await find(keys[0])).lastUsedAtSeconds).toBe(START_SECONDS + 5)
    expect((await find(keys[1])).lastUsedAtSeconds).toBe(START_SECONDS + 9)
    expect([await changedKeys(), errors]).toEqual([before, []])
  })
})
