// Words in scripts without short vowels, such as Hebrew, whose letters have several Latin spellings.

import { type Skeleton, skeletonFrom } from './consonants.ts'
import { WORD_MAX } from './fold.ts'
import { alternatives, combine } from './spellings.ts'

/** Per word; real names have at most 36. */
const READINGS_MAX = 64

/**
 * @param table Per letter: the letter, a space, and its Latin consonants; `-` for none
 * @param gaps Signs in the table that are vowels
 */
export const createAbjad = (table: string, gaps: string) => {
  const sounds: ReadonlyMap<string, readonly string[]> = new Map(
    table.split(/;\s*/).map((row) => [row.slice(0, 1), alternatives(row.slice(2))]),
  )
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
const ABJAD = createAbjad(
  'א E;ב b v;ג g j;ד d;ה h;ו v W;ז z;ח h C;ט t;י Y;כ h k C;ל l;מ m;נ n;ס s;ע E;פ p f;צ ts z tz C;ק k;ר r;ש s;ת t;H h C -;J Y j',
  'WYE',
)
const FINAL_FORMS: Readonly<Record<string, string>> = { ך: 'כ', ם: 'מ', ן: 'נ', ף: 'פ', ץ: 'צ' }
const plain = (letter: string): string => FINAL_FORMS[letter] ?? letter

/** Marks a final vowel. */
const FINAL_H = /ה$/
/** Latin writes the preceding letter as a digraph (`Yitzhak`). */
const AFTER_DIGRAPH = /(?<=[גדזטכסצקשת])[הח]/g
/** `Jacob` and `Yaakov`. */
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
