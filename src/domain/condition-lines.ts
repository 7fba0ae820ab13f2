// Finds conditions in a policy's text by line: for editors, whose text is rarely a complete document.

export const CONDITION_KEYS: ReadonlySet<string> = new Set(['allow', 'deny', 'require', 'review'])

const KEY = /^\s*(?:-\s+)?([\w-]+):(?:\s|$)/
const indentOf = (text: string): number => /^\s*/.exec(text)?.[0].length ?? 0

/**
 * Returns whether a line contains a condition: after its key, or indented on the lines below the key.
 * @param lineAt returns the text of a line by its number from 0
 */
export const isInCondition = (lineAt: (number: number) => string, number: number): boolean => {
  const text = lineAt(number)
  const own = KEY.exec(text)
  if (own !== null) return CONDITION_KEYS.has(own[1] ?? '')
  const indent = indentOf(text)
  for (let above = number - 1; above >= 0; above--) {
    const line = lineAt(above)
    if (line.trim() === '' || indentOf(line) >= indent) continue
    return CONDITION_KEYS.has(KEY.exec(line)?.[1] ?? '')
  }
  return false
}
