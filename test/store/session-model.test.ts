// Compares sessions with their model. `bun test/long/rounds.ts sessions` compares any number of steps.
import { expect, test } from 'bun:test'
import { words } from '../support/words.ts'
import { compareWithModel } from './compare-sessions.ts'
import { describeStores } from './dialects.ts'

describeStores((openTemporaryStore, dialect) => {
  test('a session equals its model after random operations, one or two at once', async () => {
    const { store, remove } = await openTemporaryStore()
    try {
      const counts = await compareWithModel(store, { seed: 26, steps: dialect === 'SQLite' ? 500 : 150 })
      // On PostgreSQL, the order of simultaneous operations is random.
      if (dialect === 'PostgreSQL') return
      const refusals = words`SessionChanged ChecksPending HitOpen HitConfirmed EvidenceErased RetriesExhausted`
      const changes = refusals.map((name) => `change-status ${name}Error`)
      const reached = [...changes, 'add-document PartNotRequestedError', 'connect done', 'change-status done']
      expect(reached.filter((outcome) => !counts.has(outcome))).toEqual([])
    } finally {
      await remove()
    }
  })
})
