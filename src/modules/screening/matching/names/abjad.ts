// Words in scripts without short vowels, such as Hebrew, whose letters have several Latin spellings.

import { type Skeleton, skeletonFrom } from './consonants.ts'
import { WORD_MAX } from './fold.ts'
import LETTERS from './letters.json'
import { combine, readKeys, readTable } from './spellings.ts'

/** Maximum readings per word; real names have at most 36. */
const READINGS_MAX = 64

/** @param sounds Latin consonants of each letter @param gaps signs in the table that are vowels */
export const createAbjad = (sounds: ReadonlyMap<string, readonly string[]>, gaps: string) => {
  const soundsOf = (letters: string): readonly (readonly string[])[] =>
    [...letters.slice(0, WORD_MAX)].flatMap((letter) => {
      const each = sounds.get(letter)
      return each === undefined ? [] : [each]
    })
  return {
    isRead: (letter: string): boolean => sounds.has(letter),
    /** @returns readings, most likely first; empty for a word without consonants */
    skeletonsOf: (letters: string): readonly Skeleton[] =>
      combine(soundsOf(letters), READINGS_MAX)
        .map((text) => skeletonFrom(text, (sound) => gaps.includes(sound)))
        .filter(({ consonants }) => consonants !== ''),
    hasMoreReadings: (letters: string): boolean =>
      soundsOf(letters).reduce((readings, { length }) => readings * length, 1) > READINGS_MAX,
  }
}

/**
 * Hebrew: W and Y for vowels, E for any vowel or none. Source: romanizations of the Academy of the Hebrew Language
 * (2006) and BGN/PCGN, with common simplifications.
 */
const ABJAD = createAbjad(readTable(LETTERS.hebrew), 'WYE')
const FINAL_FORMS = readKeys(LETTERS.hebrewForms)
const plain = (letter: string): string => FINAL_FORMS.get(letter) ?? letter

/** A final ה that marks a vowel. */
const FINAL_H = /ה$/
/** Latin writes the preceding letter as a digraph (`Yitzhak`). */
const AFTER_DIGRAPH = /(?<=[גדזטכסצקשת])[הח]/g
/** An initial י, as in `Jacob` and `Yaakov`. */
const FIRST_Y = /^י/

const heard = (word: string): string =>
  [...word]
    .map(plain)
    .join('')
    .replaceAll('וו', 'ו')
    .replace(FINAL_H, 'א')
    .replaceAll(AFTER_DIGRAPH, 'H')
    .replace(FIRST_Y, 'J')

export const isHebrewLetterRead = (letter: string): boolean => ABJAD.isRead(plain(letter))
export const readHebrew = (word: string): readonly Skeleton[] => ABJAD.skeletonsOf(heard(word))
export const hasMoreHebrewReadings = (word: string): boolean => ABJAD.hasMoreReadings(heard(word))
