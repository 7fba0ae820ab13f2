// Line diff by longest common subsequence, after equal lines at both ends are removed. If the rest is too large, it
// counts as replaced.
interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
  /** Starting at 1; null if the line isn't in that text. */
  readonly before: number | null
  readonly after: number | null
}

const PAIRS_MAX = 4_000_000

const commonPrefix = (left: readonly string[], right: readonly string[]): number => {
  let length = 0
  while (length < left.length && length < right.length && left[length] === right[length]) length += 1
  return length
}

/** Returns the lengths of the longest common subsequences of all suffixes, as rows of `columns` values. */
const tableOf = (left: readonly string[], right: readonly string[]): Uint32Array => {
  const columns = right.length + 1
  const table = new Uint32Array((left.length + 1) * columns)
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      const down = table[(row + 1) * columns + column] ?? 0
      const across = table[row * columns + column + 1] ?? 0
      table[row * columns + column] =
        left[row] === right[column] ? (table[(row + 1) * columns + column + 1] ?? 0) + 1 : Math.max(down, across)
    }
  }
  return table
}

type Kind = DiffLine['kind']

const middleKinds = (left: readonly string[], right: readonly string[]): readonly Kind[] => {
  if (left.length * right.length > PAIRS_MAX) {
    return [...left.map((): Kind => 'removed'), ...right.map((): Kind => 'added')]
  }
  const table = tableOf(left, right)
  const columns = right.length + 1
  const kinds: Kind[] = []
  let row = 0
  let column = 0
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column]) {
      kinds.push('same')
      row += 1
      column += 1
    } else if (
      row < left.length &&
      (column === right.length ||
        (table[(row + 1) * columns + column] ?? 0) >= (table[row * columns + column + 1] ?? 0))
    ) {
      kinds.push('removed')
      row += 1
    } else {
      kinds.push('added')
      column += 1
    }
  }
  return kinds
}

export const diffLines = (before: string, after: string): readonly DiffLine[] => {
  const left = before.split('\n')
  const right = after.split('\n')
  const start = commonPrefix(left, right)
  const end = commonPrefix(left.slice(start).reverse(), right.slice(start).reverse())
  const kinds: readonly Kind[] = [
    ...Array.from({ length: start }, (): Kind => 'same'),
    ...middleKinds(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...Array.from({ length: end }, (): Kind => 'same'),
  ]
  let row = 0
  let column = 0
  return kinds.map((kind): DiffLine => {
    const text = (kind === 'added' ? right[column] : left[row]) ?? ''
    const inBefore = kind !== 'added'
    const inAfter = kind !== 'removed'
    if (inBefore) row += 1
    if (inAfter) column += 1
    return { kind, text, before: inBefore ? row : null, after: inAfter ? column : null }
  })
}

/** Removes equal lines except a few around each change; `null` represents removed lines. */
export const withContext = (lines: readonly DiffLine[], around: number): readonly (DiffLine | null)[] => {
  const near = lines.map((_line, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same'),
  )
  return lines.flatMap((line, index): (DiffLine | null)[] => {
    if (near[index] === true) return [line]
    return index === 0 || near[index - 1] === true ? [null] : []
  })
}
