// Lookups of callers without a key while PostgreSQL does not answer: a few per network wait, further lookups are
// refused, and other networks are not affected.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { QueueFullError } from '../../src/domain/errors.ts'
import { runFor } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import { openPostgresDatabase, UNIDENTIFIED } from '../../src/store/postgres/postgres.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../support/postgres.ts'

const HASH = new Uint8Array(32)

/** Each with the table that its first statement reads. */
const LOOKUPS: readonly [string, string, (store: Store) => Promise<unknown>][] = [
  ['links of the page', 'portal_browsers', (store) => store.portalLinks.find(HASH)],
  ['browsers of the page', 'portal_browsers', (store) => store.portalLinks.findBrowser(HASH, 'session_x')],
  ['cookies of the dashboard', 'user_sessions', (store) => store.userSessions.findByToken(HASH)],
  ['links to accounts', 'user_links', (store) => store.userLinks.find(HASH)],
  ['endpoints of services', 'webhook_endpoints', (store) => store.webhookEndpoints.findDecider('x')],
]

describe.skipIf(POSTGRES_MISSING !== null)('a lookup without a key on PostgreSQL', () => {
  let temporary: TemporaryDatabase
  let store: Store

  beforeAll(async () => {
    temporary = await createTemporaryDatabase()
    store = await openStore({ target: temporary.target, clock: systemClock })
  })
  afterAll(async () => {
    await store.close()
    await temporary.remove()
  })

  test.each(LOOKUPS)('waits or is refused by network: %s', async (_, table, look) => {
    const locking = await openPostgresDatabase({ target: temporary.target, clock: systemClock })
    const locked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const lock = locking.transaction(async ({ execute }) => {
      await execute(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      locked.resolve()
      await release.promise
    })
    await locked.promise
    const lookFrom = (network: string) => runFor({ owner: '', network, signal: null }, () => look(store))
    const { ownRunning, ownWaiting } = UNIDENTIFIED
    const waiting = Array.from({ length: ownRunning + ownWaiting }, () => lookFrom('192.0.2.1'))
    const beyond = await lookFrom('192.0.2.1').catch((error: unknown) => error)
    const other = lookFrom('192.0.2.2')
    release.resolve()
    await lock
    expect(beyond).toBeInstanceOf(QueueFullError)
    expect((await Promise.all([...waiting, other])).every((found) => found === null)).toBe(true)
    expect(await look(store)).toBeNull()
    await locking.close()
  })
})
