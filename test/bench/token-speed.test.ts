// The table of signature rates in docs/hardware-keys.md.
import { expect, test } from 'bun:test'
import { renderTokenSpeed } from '../../bench/token-speed.ts'

test('each key has the median, slowest and fastest of its rounds', () => {
  const speed = { kind: 'ed25519', signatures: [3_000, 2_000.4, 2_500], token: [1, 2, 3], keystore: [9, 9, 9] } as const
  expect(renderTokenSpeed([speed], 'Here.').split('\n').at(-1)).toBe(
    '| Ed25519 | 2,500 (2,000 to 3,000) | 2 (1 to 3) | 9 (9 to 9) |',
  )
})
