/** Per word. */
const SPELLINGS_MAX = 256

/** @param text separated by spaces; `-` is the empty text */
export const alternatives = (text: string): readonly string[] =>
  text.split(' ').map((alternative) => (alternative === '-' ? '' : alternative))

/** One alternative per part, in order, without duplicates. */
export const combine = (parts: readonly (readonly string[])[], limit = SPELLINGS_MAX): readonly string[] => {
  let texts: readonly string[] = ['']
  for (const part of parts) {
    texts = [...new Set(texts.flatMap((text) => part.map((alternative) => text + alternative)))].slice(0, limit)
  }
  return texts
}
