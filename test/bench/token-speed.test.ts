// The table of what keys in a token cost, as docs/hardware-keys.md has it.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderTokenSpeed } from '../../bench/token-speed.ts'

test('each key has the median of its rounds, and the slowest and fastest', () => {
  const speed = { kind: 'ed25519', signatures: [3_000, 2_000.4, 2_500], token: [1, 2, 3], keystore: [9, 9, 9] } as const
  expect(renderTokenSpeed([speed], 'Here.').split('\n').at(-1)).toBe(
    '| Ed25519 | 2,500 (2,000 to 3,000) | 2 (1 to 3) | 9 (9 to 9) |',
  )
})

test('the page has the table that the script writes, for both kinds of key', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/hardware-keys.md'), 'utf8')
  const [, section = ''] =
    /<!-- token-speed: made by bench\/token-speed.ts -->([\s\S]*)<!-- \/token-speed -->/.exec(page) ?? []
  expect(section.match(/^\| (?:secp256k1|Ed25519) +\| +[\d,]+ \([\d,]+ to [\d,]+\)/gm)).toHaveLength(2)
})
