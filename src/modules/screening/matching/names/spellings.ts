// Ways to spell the syllables of a name in Latin letters.

/** More spellings of one word are left out. */
const SPELLINGS_MAX = 256

/** @param text alternatives, separated by spaces; `-` stands for nothing */
export const alternatives = (text: string): readonly string[] =>
  text.split(' ').map((alternative) => (alternative === '-' ? '' : alternative))

/** @returns every text that has one alternative of each part, in order and without repetition */
export const combine = (parts: readonly (readonly string[])[], limit = SPELLINGS_MAX): readonly string[] => {
  let texts: readonly string[] = ['']
  for (const part of parts) {
    texts = [...new Set(texts.flatMap((text) => part.map((alternative) => text + alternative)))].slice(0, limit)
  }
  return texts
}
