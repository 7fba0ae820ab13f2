// Consonant skeletons, for comparison with scripts without short vowels.
import { applyRules, type SpellingRule } from './spellings.ts'

export interface Skeleton {
  readonly consonants: string
  /** Vowels before, between and after the consonants; null if `consonants` is a word of vowels only. */
  readonly gaps: readonly string[] | null
}

const RULES: readonly SpellingRule[] = [
  [/(?<=[aeiou])h$/g, ''],
  [/dzh|dsch|dj/g, 'j'],
  [/tch|ch/g, 'C'],
  [/sch|sh/g, 's'],
  [/kh/g, 'h'],
  [/gh/g, 'g'],
  [/zh/g, 'z'],
  [/dh/g, 'd'],
  [/th/g, 't'],
  [/ph/g, 'f'],
  [/c(?=[eiy])/g, 's'],
  [/c|q/g, 'k'],
  [/x/g, 'ks'],
]
const VOWELS = /[aeiouwy]/

/** Merges repeated consonants, and collects the vowels between. */
export const skeletonFrom = (letters: Iterable<string>, isVowel: (letter: string) => boolean): Skeleton => {
  let consonants = ''
  const gaps = ['']
  for (const letter of letters) {
    if (isVowel(letter) || letter === consonants.at(-1)) {
      if (isVowel(letter)) gaps.push(gaps.pop() + letter)
      continue
    }
    consonants += letter
    gaps.push('')
  }
  return { consonants, gaps }
}

/** @param word lowercase ASCII letters and digits */
export const skeletonOf = (word: string): Skeleton => {
  const skeleton = skeletonFrom(applyRules(word, RULES), (letter) => VOWELS.test(letter))
  return skeleton.consonants === '' ? { consonants: word, gaps: null } : skeleton
}

/** A sound that Latin omits, with any vowel. */
const DROPPED_SOUND = 'E'
/** Latin spellings of long Arabic vowels, by sign. */
const LONG_VOWELS: Readonly<Record<string, RegExp>> = { A: /[aeo]/, W: /[ouw]/, Y: /[iye]/ }
/** Latin spellings of a short vowel. */
const SHORT_VOWEL = /^(?:[aeiou]?|ou|oo|ee|aa)$/

/** Vowels that may follow the last consonant. */
const FINAL_VOWEL = /^[ae]?$/

const fits = (written: string, vowels: string, isInner: boolean): boolean => {
  if (written === '') return isInner ? SHORT_VOWEL.test(vowels) : FINAL_VOWEL.test(vowels)
  return [...written].every((sign) => LONG_VOWELS[sign]?.test(vowels) ?? true)
}

/** The first vowel may be any vowel, long or short. */
const fitsFirst = (written: string, vowels: string): boolean => {
  const signs = written.replaceAll(DROPPED_SOUND, '')
  if (signs === '') return written !== '' || vowels === ''
  return signs.length === 1 ? vowels !== '' : fits(signs, vowels, true)
}

/** Returns the number of gaps whose vowels contradict the Arabic word. */
const misfits = (arabic: Skeleton, latin: Skeleton): number => {
  const last = arabic.consonants.length
  const isMisfit = (written: string, at: number): boolean => {
    const vowels = latin.gaps?.[at] ?? ''
    return at === 0 ? !fitsFirst(written, vowels) : !fits(written, vowels, at < last)
  }
  return arabic.gaps?.filter(isMisfit).length ?? 0
}

/** Similarity by number of letters, because more letters are stronger evidence. */
const LIKENESS = [0.6, 0.7, 0.85, 0.92]
/** Factor if long vowels differ, by number of consonants. */
const MISFIT_SHARE: readonly (readonly [one: number, several: number])[] = [
  [0.6, 0.5],
  [0.75, 0.5],
  [0.88, 0.55],
]
const limited = <Item>(items: readonly Item[], length: number): Item => items[Math.min(length, items.length) - 1]!

/**
 * Returns the similarity of words with the same consonants. @param latin null if the other word has no vowels either
 */
export const likenessOf = (word: Skeleton, latin: Skeleton | null): number => {
  const { consonants, gaps } = word
  const letters = consonants.length + (gaps ?? []).join('').replaceAll(DROPPED_SOUND, '').length
  const misfit = latin === null ? 1 : misfits(word, latin)
  const share = misfit === 0 ? 1 : limited(limited(MISFIT_SHARE, consonants.length), misfit)
  return limited(LIKENESS, letters) * share
}
