// Characters that count as hidden in names and texts.
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

test.each(Object.entries(HIDDEN))('%s is hidden, and is escaped in output', (_, character) => {
  expect([hasHidden(`Ada${character}`), indexOfHidden(`Ada${character}`)]).toEqual([true, 3])
  expect(revealHidden(`Ada${character}`)).toBe(`Ada\\u{${character.codePointAt(0)?.toString(16)}}`)
  expect(replaceHidden(`Ada${character}`, '?')).toBe('Ada?')
})

test.each(['Ada Lovelace', 'Ådá', 'Ада', '김정은', 'محمد', '⚠️ Vault', 'ق'])(
  '%s contains no hidden character',
  (text) => {
    expect([hasHidden(text), revealHidden(text)]).toEqual([false, text])
  },
)

test.each([
  ['می\u200cشود', 'Persian'],
  ['خانه\u200cها', 'Persian'],
  ['مِی\u200cشود', 'Persian with a short vowel'],
  ['बुद्\u200cध', 'Devanagari'],
  ['क्\u200dष', 'Devanagari'],
  ['ශ්\u200dරී', 'Sinhala'],
  ['র\u200d্যাব', 'Bengali'],
  ['ಕ್\u200cಷ', 'Kannada'],
  ['അവന്\u200d', 'Malayalam'],
])('a joiner that changes the adjacent letters is visible: %s (%s)', (text) => {
  expect([hasHidden(text), indexOfHidden(text), revealHidden(text)]).toEqual([false, -1, text])
})

test.each([
  ['Ad\u200ca', 'between Latin letters'],
  ['in_list\u200d(', 'in an expression'],
  ['Да\u200cда', 'between Cyrillic letters'],
  ['김\u200d정', 'between Hangul syllables'],
  ['می\u200c', 'at the end'],
  ['\u200cشود', 'at the start'],
  ['می\u200c شود', 'before a space'],
  ['می\u200c\u200cشود', 'twice'],
  ['می\u200dشود', 'a zero-width joiner'],
  ['کار\u200cها', 'after a letter that does not connect to the next one'],
  ['شی\u200cء', 'before a letter that does not connect to the previous one'],
  ['مa\u200cش', 'after a Latin letter'],
  ['म\u200cन', 'without a virama'],
  ['a\u094d\u200cन', 'after a Latin letter with a virama'],
  ['क्\u200ca', 'between two scripts'],
  ['ম\u200d্য', 'after a letter without a ya-phalaa'],
  ['அவன்\u200d', 'at the end of Tamil'],
])('a joiner without effect is hidden: %j (%s)', (text) => expect(hasHidden(text)).toBe(true))

test('line breaks and tabs are hidden in names, but not in multiline texts', () => {
  const text = 'one\n\ttwo\r\n'
  expect([hasHidden(text), indexOfHidden(text), revealHidden(text)]).toEqual([true, -1, text])
})
