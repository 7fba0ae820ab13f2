// Checks that each leaf of a head belongs to exactly one line: no head signs the rows that map lines to leaves, so an
// attacker who can write the tables could remove rows.
import type { DecisionTreeReader } from '../store/reader.ts'
import type { TreeSpan } from '../store/types.ts'

export const createLeafCover = (size: number) => {
  const ranges: (readonly [first: number, end: number])[] = []
  let isMalformed = false
  return {
    /** Call once per segment, with all its spans. Leaves of newer heads are ignored. */
    add: (spans: readonly TreeSpan[]) => {
      for (const { firstLeaf, leaves } of spans) {
        // A negative count would offset missing lines.
        const isValid = Number.isSafeInteger(firstLeaf) && firstLeaf >= 0 && Number.isSafeInteger(leaves) && leaves > 0
        if (!isValid) isMalformed = true
        else if (firstLeaf < size) ranges.push([firstLeaf, Math.min(firstLeaf + leaves, size)])
      }
    },
    /** Describes an invalid span, or a leaf that belongs to no line or to several lines; null if there is none. */
    problem: (): string | null => {
      if (isMalformed) return 'the tables of the tree contain an invalid range of leaves: they were changed'
      let covered = 0
      let repeated: number | null = null
      for (const [first, end] of [...ranges, [size, size] as const].sort(([left], [right]) => left - right)) {
        if (first > covered) {
          return `leaves ${covered} to ${first - 1} of the tree belong to no line: rows were removed from its tables`
        }
        if (first < covered) repeated ??= first
        covered = Math.max(covered, end)
      }
      return repeated === null ? null : `leaf ${repeated} of the tree belongs to several lines: its tables were changed`
    },
  }
}

/** Reads the spans of all segments, one segment at a time. @returns the problem; null if there is none */
export const coverProblem = async (
  tree: Pick<DecisionTreeReader, 'segments' | 'spans'>,
  size: number,
): Promise<string | null> => {
  const cover = createLeafCover(size)
  for (const place of await tree.segments()) cover.add(await tree.spans(place))
  return cover.problem()
}
