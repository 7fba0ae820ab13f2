// Sends as many requests as the connections can carry, with the generator's connections, loop and recorder.
import { createConnectionPool } from '../load/connections.ts'
import { createClosedLoop } from '../load/loops.ts'
import { createRecorder } from '../load/recorder.ts'
import { requestBytes } from '../load/requests.ts'
import type { RequestLoad, RequestReport } from './plan.ts'

const DRAIN_MS = 5_000

/** @throws Error if the server can't be reached, or if no request was answered */
export const runRequestLoad = async (plan: RequestLoad): Promise<RequestReport> => {
  const url = new URL(plan.url)
  const recorder = createRecorder('answer')
  const loop = createClosedLoop({
    connections: plan.connections,
    requests: plan.requests.map((request) => requestBytes(url, request)),
    recorder,
    inspect: () => true,
  })
  const pool = createConnectionPool(url, plan.connections, loop)
  try {
    await pool.open()
    await Bun.sleep(plan.warmupMs)
    const openedMs = performance.now()
    const before = recorder.completions()
    recorder.open(openedMs)
    await Bun.sleep(plan.durationMs)
    const closedMs = performance.now()
    recorder.close(closedMs)
    const completed = recorder.completions() - before
    loop.stop()
    const giveUpMs = performance.now() + DRAIN_MS
    while (loop.outstanding() > 0 && performance.now() < giveUpMs) await Bun.sleep(5)
    loop.abandon(performance.now())
    if (completed === 0) throw new Error(`nothing was answered (${pool.firstProblem() ?? 'no connection failed'})`)
    const { statuses, failures, latencyMs, outcomes } = recorder.report()
    return {
      type: 'requests',
      throughputPerSecond: (outcomes.answered * 1000) / (closedMs - openedMs),
      statuses,
      failures,
      latencyMs,
    }
  } finally {
    pool.close()
  }
}
