// Writes the Sino-Korean and Cantonese readings of Chinese characters for screening to
// src/modules/screening/matching/names/han-readings.txt, one syllable per line with its characters. Source: Unicode Han Database
// (UAX #38), fields kHangul, kCantonese, kGradeLevel, kTraditionalVariant, in Debian's package unicode-data.
//   bun test/long/han-readings.ts UNIHAN_READINGS.TXT UNIHAN_DICTIONARYLIKEDATA.TXT UNIHAN_VARIANTS.TXT
import { readFileSync, writeFileSync } from 'node:fs'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const [readings, dictionary, variants] = process.argv.slice(2)
if (readings === undefined || dictionary === undefined || variants === undefined) {
  console.error('usage: bun test/long/han-readings.ts READINGS DICTIONARYLIKEDATA VARIANTS')
  process.exit(2)
}

/** Returns the field of each character of the basic plane. */
const readField = (file: string, field: string): ReadonlyMap<string, string> =>
  new Map(
    readFileSync(file, 'utf8')
      .matchAll(/^U\+([0-9A-F]{4})\t(k\w+)\t(.+)$/gm)
      .filter(([, , name]) => name === field)
      .map(([, code = '', , value = '']) => [String.fromCodePoint(Number.parseInt(code, 16)), value]),
  )

const hangul = readField(readings, 'kHangul')
const cantonese = readField(readings, 'kCantonese')
const grades = readField(dictionary, 'kGradeLevel')
const traditional = readField(variants, 'kTraditionalVariant')

/** Characters of the Korean standards for education and personal names, and of the curriculum of Hong Kong. */
const IS_KOREAN_NAME = /:\d?[A-Z]*[EN]/
const used = new Set([
  ...[...hangul].filter(([, value]) => IS_KOREAN_NAME.test(value)).map(([character]) => character),
  ...grades.keys(),
])
const traditionalOf = (character: string): readonly string[] =>
  (traditional.get(character) ?? '')
    .split(' ')
    .filter((code) => code !== '')
    .map((code) => String.fromCodePoint(Number.parseInt(code.slice(2), 16)))
for (const character of traditional.keys()) {
  if (traditionalOf(character).some((form) => used.has(form))) used.add(character)
}

const syllablesOf = (character: string, field: ReadonlyMap<string, string>): readonly string[] => [
  ...new Set((field.get(character) ?? '').split(' ').map((reading) => reading.replace(/[:\d].*$/, ''))),
]
const grouped = (readingsOf: (character: string) => readonly string[]): string => {
  const bySyllable = new Map<string, string>()
  for (const character of [...used].sort()) {
    for (const syllable of readingsOf(character)) {
      if (syllable !== '') bySyllable.set(syllable, (bySyllable.get(syllable) ?? '') + character)
    }
  }
  return [...bySyllable]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([syllable, characters]) => `${syllable} ${characters}\n`)
    .join('')
}

const korean = grouped((character) => {
  const own = syllablesOf(character, hangul).filter((syllable) => syllable !== '')
  if (own.length > 0) return own
  return [...new Set(traditionalOf(character).flatMap((form) => syllablesOf(form, hangul)))]
})
const text = `${korean}\n${grouped((character) => syllablesOf(character, cantonese))}`
writeFileSync(`${import.meta.dir}/../../src/modules/screening/matching/names/han-readings.txt`, text)
console.log(`${used.size} characters, ${Buffer.byteLength(text)} bytes`)
