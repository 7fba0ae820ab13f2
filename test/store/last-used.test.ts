// The writer of the last uses of keys.
import { expect, test } from 'bun:test'
import type { Database, SqlParameter, Transaction } from '../../src/store/database.ts'
import { createLastUsedWriter } from '../../src/store/last-used.ts'

/** A database that records its transactions, and fails if `failing` is set. */
const createDatabase = () => {
  const written: (readonly SqlParameter[])[][] = []
  const state = { failing: false, written }
  const database: Pick<Database, 'transaction'> = {
    transaction: async (work) => {
      if (state.failing) throw new Error('locked')
      const rows: (readonly SqlParameter[])[] = []
      const transaction: Transaction = {
        kind: 'transaction',
        query: async () => [],
        execute: async (_sql, parameters = []) => {
          rows.push(parameters)
          return 1
        },
      }
      const result = await work(transaction)
      written.push(rows)
      return result
    },
  }
  return { state, database: database as Database }
}

test('no transaction is started if there are no uses', async () => {
  const { state, database } = createDatabase()
  await createLastUsedWriter(database).write(new Map())
  expect(state.written).toEqual([])
})

test('failed writes are retried with the next write, with the newer use', async () => {
  const { state, database } = createDatabase()
  const writer = createLastUsedWriter(database)
  state.failing = true
  const uses = new Map([
    ['a', 10],
    ['b', 10],
  ])
  await expect(writer.write(uses)).rejects.toThrow('locked')
  state.failing = false
  await writer.write(new Map([['b', 12]]))
  const written = [
    [10, 'a', 10],
    [12, 'b', 12],
  ]
  expect(state.written).toEqual([written])
  await writer.write(new Map())
  expect(state.written).toHaveLength(1)
})

test('many keys are written in several transactions', async () => {
  const { state, database } = createDatabase()
  await createLastUsedWriter(database).write(new Map(Array.from({ length: 450 }, (_, index) => [`key ${index}`, 1])))
  expect(state.written.map((rows) => rows.length)).toEqual([200, 200, 50])
})
