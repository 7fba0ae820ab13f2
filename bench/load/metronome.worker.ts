// Sleeps until the next beat and counts beats in shared memory. A separate thread, because waiting for less than a
// millisecond blocks the waiting thread.
import { BEATS, type MetronomePlan, STOPPED } from './metronome.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<MetronomePlan>) => {
  const { shared, startEpochMs, intervalMs } = data
  const words = new Int32Array(shared)
  for (let beat = 0; Atomics.load(words, STOPPED) === 0; ) {
    const elapsedMs = performance.timeOrigin + performance.now() - startEpochMs
    // Beats missed during a pause count as one: the listener catches up.
    beat = Math.max(beat + 1, Math.floor(elapsedMs / intervalMs) + 1)
    const leftMs = beat * intervalMs - elapsedMs
    if (leftMs > 0 && Atomics.wait(words, STOPPED, 0, leftMs) !== 'timed-out') break
    Atomics.add(words, BEATS, 1)
    Atomics.notify(words, BEATS)
  }
  process.exit(0)
}
