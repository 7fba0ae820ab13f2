// The sweep deletes files of erased evidence soon, and files without a row late.
import { expect, test } from 'bun:test'
import { createRetentionSweep } from '../../../src/identity/evidence/retention-sweep.ts'
import { systemClock } from '../../../src/lib/time.ts'

const [HOUR, DAY, NOW] = [3_600, 86_400, 1_000 * 86_400]

test.each([
  ['in-use', 1_000 * DAY, false],
  ['erased', HOUR - 1, false],
  ['erased', HOUR, true],
  // The database may be an older copy.
  [null, 30 * DAY - 1, false],
  [null, 30 * DAY, true],
] as const)('a file whose row is %p, after %d seconds: deleted %p', async (state, ageSeconds, isDeleted) => {
  const removed: string[] = []
  const sweep = createRetentionSweep({
    store: { listExpired: async () => [], findFile: async () => state },
    erase: async () => undefined,
    files: {
      async *list() {
        yield { name: 'file', modifiedAtSeconds: NOW - ageSeconds }
      },
      remove: async (name) => void removed.push(name),
    },
    clock: { ...systemClock, unixSeconds: () => NOW },
    requireSteadyClock: () => undefined,
  })
  expect([(await sweep()).files, removed]).toEqual(isDeleted ? [1, ['file']] : [0, []])
})
