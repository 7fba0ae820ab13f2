// Words that a name contains twice, as parts of a longer word.
import { expect, test } from 'bun:test'
import { readName } from '../../src/modules/screening/matching/names/read-name.ts'

test('parts of a word are also read without repeated words, but with all initials', () => {
  const { divisible } = readName('J J Fer di nand Su su arez', 'person')
  expect(divisible.map((way) => way.map(({ text }) => text).join(' '))).toContain('j j fer di nand su arez')
})
