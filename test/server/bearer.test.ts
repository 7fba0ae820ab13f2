// The bearer token of an Authorization header (RFC 6750).
import { expect, test } from 'bun:test'
import { parseBearer } from '../../src/server/bearer.ts'

test.each(['Bearer', 'bearer', 'BEARER'])('a token follows the scheme %s', (scheme) =>
  expect(parseBearer(`${scheme} csi_live_x`)).toBe('csi_live_x'),
)

test.each([
  '',
  'Bearer',
  'Bearer ',
  'Bearer  x',
  'Bearer\tx',
  ' Bearer x',
  'Bearer x y',
  'Bearer x, Bearer y',
  'Bearer x,y',
  'Basic dXNlcjpwYXNz',
  'csi_live_x',
  'Bearerxyz',
  'Bearer é',
  `Bearer ${'x'.repeat(600)}`,
  null,
])('%p has no token', (header) => expect(parseBearer(header)).toBeNull())
