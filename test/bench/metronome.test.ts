// The metronome: beats come, none before the time, and none once it was stopped.
import { expect, test } from 'bun:test'
import { startMetronome } from '../../bench/load/metronome.ts'

test('calls back at once, then beat by beat', async () => {
  const reached = Promise.withResolvers<void>()
  const startMs = performance.now()
  let beats = -1
  const stop = startMetronome(startMs, 2, () => {
    beats++
    if (beats === 10) reached.resolve()
  })
  await reached.promise
  const tookMs = performance.now() - startMs
  stop()
  // A beat that comes late is one beat; ten of them take ten intervals or more.
  expect(tookMs).toBeGreaterThan(2 * 10 - 1)
})

test('is silent once it was stopped', async () => {
  const started = Promise.withResolvers<void>()
  let stopped = false
  let after = 0
  const stop = startMetronome(performance.now(), 1, () => {
    if (stopped) after++
    else started.resolve()
  })
  await started.promise
  stop()
  stopped = true
  const other = Promise.withResolvers<void>()
  let beats = 0
  const stopOther = startMetronome(performance.now(), 1, () => {
    if (++beats === 5) other.resolve()
  })
  await other.promise
  stopOther()
  expect(after).toBe(0)
})
