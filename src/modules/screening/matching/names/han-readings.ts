// Sino-Korean and Cantonese readings of the Chinese characters in names. The file has one syllable with its characters
// per line, Hangul first. Source: Unicode Han Database 15.0 (UAX #38; Unicode License), made by
// test/long/han-readings.ts.
import { readFileSync } from 'node:fs'
import READINGS from './han-readings.txt' with { type: 'file' }

export type HanLanguage = 'korean' | 'cantonese'

let known: Readonly<Record<HanLanguage, string>> | undefined

const load = (): Readonly<Record<HanLanguage, string>> => {
  const [korean = '', cantonese = ''] = readFileSync(READINGS, 'utf8').split('\n\n')
  return { korean, cantonese }
}

/** @returns Hangul syllables, or Jyutping without tones; none if the character is not in the database */
export const readingsOf = (character: string, language: HanLanguage): readonly string[] => {
  // Loaded for the first Chinese name.
  known ??= load()
  const text = known[language]
  const readings: string[] = []
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
    const line = text.lastIndexOf('\n', at) + 1
    readings.push(text.slice(line, text.indexOf(' ', line)))
  }
  return readings
}
