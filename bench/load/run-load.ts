// Runs one load plan: connect, warm up, measure, drain, verify.

import { cpuBetween, processCpuTime } from '../cpu.ts'
import { createAnswerInspector } from './answers.ts'
import { createConnectionPool } from './connections.ts'
import { createClosedLoop, createOpenLoop, type LoadLoop } from './loops.ts'
import { startMetronome } from './metronome.ts'
import type { LoadPlan, LoadReport } from './plan.ts'
import { createRecorder } from './recorder.ts'
import { prepareRequests } from './requests.ts'
import { createSchedule } from './schedule.ts'

const DRAIN_CHECK_MS = 5

const ownCpuMicroseconds = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Never returns early, although a timer may fire up to a millisecond early. */
const sleepUntil = async (timeMs: number): Promise<void> => {
  for (let leftMs = timeMs - performance.now(); leftMs > 0; leftMs = timeMs - performance.now()) await Bun.sleep(leftMs)
}

/** Returns the duration in milliseconds. */
const drain = async (loop: LoadLoop, drainMs: number): Promise<number> => {
  const beganMs = performance.now()
  while (loop.outstanding() > 0 && performance.now() < beganMs + drainMs) await Bun.sleep(DRAIN_CHECK_MS)
  const endedMs = performance.now()
  loop.abandon(endedMs)
  return endedMs - beganMs
}

/**
 * Runs the plan in this process.
 * @throws Error if the server can't be reached, or if no request of the window was answered
 */
export const runLoad = async (plan: LoadPlan): Promise<LoadReport> => {
  const url = new URL(plan.url)
  const { bytes, bodies, stamp } = prepareRequests(url, plan.headers, plan.bodies)
  const inspector = createAnswerInspector(plan.answers, bodies)
  const recorder = createRecorder(plan.shape.mode === 'open' ? 'due' : 'answer')
  const common = {
    connections: plan.shape.connections,
    requests: bytes,
    stamp,
    recorder,
    inspect: inspector.inspect,
  }
  const startMs = performance.now()
  // The schedule starts when the connections are open, because opening them is not the server's latency.
  const leadMs = plan.shape.mode === 'open' ? 100 : 0
  const scheduleStartMs = startMs + leadMs - (plan.overdueMs ?? 0)
  const opensMs = scheduleStartMs + plan.warmupMs
  const closesMs = opensMs + plan.durationMs
  const loop =
    plan.shape.mode === 'open'
      ? createOpenLoop({
          ...common,
          schedule: createSchedule(plan.shape.ratePerSecond, scheduleStartMs, closesMs),
          beganMs: startMs + leadMs,
          queueLimit: plan.shape.queueLimit,
        })
      : createClosedLoop(common)
  const pool = createConnectionPool(url, plan.shape.connections, loop)

  const edge = () => ({
    nowMs: performance.now(),
    completed: recorder.completions(),
    server: plan.observePid === null ? null : processCpuTime(plan.observePid),
    own: ownCpuMicroseconds(),
  })
  let stopTicking = (): void => undefined
  try {
    await pool.open()
    if (plan.shape.mode === 'open') {
      // The window opens on schedule, not when this process wakes up.
      recorder.open(opensMs)
      recorder.close(closesMs)
      stopTicking = startMetronome(startMs + leadMs, 1_000 / plan.shape.ratePerSecond, () =>
        loop.tick(performance.now()),
      )
    }
    await sleepUntil(opensMs)
    const opened = edge()
    if (plan.shape.mode === 'closed') recorder.open(opened.nowMs)
    await sleepUntil(closesMs)
    const closed = edge()
    if (plan.shape.mode === 'closed') recorder.close(closed.nowMs)
    loop.tick(closed.nowMs)
    loop.stop()
    stopTicking()
    const drainedMs = await drain(loop, plan.drainMs)

    const counted = recorder.report()
    const completed = closed.completed - opened.completed
    const windowMs = closed.nowMs - opened.nowMs
    if (Object.keys(counted.statuses).length === 0) {
      throw new Error(
        `${plan.name}: nothing was answered within ${Math.round(windowMs)} ms (${pool.firstProblem() ?? 'no connection failed'})`,
      )
    }
    return {
      name: plan.name,
      shape: plan.shape,
      windowMs,
      completed,
      throughputPerSecond: (counted.outcomes.answered * 1000) / windowMs,
      statuses: counted.statuses,
      failures: counted.failures,
      outcomes: counted.outcomes,
      latencyMs: counted.latencyMs,
      refusalLatencyMs: counted.refusalLatencyMs,
      generatorDelayMs: plan.shape.mode === 'open' ? counted.generatorDelayMs : null,
      drainedMs,
      serverCpu: cpuBetween(opened.server, closed.server),
      generatorCpuMicroseconds: closed.own - opened.own,
      answers: await inspector.finish(),
    }
  } finally {
    stopTicking()
    pool.close()
  }
}
