// Divides joined or split words (`NicolasMaduroMoros`, `Ma du ro`) into listed words: as a whole, and for each listed
// name that the letters contain completely.
import { once } from '../../../../lib/single-flight.ts'
import { WORD_MAX } from './fold.ts'
import type { WordTable } from './word-table.ts'

const LISTED_MIN = 2
/** Minimum average length of the listed words; shorter words match by chance. */
const LENGTH_MIN = 3
/** Minimum letters of a listed name; shorter names occur in other names by chance. */
const WHOLE_LETTERS_MIN = 9
/** Maximum listed names, longest first. */
const WHOLE_NAMES_MAX = 8
const PLACES_MAX = 4

interface Place {
  readonly start: number
  readonly end: number
}

/** A position with the row of its listed word. */
interface ListedPlace extends Place {
  readonly row: number
}

interface DividedIndex {
  readonly words: WordTable
  readonly names: number
  /** Visits words that are spelled or sound like the table's row. */
  soundingLike(row: number, visit: (word: number) => void): void
  namesWith(word: number): Uint32Array
  tellingWords(name: number): readonly number[]
}

const overlap = (one: Place, other: Place): boolean => one.start < other.end && other.start < one.end

export const createDivider = ({ words, names, soundingLike, namesWith, tellingWords }: DividedIndex) => {
  const rowsOf = once(() => new Map(Array.from({ length: words.size }, (_, row) => [words.textOf(row), row])))
  /** Number of found words by listed name; zero between calls. */
  const counts = new Uint8Array(names)

  const listedPlaces = (letters: string): readonly ListedPlace[] => {
    const rows = rowsOf()
    const places: ListedPlace[] = []
    for (let start = 0; start < letters.length; start++) {
      for (let end = start + LISTED_MIN; end <= Math.min(letters.length, start + WORD_MAX); end++) {
        const row = rows.get(letters.slice(start, end))
        if (row !== undefined) places.push({ start, end, row })
      }
    }
    return places
  }

  /**
   * Maximizes the sum of the squared lengths of listed words; null if they cover too little. @param written original
   * words
   */
  const divideAll = (
    letters: string,
    listed: readonly Place[],
    written: readonly Place[],
  ): readonly string[] | null => {
    const best = new Int32Array(letters.length + 1).fill(-1)
    const lastStart = new Uint16Array(letters.length + 1)
    best[0] = 0
    const offers = [
      ...listed.map((place) => ({ ...place, gain: (place.end - place.start) ** 2 })),
      ...written.map((place) => ({ ...place, gain: LENGTH_MIN * (place.end - place.start) })),
    ].sort((one, other) => one.start - other.start)
    for (const { start, end, gain } of offers) {
      const sum = best[start]! + gain
      if (best[start] === -1 || sum <= best[end]!) continue
      best[end] = sum
      lastStart[end] = start
    }
    if (best[letters.length]! < LENGTH_MIN * letters.length) return null
    const found: string[] = []
    for (let end = letters.length; end > 0; end = lastStart[end]!) found.unshift(letters.slice(lastStart[end]!, end))
    return found
  }

  const placed = (wanted: readonly (readonly Place[])[], taken: readonly Place[]): readonly Place[] | null => {
    const [first, ...others] = wanted
    if (first === undefined) return taken
    for (const place of first) {
      if (taken.some((other) => overlap(place, other))) continue
      const found = placed(others, [...taken, place])
      if (found !== null) return found
    }
    return null
  }

  const wholeNames = (places: readonly ListedPlace[]): readonly (readonly Place[])[] => {
    const placesOf = new Map<number, Place[]>()
    for (const place of places) {
      soundingLike(place.row, (word) => {
        const known = placesOf.get(word)
        if (known === undefined) placesOf.set(word, [place])
        else if (known.length < PLACES_MAX) known.push(place)
      })
    }
    const touched: number[] = []
    for (const [word, { length }] of placesOf) {
      // Two different words, or one word at two positions.
      for (const name of namesWith(word)) {
        const count = ++counts[name]!
        if (count === 2 || (count === 1 && length > 1)) touched.push(name)
      }
    }
    const found = touched.flatMap((name) => {
      const telling = tellingWords(name)
      if (telling.length < 2) return []
      const wanted: Place[][] = []
      for (const word of telling) {
        const each = placesOf.get(word)
        if (each === undefined) return []
        wanted.push(each)
      }
      const longestFirst = wanted.sort((one, other) => other[0]!.end - other[0]!.start - (one[0]!.end - one[0]!.start))
      return [placed(longestFirst, []) ?? []]
    })
    for (const word of placesOf.keys()) for (const name of namesWith(word)) counts[name] = 0
    return found
  }

  /** Returns other ways to divide the letters of adjacent words. */
  return (texts: readonly string[]): readonly (readonly string[])[] => {
    const letters = texts.join('')
    const places = listedPlaces(letters)
    const written: Place[] = []
    for (const text of texts) {
      const start = written.at(-1)?.end ?? 0
      written.push({ start, end: start + text.length })
    }
    const sizeOf = (each: readonly Place[]): number => each.reduce((sum, { start, end }) => sum + end - start, 0)
    const isWritten = ({ start, end }: Place): boolean =>
      written.some((word) => word.start === start && word.end === end)
    /** Returns the words of a listed name, the remains of divided words, and unchanged words. */
    const asWords = (chosen: readonly Place[]): readonly string[] => {
      const cuts = [...chosen].sort((one, other) => one.start - other.start)
      const found: string[] = []
      let at = 0
      const upTo = (end: number): void => {
        for (const word of written) {
          const [from, to] = [Math.max(at, word.start), Math.min(end, word.end)]
          if (from < to) found.push(letters.slice(from, to))
        }
        at = end
      }
      for (const { start, end } of cuts) {
        upTo(start)
        found.push(letters.slice(start, end))
        at = end
      }
      upTo(letters.length)
      return found
    }
    const whole = wholeNames(places)
      .filter((chosen) => sizeOf(chosen) >= WHOLE_LETTERS_MIN && !chosen.every(isWritten))
      .sort((one, other) => sizeOf(other) - sizeOf(one))
      .slice(0, WHOLE_NAMES_MAX)
    const all = divideAll(letters, places, written)
    const ways = [...(all === null ? [] : [all]), ...whole.map(asWords)]
    const distinct = new Map(ways.map((way) => [way.join(' '), way]))
    distinct.delete(texts.join(' '))
    return [...distinct.values()]
  }
}
