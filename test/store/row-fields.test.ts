// Columns of a row become fields of an item.
import { expect, test } from 'bun:test'
import { fieldsOf, type RowOf } from '../../src/store/row-fields.ts'

interface Item {
  readonly id: string
  readonly createdAtSeconds: number
  readonly sha256: string
  readonly lastUsedAtSeconds: number | null
}

const ROW: RowOf<Item> = { id: 'a', created_at_seconds: 1, sha256: 'ff', last_used_at_seconds: null }
const ITEM: Item = { id: 'a', createdAtSeconds: 1, sha256: 'ff', lastUsedAtSeconds: null }

test('columns in snake case become fields in camel case', () => {
  const item: Item = fieldsOf(ROW)
  expect(item).toEqual(ITEM)
})
