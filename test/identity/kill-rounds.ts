// Kills the real service during registrations and changes, restarts it over the same folder, and verifies that each
// acknowledged change exists once. The suite runs a few rounds, `bun test/long/rounds.ts kills` many.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { freePort, type RunningService, startService } from '../service/start-service.ts'

interface Acknowledged {
  /** Session id → the newest acknowledged status. */
  readonly statuses: Map<string, string>
  /** Idempotency key → session id. */
  readonly keys: Map<string, string>
}

const OUTCOMES = ['retry', 'completed', 'retry', 'completed', 'rejected'] as const
/** Concurrent requests. */
const WRITERS = 8

const callerOf =
  (service: RunningService) => async (wallet: string, idempotencyKey: string, outcome: string | null) => {
    const response = await fetch(`${service.quickstart['IDENTITY_URL']}/api/v1/register/individual?size=80`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.quickstart['IDENTITY_TEST_API_KEY']}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
        ...(outcome === null ? {} : { 'countersign-sandbox-outcome': outcome }),
      },
      body: JSON.stringify({ walletAddress: wallet }),
    })
    if (!response.ok) throw new Error(`returned ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { sessionId: string }).sessionId
  }

const walletOf = (name: string, number: number | string): string =>
  `0x${new Bun.CryptoHasher('sha256').update(`${name} ${number}`).digest('hex').slice(0, 40)}`

/** Writes until the connection breaks. The session of each wallet follows OUTCOMES. */
const write = async (service: RunningService, name: string, acknowledged: Acknowledged): Promise<void> => {
  const call = callerOf(service)
  for (let number = 0; ; number++) {
    const wallet = walletOf(name, number)
    const outcomes = [null, ...OUTCOMES.slice(0, number % (OUTCOMES.length + 1))]
    for (const [step, outcome] of outcomes.entries()) {
      const key = `${name}-${number}-${step}`
      let sessionId: string
      try {
        sessionId = await call(wallet, key, outcome)
      } catch (error) {
        if (error instanceof Error && error.message.startsWith('returned')) throw error
        return
      }
      acknowledged.keys.set(key, sessionId)
      acknowledged.statuses.set(sessionId, outcome ?? 'pending')
    }
  }
}

/**
 * Verifies the events of each session: no gaps, the status in the last event, and one `created`. Also verifies one
 * session per wallet.
 */
const check = async (dataDirectory: string, acknowledged: Acknowledged): Promise<void> => {
  const store = await openStore({ path: join(dataDirectory, 'countersign.db'), clock: systemClock })
  try {
    const integrity = await store.database.query<{ integrity_check: string }>('PRAGMA integrity_check')
    if (integrity[0]?.integrity_check !== 'ok') throw new Error('the database is damaged')
    const [organization] = await store.organizations.list()
    const organizationId = organization?.id ?? ''
    for (const [sessionId, status] of acknowledged.statuses) {
      const state = await store.sessions.find(organizationId, sessionId)
      const events = await store.sessions.listEvents(organizationId, sessionId)
      if (state === null) throw new Error(`${sessionId} was acknowledged and is missing`)
      if (!events.some((event) => event.status === status)) throw new Error(`${sessionId} never had status ${status}`)
      if (events.some(({ sequence }, index) => sequence !== index + 1)) throw new Error(`${sessionId} has a gap`)
      if (events.at(-1)?.status !== state.session.status) throw new Error(`${sessionId} differs from its last event`)
    }
    const twice = await store.database.query(
      'SELECT session_id FROM session_events WHERE kind = ? GROUP BY session_id HAVING COUNT(*) > 1',
      ['created'],
    )
    if (twice.length > 0) throw new Error('a session was created twice')
    const perWallet = await store.database.query(
      'SELECT locked_address FROM sessions GROUP BY locked_address HAVING COUNT(*) > 1',
    )
    if (perWallet.length > 0) throw new Error('a wallet has two sessions')
  } finally {
    await store.close()
  }
}

/** Verifies that a retry after the crash returns the session of the first request. */
const checkRetries = async (service: RunningService, acknowledged: Acknowledged): Promise<void> => {
  const call = callerOf(service)
  for (const [key, sessionId] of [...acknowledged.keys].slice(-5)) {
    const [name = '', number = '', step = ''] = key.split('-')
    const wallet = walletOf(name, number)
    const outcome = [null, ...OUTCOMES][Number(step)] ?? null
    if ((await call(wallet, key, outcome)) !== sessionId) throw new Error(`${key} got another session`)
  }
}

/** @returns the number of acknowledged changes. @throws Error at the first lost, duplicate or damaged change */
export const runKillRounds = async (rounds: number, report: (round: number, changes: number) => void) => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-kill-'))
  const acknowledged: Acknowledged = { statuses: new Map(), keys: new Map() }
  // One address for all rounds, because the quick-start file contains that of the first.
  const environment = { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_API_LISTEN: `127.0.0.1:${freePort()}` }
  try {
    for (let round = 1; round <= rounds; round++) {
      const service = await startService({ dataDirectory, environment })
      try {
        if (round > 1) await checkRetries(service, acknowledged)
        const before = acknowledged.keys.size
        const writing = Promise.all(
          Array.from({ length: WRITERS }, (_, writer) => write(service, `r${round}w${writer}`, acknowledged)),
        )
        // The number of changes varies, so that the kill happens at any step.
        const target = before + 20 + Math.floor(Math.random() * 200)
        while (acknowledged.keys.size < target) await new Promise((resolve) => setImmediate(resolve))
        service.process.kill('SIGKILL')
        await service.process.exited
        await writing
      } finally {
        service.process.kill('SIGKILL')
        await service.process.exited
      }
      await check(dataDirectory, acknowledged)
      report(round, acknowledged.keys.size)
    }
    return acknowledged.keys.size
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}
