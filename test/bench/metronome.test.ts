// The metronome of the load generator.
import { expect, test } from 'bun:test'
import { startMetronome } from '../../bench/load/metronome.ts'

test('calls back immediately and then once per interval', async () => {
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
  // A late beat counts once, so ten beats take at least ten intervals.
  expect(tookMs).toBeGreaterThan(2 * 10 - 1)
})

test('does not call back after it is stopped', async () => {
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
