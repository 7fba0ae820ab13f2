import { expect, test } from 'bun:test'
import { parseBearer } from '../../src/server/bearer.ts'

test('a token after the scheme, in any case', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) expect(parseBearer(`${scheme} csi_live_x`)).toBe('csi_live_x')
})

test.each([
  null,
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
])('%p has none', (header) => {
  expect(parseBearer(header)).toBeNull()
})
