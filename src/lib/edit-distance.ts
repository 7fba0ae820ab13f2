// Finds names that were probably meant, for error messages and misspelled fields.

/** Returns the number of insertions, deletions, substitutions and transpositions (optimal string alignment). */
export const editDistance = (left: string, right: string): number => {
  let before: number[] = []
  let row = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1]
      let least = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        least = Math.min(least, before[j - 2]! + 1)
      }
      next.push(least)
    }
    before = row
    row = next
  }
  return row[right.length]!
}

const NAME_MAX = 64
/** Maximum length of short names, for which one edit often gives another word. */
const SHORT_MAX = 3

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')

/** Returns the known name that is equal without case and separators, or one edit away; otherwise null. */
export const misspeltName = (name: string, known: Iterable<string>): string | null => {
  const spelled = plain(name)
  for (const candidate of known) {
    if (spelled === plain(candidate)) return candidate
    if (candidate.length <= SHORT_MAX || Math.abs(name.length - candidate.length) > 1) continue
    if (editDistance(name, candidate) === 1) return candidate
  }
  return null
}

/** Returns at most three names, most similar first. */
export const nearNames = (name: string, known: Iterable<string>): readonly string[] => {
  if (name.length > NAME_MAX) return []
  const spelled = plain(name)
  if (spelled === '') return []
  return [...known]
    .map((candidate) => {
      const other = plain(candidate)
      const allowed = Math.min(spelled.length, other.length) > SHORT_MAX + 1 ? 2 : 1
      if (spelled.length >= SHORT_MAX && other.startsWith(spelled)) return { candidate, distance: 1, allowed }
      // The distance is at least the difference of the lengths; computing it takes time proportional to their product.
      const difference = Math.abs(spelled.length - other.length)
      return { candidate, distance: difference > allowed ? difference : editDistance(spelled, other), allowed }
    })
    .filter(({ distance, allowed }) => distance <= allowed)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}
