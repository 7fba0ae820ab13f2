// Which characters count as hidden, in the names and texts that people read.
import { expect, test } from 'bun:test'
import { hasHidden, indexOfHidden, replaceHidden, revealHidden } from '../../src/lib/hidden-characters.ts'

const HIDDEN: Readonly<Record<string, string>> = {
  'a control character': '\u0007',
  'a soft hyphen': '\u00ad',
  'a zero width space': '\u200b',
  'a right-to-left override': '\u202e',
  'a bidirectional isolate': '\u2066',
  'a line separator': '\u2028',
  'a Hangul filler': '\u3164',
  'the blank Braille pattern': '\u2800',
  'a variation selector': '\ufe0f',
  'a tag': '\u{e0041}',
  'half a character': '\ud800',
}

test.each(Object.entries(HIDDEN))('%s is hidden, and shown escaped', (_name, character) => {
  expect([hasHidden(`Ada${character}`), indexOfHidden(`Ada${character}`)]).toEqual([true, 3])
  expect(revealHidden(`Ada${character}`)).toBe(`Ada\\u{${character.codePointAt(0)?.toString(16)}}`)
  expect(replaceHidden(`Ada${character}`, '?')).toBe('Ada?')
})

test.each(['Ada Lovelace', 'Ådá', 'Ада', '김정은', 'محمد', '⚠️ Vault', 'ق'])('%s has nothing hidden', (text) => {
  expect([hasHidden(text), revealHidden(text)]).toEqual([false, text])
})

test('line ends and tabs are hidden in a name, but not in a text of several lines', () => {
  const text = 'one\n\ttwo\r\n'
  expect([hasHidden(text), indexOfHidden(text), revealHidden(text)]).toEqual([true, -1, text])
})
