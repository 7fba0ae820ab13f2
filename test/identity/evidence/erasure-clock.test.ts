// The time of the last erasure, which later processes compare with their clocks.
import { expect, test } from 'bun:test'
import { createEvidenceParts } from '../../../src/compose/evidence-service.ts'
import { requireErasureClock } from '../../../src/identity/evidence/erasure-clock.ts'
import { ClockAheadError, systemClock } from '../../../src/lib/time.ts'
import { describeStores } from '../../store/dialects.ts'
import { storeOfTest } from '../../store/store-of-test.ts'
import { openEvidence } from './support.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const START = 1_800_000_000

describeStores((open) => {
  const temporary = storeOfTest(open)
  const mayErase = async (seconds: number): Promise<boolean> => {
    try {
      await requireErasureClock(temporary.store.deployment, START + seconds)
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(ClockAheadError)
      return false
    }
  }
  /** Results of erasures at these times, each in its own process. */
  const inOrder = async (...times: readonly number[]): Promise<boolean[]> => {
    const results: boolean[] = []
    for (const seconds of times) results.push(await mayErase(seconds))
    return results
  }

  test('a clock that starts ahead is trusted after a day, even if processes restart', async () => {
    const ahead = 31 * DAY
    expect(await inOrder(0, ahead, ahead + 12 * HOUR, ahead + DAY - 1)).toEqual([true, false, false, false])
    expect(await inOrder(ahead + DAY, ahead + DAY + HOUR)).toEqual([true, true])
  })

  test('a corrected clock is trusted immediately, and a clock that is still ahead waits another day', async () => {
    expect(await inOrder(0, 31 * DAY, HOUR)).toEqual([true, false, true])
    expect(await inOrder(31 * DAY, 20 * DAY, 21 * DAY - 1, 21 * DAY)).toEqual([false, false, false, true])
  })

  test('each further jump restarts the day', async () => {
    expect(await inOrder(0, 31 * DAY, 33 * DAY, 34 * DAY - 1, 34 * DAY)).toEqual([true, false, false, false, true])
  })

  test('a service that stops every night erases every day, and on the second day after a weekend', async () => {
    expect(await inOrder(0, 8 * HOUR, DAY, DAY + 8 * HOUR)).toEqual([true, true, true, true])
    expect(await inOrder(4 * DAY, 4 * DAY + 8 * HOUR, 5 * DAY)).toEqual([false, false, true])
  })
})

test('the retention sweep erases no evidence while the clock is not trusted', async () => {
  const { store, keys, folder, remove } = await openEvidence()
  const parts = createEvidenceParts({ store, keys, folder, log: { info: () => undefined, warn: () => undefined } })
  try {
    expect(await parts.sweep()).toEqual({ sessions: 0, files: 0 })
    await store.deployment.replace('erasure_clock', `${systemClock.unixSeconds() - 31 * DAY}`)
    await expect(parts.sweep()).rejects.toBeInstanceOf(ClockAheadError)
  } finally {
    await parts.close()
    await remove()
  }
})
