// Claims of a claim log after the deployment was moved to PostgreSQL.
import { beforeEach, expect, test } from 'bun:test'
import { type ClaimEntry, digestOf, entryBytes } from '../../../src/store/claim-log/entry.ts'
import { withMovedClaims } from '../../../src/store/claim-log/moved.ts'
import type { ClaimResult, IdempotencyTable } from '../../../src/store/idempotency.ts'
import { u } from '../../support/numbered-uuid.ts'
import { describeStores } from '../dialects.ts'
import { storeOfTest } from '../store-of-test.ts'
import { START_SECONDS } from '../temporary-store.ts'

const CLAIM_SECONDS = 30
const bodyHash = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string

  beforeEach(async () => {
    organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  })

  const opened = () =>
    withMovedClaims(temporary.store.idempotency, { database: temporary.store.database, clock: temporary.clock })
  const claim = (
    table: IdempotencyTable,
    idempotencyKey: string,
    uuid: string,
    { body = 'body', node = 'one' } = {},
  ): Promise<ClaimResult> => {
    const until = temporary.clock.unixSeconds() + CLAIM_SECONDS
    const place = { node, usableSeconds: 300, keepSeconds: 600 }
    return table.claim(organizationId, 'key', idempotencyKey, bodyHash(body), uuid, until, place)
  }
  /** An entry of the SQLite log, claimed in the first second. */
  const entryOf = (idempotencyKey: string, number: number, changes: Partial<ClaimEntry> = {}): ClaimEntry => ({
    digest: digestOf({ organizationId, keyId: 'key', idempotencyKey }),
    bodyHash: bodyHash('body'),
    uuid: u(number),
    claimExpiresAtSeconds: START_SECONDS + CLAIM_SECONDS,
    keepUntilSeconds: START_SECONDS + 600,
    uuidSinceSeconds: START_SECONDS,
    released: false,
    ...changes,
  })
  const copied = async (...entries: readonly ClaimEntry[]): Promise<void> => {
    await temporary.store.deployment.replace('claim_log_owner', '7 one')
    const claims = entryBytes(entries.map((entry) => ({ ...entry, replaces: 0 })))
    await temporary.store.claimGroups.append({ firstNumber: 7, claims }, START_SECONDS + 600)
  }

  test('the table is not wrapped if no log was copied', async () => {
    expect(await opened()).toBe(temporary.store.idempotency)
  })

  test('a retry of a request from before the move has the same outcome', async () => {
    await copied(entryOf('other', 1), entryOf('pay', 2), entryOf('old', 3, { keepUntilSeconds: START_SECONDS + 40 }))
    const table = await opened()
    expect(await claim(table, 'pay', u(10))).toEqual({
      outcome: 'in-flight',
      expiresAtSeconds: START_SECONDS + CLAIM_SECONDS,
      earlier: { uuid: u(2), uuidSinceSeconds: START_SECONDS },
    })
    expect(await claim(table, 'pay', u(10), { body: 'other body' })).toEqual({ outcome: 'mismatch' })
    expect(await claim(table, 'other', u(11), { body: 'other body' })).toEqual({ outcome: 'mismatch' })
    expect((await claim(table, 'new', u(12))).outcome).toBe('claimed')
    temporary.clock.advance(40)
    expect(await claim(table, 'pay', u(13))).toMatchObject({ outcome: 'taken-over', claim: { uuid: u(2) } })
    expect(await claim(table, 'old', u(14))).toMatchObject({ outcome: 'claimed', claim: { uuid: u(14) } })
  })

  test('the newest entry counts, a released key is free, and an existing row is kept', async () => {
    await copied(
      entryOf('changed', 1),
      entryOf('free', 2),
      entryOf('changed', 3),
      entryOf('free', 2, { released: true }),
      entryOf('here', 4),
    )
    expect((await claim(temporary.store.idempotency, 'here', u(20))).outcome).toBe('claimed')
    const table = await opened()
    expect(await claim(table, 'changed', u(21))).toMatchObject({ earlier: { uuid: u(3) } })
    expect(await claim(table, 'free', u(22))).toMatchObject({ outcome: 'claimed', claim: { uuid: u(22) } })
    expect(await claim(table, 'here', u(23))).toMatchObject({ outcome: 'in-flight' })
    expect(await temporary.store.idempotency.listKept()).toMatchObject([{ uuid: u(3) }])
  })

  test('another node claims a key only after its signature is unusable, with a new uuid', async () => {
    await copied(entryOf('pay', 1), entryOf('lost', 2), entryOf('lost', 3))
    await temporary.store.deployment.replace('claim_log_owner', '8 one')
    const table = await opened()
    const elsewhere = (key: string, number: number, node = 'two') => claim(table, key, u(number), { node })
    temporary.clock.advance(CLAIM_SECONDS + 299)
    expect(await elsewhere('lost', 10)).toMatchObject({ outcome: 'in-flight' })
    // No known log has the claims from before the owner's.
    for (const node of ['one', 'two']) expect(await elsewhere('pay', 11, node)).toMatchObject({ outcome: 'in-flight' })
    expect(await elsewhere('lost', 12, 'one')).toMatchObject({ outcome: 'taken-over', claim: { uuid: u(3) } })
    temporary.clock.advance(1)
    expect(await elsewhere('pay', 13)).toMatchObject({ outcome: 'claimed', claim: { uuid: u(13) } })
  })
})
