// Reads words in scripts without short vowels. Letters have several Latin spellings.
import { type Skeleton, skeletonFrom } from './consonants.ts'
import { WORD_MAX } from './fold.ts'
import { alternatives, combine } from './spellings.ts'

/** Per word. Real names have at most 36. */
const READINGS_MAX = 64

interface Abjad {
  isRead(letter: string): boolean
  /** @returns readings, most likely first; empty for a word without consonants */
  skeletonsOf(letters: string): readonly Skeleton[]
  hasMoreReadings(letters: string): boolean
}

/**
 * @param table Per letter: the letter, a space, and its Latin consonants; `-` for none
 * @param gaps Signs in the table that are vowels
 */
export const createAbjad = (table: string, gaps: string): Abjad => {
  const sounds: ReadonlyMap<string, readonly string[]> = new Map(
    table.split(/;\s*/).map((row) => [row.slice(0, 1), alternatives(row.slice(2))]),
  )
  const soundsOf = (letters: string): readonly (readonly string[])[] =>
    [...letters.slice(0, WORD_MAX)].flatMap((letter) => {
      const each = sounds.get(letter)
      return each === undefined ? [] : [each]
    })
  return {
    isRead: (letter) => sounds.has(letter),
    skeletonsOf: (letters) =>
      combine(soundsOf(letters), READINGS_MAX)
        .map((text) => skeletonFrom(text, (sound) => gaps.includes(sound)))
        .filter(({ consonants }) => consonants !== ''),
    hasMoreReadings: (letters) =>
      soundsOf(letters).reduce((readings, { length }) => readings * length, 1) > READINGS_MAX,
  }
}
