// The end of the store's periodic work, before the store is closed.
import { expect, test } from 'bun:test'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import { createUpkeep } from '../../src/store/upkeep.ts'
import { until } from '../support/until.ts'
import { openTemporaryStore } from './temporary-store.ts'

test('waits for work in progress, and writes the last uses', async () => {
  const { store, clock, remove } = await openTemporaryStore()
  try {
    const sweep = Promise.withResolvers<number>()
    const order: string[] = []
    const upkeep = createUpkeep({
      scope: databaseScope(store.database, clock),
      lastUsed: { write: async () => void order.push('uses') },
      answerLatencies: { add: async () => undefined },
      tables: [
        {
          sweep: async () => {
            order.push('sweep begins')
            const count = await sweep.promise
            order.push('sweep ends')
            return count
          },
        },
      ],
    })
    upkeep.start({
      takeUses: () => new Map(),
      onError: (error) => void order.push(String(error)),
      flushIntervalMs: 60_000,
      sweepIntervalMs: 1,
    })
    await until(() => order.length > 0)
    const stopped = upkeep.stop()
    sweep.resolve(0)
    await stopped
    expect(order).toEqual(['sweep begins', 'sweep ends', 'uses'])
  } finally {
    await remove()
  }
})
