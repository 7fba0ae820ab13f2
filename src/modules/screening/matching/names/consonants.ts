// Consonant skeletons, for comparison with words in scripts without short vowels.

export interface Skeleton {
  readonly consonants: string
  /**
   * Vowels before, between and after the consonants, so one more than consonants. Null if `consonants` is a word of
   * vowels only.
   */
  readonly gaps: readonly string[] | null
}

/** Applied in order, each to the previous result. */
const RULES: readonly (readonly [RegExp, string])[] = [
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

/** Merges repeated consonants and collects the vowels between them. */
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

/** @param word Lower-case ASCII letters and digits */
export const skeletonOf = (word: string): Skeleton => {
  let text = word
  for (const [pattern, replacement] of RULES) text = text.replaceAll(pattern, replacement)
  const skeleton = skeletonFrom(text, (letter) => VOWELS.test(letter))
  return skeleton.consonants === '' ? { consonants: word, gaps: null } : skeleton
}

/** Sign for a sound that Latin omits, with any vowel. */
const DROPPED_SOUND = 'E'
/** Latin spellings of a long Arabic vowel, by its sign in a gap. */
const LONG_VOWELS: Readonly<Record<string, RegExp>> = { A: /[aeo]/, W: /[ouw]/, Y: /[iye]/ }
/** Latin spellings of a short vowel. */
const SHORT_VOWEL = /^(?:[aeiou]?|ou|oo|ee|aa)$/

/** Latin spellings of a short vowel after the last consonant. */
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

/** @returns the number of gaps whose vowels contradict the Arabic word */
const misfits = (arabic: Skeleton, latin: Skeleton): number => {
  const last = arabic.consonants.length
  const isMisfit = (written: string, at: number): boolean => {
    const vowels = latin.gaps?.[at] ?? ''
    return at === 0 ? !fitsFirst(written, vowels) : !fits(written, vowels, at < last)
  }
  return arabic.gaps?.filter(isMisfit).length ?? 0
}

/** Similarity by the number of letters: more matching letters are stronger evidence. */
const LIKENESS = [0.6, 0.7, 0.85, 0.92]
/** Factor if one or several long vowels differ, by the number of consonants. */
const MISFIT_SHARE: readonly (readonly [one: number, several: number])[] = [
  [0.6, 0.5],
  [0.75, 0.5],
  [0.88, 0.55],
]
const limited = <Item>(items: readonly Item[], length: number): Item => items[Math.min(length, items.length) - 1]!

/**
 * Similarity of two words with the same consonants.
 * @param latin Null if the other word has no vowels either
 * @returns 0 to 1
 */
export const likenessOf = (word: Skeleton, latin: Skeleton | null): number => {
  const { consonants, gaps } = word
  const letters = consonants.length + (gaps ?? []).join('').replaceAll(DROPPED_SOUND, '').length
  const misfit = latin === null ? 1 : misfits(word, latin)
  const share = misfit === 0 ? 1 : limited(limited(MISFIT_SHARE, consonants.length), misfit)
  return limited(LIKENESS, letters) * share
}
