// Changes sessions at a fixed rate, follows each with a stream, and measures the time from a change's due time until
// its event arrives.
import { createConnectionPool } from '../load/connections.ts'
import { createLatencyHistogram } from '../load/histogram.ts'
import type { Connection, LoadLoop } from '../load/loops.ts'
import { requestBytes } from '../load/requests.ts'
import { createSchedule } from '../load/schedule.ts'
import type { ChangeOrder, ChangeReport, FollowOrder } from './plan.ts'
import { createStreamSet, type FollowedSession } from './streams.ts'

/** Statuses of each session, in order: the sandbox supports each of these transitions. */
const OUTCOMES = ['retry', 'completed', 'retry', 'completed', 'retry', 'completed', 'retry', 'completed'] as const
const CONNECTIONS = 32
/** Maximum wait for the events of the last changes. */
const DRAIN_MS = 5_000
const SETTLE_CHECK_MS = 5
const TICK_MS = 1

export const walletAt = (run: string, index: number): string =>
  `0x${new Bun.CryptoHasher('sha256').update(`${run} ${index}`).digest('hex').slice(0, 40)}`

const TRIES = 10
const ANSWER_LIMIT_MS = 10_000

type Service = Pick<FollowOrder, 'url' | 'key'>

const registerPlan = (key: string, wallet: string, outcome: string | null) => ({
  method: 'POST' as const,
  path: '/api/v1/register/individual?size=80',
  headers: {
    authorization: `Bearer ${key}`,
    ...(outcome === null ? {} : { 'countersign-sandbox-outcome': outcome }),
  },
  body: JSON.stringify({ walletAddress: wallet }),
})

const register = async ({ url, key }: Service, wallet: string): Promise<FollowedSession> => {
  const { method, path, headers, body } = registerPlan(key, wallet, null)
  const send = () =>
    fetch(url + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
  let response = await send()
  // The service is filled as fast as possible, so it may refuse some requests.
  for (let tries = 1; response.status === 503 && tries < TRIES; tries++) {
    await Bun.sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000)
    response = await send()
  }
  if (response.status !== 201)
    throw new Error(`a session was answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  const { sessionId } = (await response.json()) as { readonly sessionId: string }
  return { wallet, sessionId }
}

export interface FollowedSessions {
  /** Returns the number of followed sessions. @throws Error if a session can't be created, or no stream opens */
  follow(order: Pick<FollowOrder, 'streams' | 'limitMs'>): Promise<number>
  change(order: ChangeOrder): Promise<ChangeReport>
  close(): void
}

export const createFollowedSessions = (
  order: Service,
  nowMs: () => number = () => performance.now(),
): FollowedSessions => {
  const url = new URL(order.url)
  const run = crypto.randomUUID()
  const sessions: FollowedSession[] = []
  const made: number[] = []
  const waiting = new Map<number, { readonly status: string; readonly dueMs: number }>()
  let delivered: (dueMs: number, nowMs: number) => void = () => undefined
  const streams = createStreamSet(order, (index, status, nowMs) => {
    const expected = waiting.get(index)
    if (expected === undefined || expected.status !== status) return
    waiting.delete(index)
    delivered(expected.dueMs, nowMs)
  })
  let place = 0

  const follow: FollowedSessions['follow'] = async ({ streams: count, limitMs }) => {
    const start = sessions.length
    const giveUpMs = nowMs() + limitMs
    let next = start
    const worker = async (): Promise<void> => {
      while (next < start + count && nowMs() < giveUpMs) {
        const index = next++
        sessions[index] = await register(order, walletAt(run, index))
        made[index] = 0
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, worker))
    await streams.open(sessions, start)
    return sessions.length
  }

  const change = async ({ ratePerSecond, warmupMs, durationMs }: ChangeOrder): Promise<ChangeReport> => {
    const delivery = createLatencyHistogram()
    const answers = createLatencyHistogram()
    const late = createLatencyHistogram()
    const problems = new Map<string, number>()
    const problem = (text: string): void => void problems.set(text, (problems.get(text) ?? 0) + 1)
    const startMs = performance.now() + 100
    const opensMs = startMs + warmupMs
    const closesMs = opensMs + durationMs
    const schedule = createSchedule(ratePerSecond, startMs, closesMs)
    const within = (dueMs: number): boolean => dueMs >= opensMs && dueMs < closesMs
    delivered = (dueMs, nowMs) => {
      if (within(dueMs)) delivery.recordMs(nowMs - dueMs)
    }
    const idle: Connection[] = []
    const due: number[] = []
    const under = new Map<number, { readonly index: number; readonly dueMs: number }>()
    let acknowledged = 0

    const send = (connection: Connection, dueMs: number): void => {
      const index = place
      place = (place + 1) % sessions.length
      const outcome = OUTCOMES[made[index]!]
      if (outcome === undefined) {
        problem('the sessions have no changes left: use more streams')
        return
      }
      made[index] = made[index]! + 1
      if (waiting.has(index)) problem('a change came before the event of the one before it')
      waiting.set(index, { status: outcome, dueMs })
      under.set(connection.id, { index, dueMs })
      connection.send(requestBytes(url, registerPlan(order.key, sessions[index]!.wallet, outcome)))
    }
    const free = (connection: Connection): void => {
      const dueMs = due.shift()
      if (dueMs === undefined) idle.push(connection)
      else send(connection, dueMs)
    }
    const loop: LoadLoop = {
      ready: free,
      answered: (connection, nowMs, { status }) => {
        const sent = under.get(connection.id)
        under.delete(connection.id)
        if (sent !== undefined && status !== 200) problem(`a change was answered ${status}`)
        if (sent !== undefined && status === 200 && within(sent.dueMs)) {
          acknowledged += 1
          answers.recordMs(nowMs - sent.dueMs)
        }
        free(connection)
      },
      lost: () => problem('a connection was lost'),
      tick: (nowMs) => {
        for (const until = schedule.dueBy(nowMs); taken < until; taken++) {
          const dueMs = schedule.dueMs(taken)
          if (within(dueMs)) late.recordMs(nowMs - dueMs)
          const connection = idle.shift()
          if (connection === undefined) due.push(dueMs)
          else send(connection, dueMs)
        }
      },
      stop: () => undefined,
      outstanding: () => under.size + due.length,
      abandon: () => undefined,
    }
    let taken = 0
    const pool = createConnectionPool(url, CONNECTIONS, loop)
    try {
      await pool.open()
      // Check once a millisecond instead of continuously, so that this process leaves the cores to the server.
      while (performance.now() < closesMs) {
        loop.tick(performance.now())
        await Bun.sleep(TICK_MS)
      }
      loop.tick(performance.now())
      const giveUpMs = performance.now() + DRAIN_MS
      while ((loop.outstanding() > 0 || waiting.size > 0) && performance.now() < giveUpMs)
        await Bun.sleep(SETTLE_CHECK_MS)
      const undelivered = waiting.size
      waiting.clear()
      if (streams.lost() > 0) problem(`${streams.lost()} streams were lost`)
      return {
        type: 'change',
        changesPerSecond: (acknowledged * 1000) / durationMs,
        deliveryMs: delivery.summary(),
        answerMs: answers.summary(),
        generatorDelayMs: late.summary(),
        undelivered,
        problems: [...problems].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`)),
      }
    } finally {
      pool.close()
    }
  }

  return { follow, change, close: streams.close }
}
