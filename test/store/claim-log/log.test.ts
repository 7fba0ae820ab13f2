// The claim log is compared with the table of claims, which makes the same promises. Caches in several processes,
// restarts and deleted groups exist only in the log.
import { Database as SqliteFile } from 'bun:sqlite'
import { beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type LoggedClaims, openLoggedClaims } from '../../../src/store/claim-log/claims.ts'
import { readReplaces } from '../../../src/store/claim-log/entry.ts'
import { createClaimGroupTable } from '../../../src/store/claim-log/groups.ts'
import { databaseScope } from '../../../src/store/copy/table-scope.ts'
import type { Transaction } from '../../../src/store/database.ts'
import type { ClaimResult, IdempotencyClaim } from '../../../src/store/idempotency.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { u } from '../../support/numbered-uuid.ts'
import { nodesOfTest } from '../store-of-test.ts'
import { openTemporaryStore, START_SECONDS } from '../temporary-store.ts'

const CLAIM_SECONDS = 30
const PLACE = { node: '', usableSeconds: 0, keepSeconds: 600 }
const KEPT_SECONDS = CLAIM_SECONDS + PLACE.keepSeconds

const temporary = nodesOfTest(openTemporaryStore)
let organizationId: string

const bodyHash = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()
const now = (): number => temporary.clock.unixSeconds()

const logOf = (store: Store, node: string | null = 'this'): Promise<LoggedClaims> =>
  openLoggedClaims({ database: store.database, clock: temporary.clock, node })
const openLog = () => logOf(temporary.store)
const openBoth = () => Promise.all(temporary.nodes.map((store) => logOf(store)))

const claimOf = (
  claims: Pick<LoggedClaims, 'claim'>,
  uuid: string,
  { key = 'retry', body = 'body', keyId = 'key' }: { key?: string; body?: string; keyId?: string } = {},
): Promise<ClaimResult> => claims.claim(organizationId, keyId, key, bodyHash(body), uuid, now() + CLAIM_SECONDS, PLACE)

/** Claims `count` keys at once, with the numbers of their uuids starting at `from`. */
const claimMany = (
  claims: Pick<LoggedClaims, 'claim'>,
  count: number,
  from = 0,
  keyOf = String as (n: number) => string,
) => Promise.all(Array.from({ length: count }, (_, index) => claimOf(claims, u(from + index), { key: keyOf(index) })))

const claimIn = (result: ClaimResult): IdempotencyClaim => {
  if (result.outcome !== 'claimed' && result.outcome !== 'taken-over') throw new Error(result.outcome)
  return result.claim
}
const outcomes = (results: readonly ClaimResult[]): string[] => results.map(({ outcome }) => outcome).sort()
const inFlight = (number: number): string[] => Array<string>(number).fill('in-flight')
const groups = () => temporary.store.database.query('SELECT first_number FROM claim_groups ORDER BY first_number')

beforeEach(async () => {
  organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
})

test('the last change of a key within a commit counts', async () => {
  const log = await openLog()
  const first = claimIn(await claimOf(log, u(1)))
  const [released, again, twin] = await Promise.all([log.release(first), claimOf(log, u(2)), claimOf(log, u(3))])
  expect(released).toBe(true)
  expect(claimIn(again).uuid).toBe(u(2))
  expect(twin).toMatchObject({ outcome: 'in-flight', earlier: { uuid: u(2) } })
  expect(await groups()).toHaveLength(2)
})

describe('random operations of two processes, with restarts and sweeps', () => {
  const process = fc.nat(1)
  const key = fc.constantFrom('a', 'b')
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('claim' as const), process, key, body: fc.nat(9) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('keep' as const), process, holder: fc.nat(5) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), process, holder: fc.nat(5) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), process, holder: fc.nat(5) }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 45 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constant(KEPT_SECONDS) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), process }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
  )
  let run = 0

  test('have the same outcomes in the log and in the table', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const keyId = `run ${run++}`
        const { nodes } = temporary
        const logs = await openBoth()
        const table = temporary.store.idempotency
        const holders: IdempotencyClaim[] = []
        for (const [index, action] of steps.entries()) {
          if (action.kind === 'wait') temporary.clock.advance(action.seconds)
          if (action.kind === 'sweep') await temporary.store.claimGroups.sweep()
          if (action.kind === 'restart') logs[action.process] = await logOf(nodes[action.process]!)
          if (action.kind === 'claim') {
            // One body in ten differs.
            const options = { key: action.key, body: action.body === 0 ? 'other' : 'body', keyId }
            const log = await claimOf(logs[action.process]!, u(index), options)
            expect(log).toEqual(await claimOf(table, u(index), options))
            seen.add(log.outcome)
            if ('claim' in log) holders.push(log.claim)
          }
          const holder = 'holder' in action ? holders[action.holder] : undefined
          if (holder === undefined || !('holder' in action)) continue
          // No request takes that long. The table keeps an expired row until a sweep.
          if (now() >= holder.claimExpiresAtSeconds + PLACE.keepSeconds) continue
          const log = logs[action.process]!
          const change = async (claims: typeof table | LoggedClaims): Promise<unknown> => {
            if (action.kind === 'keep') return claims.markDispatched(holder, holder.claimExpiresAtSeconds + 900)
            if (action.kind === 'replace') return claims.replaceUuid(holder, u(1_000 + index))
            return claims.release(holder)
          }
          const answer = await change(log)
          expect(answer).toEqual(await change(table))
          seen.add(`${action.kind} ${answer !== null && answer !== false}`)
        }
      }),
      { numRuns: 150 },
    )
    expect([...seen].sort()).toEqual([
      'claimed',
      'in-flight',
      'keep false',
      'keep true',
      'mismatch',
      'release false',
      'release true',
      'replace false',
      'replace true',
      'taken-over',
    ])
  })
})

describe('simultaneous claims', () => {
  test('in two processes succeed once, and the others receive the outcome', async () => {
    const logs = await openBoth()
    for (let round = 0; round < 20; round++) {
      const race = async () =>
        (await Promise.all(logs.map((log, node) => claimMany(log, 4, 10 * round + 4 * node, () => `${round}`)))).flat()
      const results = await race()
      expect(outcomes(results)).toEqual(['claimed', ...inFlight(7)])
      const first = claimIn(results.find((result) => 'claim' in result)!)
      temporary.clock.advance(CLAIM_SECONDS)
      const later = await race()
      expect(outcomes(later)).toEqual([...inFlight(7), 'taken-over'])
      expect(claimIn(later.find((result) => 'claim' in result)!).uuid).toBe(first.uuid)
    }
  })

  test('are stored in one row, and a repeated key is claimed once', async () => {
    const log = await openLog()
    const results = await claimMany(log, 100, 0, (index) => `${index % 60}`)
    expect(outcomes(results)).toEqual([...Array<string>(60).fill('claimed'), ...inFlight(40)])
    expect(await groups()).toEqual([{ first_number: 0 }])
  })
})

describe('a process', () => {
  test('knows earlier claims after a restart', async () => {
    for (let index = 0; index < 600; index++) await claimOf(await openLog(), u(index), { key: `${index}` })
    const log = await openLog()
    expect(outcomes(await claimMany(log, 600, 1_000))).toEqual(inFlight(600))
    temporary.clock.advance(CLAIM_SECONDS)
    expect(claimIn(await claimOf(log, u(9_999), { key: '7' })).uuid).toBe(u(7))
  })

  test('makes no claims while the store is locked, and continues afterwards', async () => {
    const impatient = await openStore({ target: temporary.target, clock: temporary.clock, lockLimitMs: 0 })
    try {
      const log = await logOf(impatient)
      await claimOf(log, u(1), { key: 'before' })
      const other = new SqliteFile(temporary.path)
      other.run('BEGIN IMMEDIATE')
      const failed = Array.from({ length: 5 }, (_, index) =>
        claimOf(log, u(2), { key: `${index}` }).catch(({ code }) => code),
      )
      expect(await Promise.all(failed)).toEqual(Array<string>(5).fill('DEPENDENCY_UNAVAILABLE'))
      other.close()
      await claimOf(await logOf(temporary.nodes[1]), u(3), { key: '0' })
      expect((await claimOf(log, u(3), { key: '0' })).outcome).toBe('in-flight')
      expect((await claimOf(log, u(3), { key: '1' })).outcome).toBe('claimed')
      expect((await claimOf(log, u(4), { key: 'before' })).outcome).toBe('in-flight')
    } finally {
      await impatient.close()
    }
  })
})

test('at most ten thousand claims are queued, and new requests are refused beyond five thousand', async () => {
  const log = await openLog()
  expect(log.backlogMs(organizationId)).toBe(0)
  const first = claimMany(log, 4_999)
  expect(log.backlogMs(organizationId)).not.toBeNull()
  const others = claimMany(log, 5_001, 4_999, (index) => `${4_999 + index}`)
  expect(log.backlogMs(organizationId)).toBeNull()
  expect(await claimOf(log, u(10_000)).catch(({ code }) => code)).toBe('DEPENDENCY_UNAVAILABLE')
  expect(outcomes([...(await first), ...(await others)])).toEqual(Array<string>(10_000).fill('claimed'))
  expect(log.backlogMs(organizationId)).toBe(0)
  expect((await claimOf(log, u(10_001))).outcome).toBe('claimed')
})

describe('after a failed commit', () => {
  /** A log whose transactions fail as the test sets. */
  const failing = () => {
    const state = {
      fails: null as 'before' | 'after' | null,
      /** Number of reads of claim rows. */
      reads: 0,
    }
    const { database } = temporary.store
    const watched = (statements: Transaction): Transaction => ({
      ...statements,
      query: (sql, ...parameters) => {
        if (sql.includes('first_number <= ?')) state.reads += 1
        return statements.query(sql, ...parameters)
      },
    })
    const claims = openLoggedClaims({
      clock: temporary.clock,
      node: 'this',
      database: {
        ...database,
        transaction: async (work, ...rest) => {
          if (state.fails === 'before') throw new Error('no store')
          const result = await database.transaction((transaction) => work(watched(transaction)), ...rest)
          if (state.fails === 'after') throw new Error('the connection was lost after the commit')
          return result
        },
      },
    })
    return { state, claims }
  }

  test('that took effect, its claims are known', async () => {
    const { state, claims } = failing()
    const log = await claims
    await claimOf(log, u(1), { key: 'first' })
    state.fails = 'after'
    await expect(claimOf(log, u(2))).rejects.toThrow('connection was lost')
    state.fails = null
    expect(await claimOf(log, u(3))).toMatchObject({ outcome: 'in-flight', earlier: { uuid: u(2) } })
  })

  test('its claims are removed from the queue', async () => {
    const { state, claims } = failing()
    const log = await claims
    for (const fails of ['before', 'after'] as const) {
      state.fails = fails
      const claimed = Array.from({ length: 9_000 }, (_, index) => claimOf(log, u(index), { key: `${fails} ${index}` }))
      expect(log.backlogMs(organizationId)).toBeNull()
      expect((await Promise.allSettled(claimed)).every(({ status }) => status === 'rejected')).toBe(true)
      expect(log.backlogMs(organizationId)).not.toBeNull()
    }
    state.fails = null
    expect((await claimOf(log, u(1))).outcome).toBe('claimed')
  })

  test('its claims are not read again after they expire', async () => {
    const { state, claims } = failing()
    const log = await claims
    const first = claimIn(await claimOf(log, u(1)))
    temporary.clock.advance(KEPT_SECONDS)
    await log.release(first)
    expect(state.reads).toBe(1)
    // A commit without a claim, after which expired claims are forgotten.
    temporary.clock.advance(60)
    await log.release({ ...first, idempotencyKey: 'unknown' })
    await log.release(first)
    expect(state.reads).toBe(1)
  })
})

test('each claim of a repeated key replaces the previous one in the index', async () => {
  const log = await openLog()
  for (let index = 0; index < 300; index++) {
    const claim = claimIn(await claimOf(log, u(index)))
    expect(await log.release(claim)).toBe(true)
  }
  await Promise.all(Array.from({ length: 20 }, (_, index) => claimOf(log, u(index))))
  const entries = await temporary.store.database.query<{ claims: Uint8Array }>('SELECT claims FROM claim_groups')
  expect(entries.map(({ claims }) => readReplaces(claims, 0))).toEqual([0, ...Array<number>(600).fill(1)])
})

describe('expired groups', () => {
  test('are deleted, except the newest, from which every process continues the numbering', async () => {
    const logs = await openBoth()
    for (let index = 0; index < 5; index++) await claimOf(logs[0]!, u(index), { key: `${index}` })
    temporary.clock.advance(KEPT_SECONDS - 1)
    expect(await temporary.store.claimGroups.sweep()).toBe(0)
    temporary.clock.advance(1)
    expect(await temporary.store.claimGroups.sweep()).toBe(4)
    expect(await temporary.store.claimGroups.sweep()).toBe(0)
    expect(await groups()).toEqual([{ first_number: 4 }])
    expect((await claimOf(logs[0]!, u(10), { key: '0' })).outcome).toBe('claimed')
    expect((await claimOf(await logOf(temporary.nodes[1]), u(11), { key: '0' })).outcome).toBe('in-flight')
    expect((await claimOf(logs[1]!, u(12), { key: '0' })).outcome).toBe('in-flight')
    expect((await claimOf(logs[1]!, u(13), { key: '4' })).outcome).toBe('claimed')
  })

  test('are kept until the last of their claims expires', async () => {
    const log = await openLog()
    const claim = claimIn(await claimOf(log, u(1), { key: 'long' }))
    const [marked] = await Promise.all([log.markDispatched(claim, now() + 3_600), claimOf(log, u(2), { key: 'short' })])
    expect(marked).toBe(true)
    await claimOf(log, u(5), { key: 'in a newer group' })
    temporary.clock.advance(3_599)
    await temporary.store.upkeep.sweep()
    expect(claimIn(await claimOf(log, u(3), { key: 'long' })).uuid).toBe(u(1))
    expect(claimIn(await claimOf(log, u(4), { key: 'short' })).uuid).toBe(u(4))
  })

  test('are all deleted by one sweep', async () => {
    const table = createClaimGroupTable(databaseScope(temporary.store.database, temporary.clock))
    for (let index = 0; index < 1_100; index++) {
      await table.append({ firstNumber: index, claims: new Uint8Array(64) }, START_SECONDS + 1)
    }
    temporary.clock.advance(1)
    await temporary.store.upkeep.sweep()
    expect(await groups()).toEqual([{ first_number: 1_099 }])
  })
})

test('a clock that is set ahead does not free a key whose signature may be usable', async () => {
  const log = await openLoggedClaims({
    database: temporary.store.database,
    clock: temporary.clock,
    node: 'this',
    usableSeconds: 200,
  })
  const first = claimIn(await claimOf(log, u(1)))
  temporary.clock.step(KEPT_SECONDS)
  // The process forgets positions once per minute.
  temporary.clock.advance(60)
  await log.release({ ...first, idempotencyKey: 'unknown' })
  expect(await log.markDispatched(first, 0)).toBe(true)
  await claimOf(log, u(2), { key: 'newest' })
  await temporary.store.upkeep.sweep()
  expect(claimIn(await claimOf(log, u(4))).uuid).toBe(u(1))
  temporary.clock.advance(KEPT_SECONDS)
  expect(claimIn(await claimOf(log, u(5))).uuid).toBe(u(5))
})

test('claims with outcomes in another decision log remain in flight until they expire', async () => {
  await claimOf(await openLog(), u(1), { key: 'restored' })
  // A process that does not attest makes no changes.
  await logOf(temporary.nodes[1], null)
  expect(await temporary.store.deployment.read('claim_log_owner')).toBe('0 this')
  for (const store of temporary.nodes) {
    const log = await logOf(store, 'restored')
    temporary.clock.advance(CLAIM_SECONDS)
    const kept = { outcome: 'in-flight', expiresAtSeconds: START_SECONDS + KEPT_SECONDS }
    expect(await claimOf(log, u(2), { key: 'restored' })).toMatchObject(kept)
    const key = `own of ${store === temporary.store}`
    await claimOf(log, u(3), { key })
    temporary.clock.advance(CLAIM_SECONDS)
    expect((await claimOf(log, u(4), { key })).outcome).toBe('taken-over')
  }
  temporary.clock.advance(KEPT_SECONDS)
  const later = await logOf(temporary.store, 'restored')
  expect((await claimOf(later, u(5), { key: 'restored' })).outcome).toBe('claimed')
})

describe('at the first start after an upgrade', () => {
  test('more claims than the queue holds are migrated', async () => {
    await temporary.store.database.execute(
      `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10999)
       INSERT INTO idempotency (organization_id, key_id, idempotency_key, body_hash, uuid, claim_expires_at_seconds,
         keep_until_seconds)
       SELECT ?, 'key', 'old ' || n, ?, '00000000-0000-4000-8000-' || printf('%012d', n), ?, ? FROM numbers`,
      [organizationId, bodyHash('body'), START_SECONDS + 30, START_SECONDS + 300],
    )
    const log = await openLog()
    temporary.clock.advance(30)
    for (const number of [0, 10_999]) {
      expect(claimIn(await claimOf(log, u(20_000), { key: `old ${number}` })).uuid).toBe(u(number))
    }
  })

  test('rows of attestations that have not expired are migrated, answered or not, and rows of sessions are not', async () => {
    const table = temporary.store.idempotency
    const answered = claimIn(await claimOf(table, u(1), { key: 'answered' }))
    await table.complete(answered, { status: 200, body: '{}' }, START_SECONDS + 300)
    temporary.clock.advance(10)
    const cutOff = claimIn(await claimOf(table, u(2), { key: 'cut off' }))
    const session = '01890000-0000-7000-8000-000000000000'
    await claimOf(table, session, { key: 'session' })
    const log = await openLog()
    expect(await claimOf(log, u(3), { key: 'cut off' })).toEqual({
      outcome: 'in-flight',
      expiresAtSeconds: START_SECONDS + 10 + CLAIM_SECONDS,
      earlier: { uuid: cutOff.uuid, uuidSinceSeconds: START_SECONDS + 10 },
    })
    expect((await claimOf(log, u(4), { key: 'session' })).outcome).toBe('claimed')
    temporary.clock.advance(289)
    expect(await claimOf(log, u(5), { key: 'answered', body: 'other' })).toEqual({ outcome: 'mismatch' })
    const again = await claimOf(log, u(6), { key: 'answered' })
    expect(again).toMatchObject({ outcome: 'taken-over', uuidSinceSeconds: START_SECONDS })
    expect(claimIn(again).uuid).toBe(u(1))
    // The older version ran again and claimed, as did another node of a deployment that was moved to SQLite.
    await claimOf(table, u(7), { key: 'late' })
    const elsewhere = { node: 'other', usableSeconds: 900, keepSeconds: 300 }
    const at = now() + CLAIM_SECONDS
    const signed = claimIn(await table.claim(organizationId, 'key', 'moved', bodyHash('body'), u(9), at, elsewhere))
    await table.markDispatched(signed, 0)
    const here = { ...elsewhere, node: 'this' }
    const own = claimIn(await table.claim(organizationId, 'key', 'own', bodyHash('body'), u(11), at, here))
    await table.markDispatched(own, 0)
    await table.claim(organizationId, 'key', 'not signed', bodyHash('body'), u(10), at, elsewhere)
    const next = await logOf(temporary.nodes[1])
    expect((await claimOf(next, u(8), { key: 'late' })).outcome).toBe('in-flight')
    temporary.clock.advance(CLAIM_SECONDS + 299)
    expect((await claimOf(next, u(8), { key: 'moved' })).outcome).toBe('in-flight')
    expect(claimIn(await claimOf(next, u(8), { key: 'own' })).uuid).toBe(u(11))
    expect((await claimOf(next, u(8), { key: 'not signed' })).outcome).toBe('claimed')
  })

  test('answers of another node of a deployment that was moved to SQLite are repeated', async () => {
    const table = temporary.store.idempotency
    const elsewhere = { node: 'other', usableSeconds: 900, keepSeconds: 300 }
    const at = now() + CLAIM_SECONDS
    const answered = claimIn(await table.claim(organizationId, 'key', 'moved', bodyHash('body'), u(1), at, elsewhere))
    await table.markDispatched(answered, 0)
    const response = { status: 200, body: '{"is_compliant":true}' }
    await table.complete(answered, response, START_SECONDS + 300)
    const logs = await openBoth()
    for (const log of logs) {
      const moved = (body = 'body') => claimOf(log, u(2), { key: 'moved', body })
      expect(await moved()).toEqual({ outcome: 'completed', uuid: u(1), response })
      expect(await moved('other')).toEqual({ outcome: 'mismatch' })
    }
    temporary.clock.advance(300)
    const log = logs[0]!
    expect((await claimOf(log, u(2), { key: 'moved' })).outcome).toBe('claimed')
    // The row still exists.
    expect((await claimOf(log, u(3), { key: 'moved' })).outcome).toBe('in-flight')
  })
})

test('ten thousand waiting claims of one organization delay another organization by at most two commits', async () => {
  const log = await logOf(temporary.store)
  const other = (await temporary.store.organizations.create({ slug: 'other', name: 'Other' })).id
  let claimed = 0
  const flood = Array.from({ length: 10_000 }, async (_, index) => {
    await claimOf(log, u(index), { key: `${index}` })
    claimed += 1
  })
  expect(log.backlogMs(organizationId)).toBeNull()
  expect(log.backlogMs(other)).toBe(0)
  const { outcome } = await log.claim(other, 'key', 'retry', bodyHash('body'), u(10_000), now() + CLAIM_SECONDS, PLACE)
  expect(outcome).toBe('claimed')
  expect(claimed).toBeLessThan(600)
  await Promise.all(flood)
})
