// Readers of the tables in words.json and letters.json, which are the project's own, and of spelling rules.

/** Pattern and replacement. */
export type SpellingRule = readonly [pattern: RegExp, replacement: string]

/** Maximum spellings per word. */
const SPELLINGS_MAX = 256

/** @param text separated by spaces; `-` is the empty text */
export const alternatives = (text: string): readonly string[] =>
  text.split(' ').map((alternative) => (alternative === '-' ? '' : alternative))

/** Reads alternatives by key. */
export const readTable = (rows: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> =>
  new Map(Object.entries(rows).map(([key, texts]) => [key, alternatives(texts)]))

/** Reads keys by alternative. */
export const readKeys = (rows: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(rows).flatMap(([key, texts]) => alternatives(texts).map((text) => [text, key])))

/** One alternative per part, in order, without duplicates. */
export const combine = (parts: readonly (readonly string[])[], limit = SPELLINGS_MAX): readonly string[] => {
  let texts: readonly string[] = ['']
  for (const part of parts) {
    texts = [...new Set(texts.flatMap((text) => part.map((alternative) => text + alternative)))].slice(0, limit)
  }
  return texts
}

/** Applies each rule to the previous result. */
export const applyRules = (text: string, rules: readonly SpellingRule[]): string =>
  rules.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text)
