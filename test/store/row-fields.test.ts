// Rows and items have the same names in two spellings, and a row that was read with more columns hands on only those asked.
import { describe, expect, test } from 'bun:test'
import type { Transaction } from '../../src/store/database.ts'
import { fieldsOf, insertRow, pickFields, type RowOf } from '../../src/store/row-fields.ts'

interface Item {
  readonly id: string
  readonly createdAtSeconds: number
  readonly sha256: string
  readonly lastUsedAtSeconds: number | null
}

const ROW: RowOf<Item> = { id: 'a', created_at_seconds: 1, sha256: 'ff', last_used_at_seconds: null }
const ITEM: Item = { id: 'a', createdAtSeconds: 1, sha256: 'ff', lastUsedAtSeconds: null }

describe('the fields of a row', () => {
  test('are its columns by their other names', () => {
    const item: Item = fieldsOf(ROW)
    expect(item).toEqual(ITEM)
  })

  test('are only the named ones where the row has more', () => {
    const { id, sha256 }: Pick<Item, 'id' | 'sha256'> = pickFields(ROW, ['id', 'sha256'])
    expect({ id, sha256 }).toEqual({ id: 'a', sha256: 'ff' })
    expect(Object.keys(pickFields({ ...ROW, password_hash: 'secret' }, ['id']))).toEqual(['id'])
  })
})

test('an item is inserted with its fields as columns, and its values as parameters', async () => {
  const seen: unknown[] = []
  const transaction = { execute: async (...call: unknown[]) => seen.push(...call) } as Partial<Transaction>
  await insertRow(transaction as Transaction, 'items', ITEM)
  const sql = 'INSERT INTO items (id, created_at_seconds, sha256, last_used_at_seconds) VALUES (?, ?, ?, ?)'
  expect(seen).toEqual([sql, ['a', 1, 'ff', null]])
})

test('a field whose name is no column’s becomes part of no statement', async () => {
  const seen: unknown[] = []
  const transaction = { execute: async (...call: unknown[]) => seen.push(...call) } as Partial<Transaction>
  const hostile = { id: 'a', ['x) VALUES (1); DROP TABLE items; --']: 'b' }
  await expect(insertRow(transaction as Transaction, 'items', hostile)).rejects.toThrow(TypeError)
  expect(seen).toEqual([])
})
