// Sessions against their model. `bun test/long/rounds.ts sessions` compares as many steps as are wanted.
import { expect, test } from 'bun:test'
import { compareWithModel } from './compare-sessions.ts'
import { describeStores } from './dialects.ts'

describeStores((openTemporaryStore, dialect) => {
  test('a session is what a model says, whatever is done to it, also at once', async () => {
    const { store, remove } = await openTemporaryStore()
    try {
      const counts = await compareWithModel(store, { seed: 26, steps: dialect === 'SQLite' ? 500 : 150 })
      // Over PostgreSQL, which of two operations comes first differs from run to run.
      if (dialect === 'PostgreSQL') return
      const refusals = [
        'SessionChanged',
        'ChecksPending',
        'HitOpen',
        'HitConfirmed',
        'EvidenceErased',
        'RetriesExhausted',
      ]
      const reached = [
        ...refusals.map((name) => `move ${name}Error`),
        'give PartNotRequestedError',
        'connect done',
        'move done',
      ]
      expect(reached.filter((what) => !counts.has(what))).toEqual([])
    } finally {
      await remove()
    }
  })
})
