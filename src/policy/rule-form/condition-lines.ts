// Finds conditions line by line, because the text in an editor is rarely a complete document.

export const CONDITION_KEYS: ReadonlySet<string> = new Set(['allow', 'deny', 'require', 'review'])

const KEY = /^\s*(?:-\s+)?([\w-]+):(?:\s|$)/
const indentOf = (text: string): number => /^\s*/.exec(text)?.[0].length ?? 0

/** Returns whether a line contains a condition, after its key or indented below it. @param lineAt lines start at 0 */
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
