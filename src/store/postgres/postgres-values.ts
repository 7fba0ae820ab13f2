// Converts `?` to $1, $2 …, binds and reads integers as 64 bits, and returns bytes as plain Uint8Arrays.

import { LRUCache } from 'lru-cache'
import { isInt64 } from '../../lib/int64.ts'
import type { SqlParameter } from '../database.ts'
import { narrowInteger, requireSafeInteger } from '../integers.ts'

export interface NumberedStatement {
  readonly text: string
  readonly parameterCount: number
}

/** Maximum cached statements, above the number of statements in the code. Bounds texts built at run time. */
const STATEMENT_CACHE_SIZE = 512
const numbered = new LRUCache<string, NumberedStatement>({ max: STATEMENT_CACHE_SIZE })

/** No literal in the store's SQL contains a question mark (database.ts). */
export const numberPlaceholders = (sql: string): NumberedStatement => {
  const known = numbered.get(sql)
  if (known !== undefined) return known
  let parameterCount = 0
  const text = sql.replaceAll('?', () => `$${++parameterCount}`)
  const statement = { text, parameterCount }
  numbered.set(sql, statement)
  return statement
}

/** @throws StoreStatementError if a number is not a safe integer; RangeError if an integer exceeds 64 bits */
export const toBinding = (parameter: SqlParameter, index: number): SqlParameter => {
  if (typeof parameter === 'number') {
    requireSafeInteger(parameter, index)
    // Always one type, so that a statement is prepared once.
    return BigInt(parameter)
  }
  if (typeof parameter === 'bigint' && !isInt64(parameter)) {
    throw new RangeError(`parameter ${index + 1} exceeds 64 bits`)
  }
  return parameter
}

export const toRows = <Row>(rows: Iterable<unknown>): Row[] => {
  const plain = Array.from(rows) as Record<string, unknown>[]
  for (const row of plain) {
    for (const column in row) {
      const value = row[column]
      if (typeof value === 'bigint') row[column] = narrowInteger(value)
      else if (Buffer.isBuffer(value)) {
        row[column] = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      }
    }
  }
  return plain as Row[]
}
