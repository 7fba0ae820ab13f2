// Reads words in Hebrew script, where some letters are a consonant or a vowel. Source: romanizations of the Academy of
// the Hebrew Language (2006) and BGN/PCGN, with common simplifications.
import { createAbjad } from './abjad.ts'
import type { Skeleton } from './consonants.ts'

/** W and Y for vowels, E for any vowel or none. */
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
