// Adjacent words that may be written as one.
import { foldWord, WORD_MAX } from './fold.ts'
import { isInLetters, type NameWord } from './read-name.ts'
import { JOINING_PARTICLES } from './words.ts'

/** Second syllables of Korean names, but particles in others. */
const KOREAN_SECOND: ReadonlySet<string> = new Set(['il', 'an', 'do'])

export const joinsOf = (
  words: readonly NameWord[],
): readonly { readonly at: number; readonly written: string; readonly folded: string }[] => {
  const joins: { at: number; written: string; folded: string }[] = []
  for (let at = 0; at + 1 < words.length; at++) {
    const [first, second] = [words[at]!, words[at + 1]!]
    if (first.role === 'form' || second.role === 'form') continue
    if (second.role === 'particle' && !KOREAN_SECOND.has(second.written)) continue
    if (second.role === 'title' || (first.role === 'title' && !first.written.startsWith('abd'))) continue
    if (!isInLetters(first) || !isInLetters(second)) continue
    if (first.role === 'particle' && !JOINING_PARTICLES.has(first.written)) continue
    const written = first.written + second.written
    if (written.length > WORD_MAX) continue
    joins.push({ at, written, folded: foldWord(written) })
  }
  return joins
}
