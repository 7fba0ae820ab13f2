// The types that the pages are written against are those of the API that is served.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { API_TYPES, apiTypes, unformatted } from './support/api-types.ts'

test('the types of the API client are current', () => {
  const current = unformatted(readFileSync(API_TYPES, 'utf8')) === unformatted(apiTypes())
  // A boolean, so that a failure does not print two thousand lines.
  expect({ current, otherwise: 'bun test/dashboard/support/write-api-types.ts' }).toMatchObject({ current: true })
})
