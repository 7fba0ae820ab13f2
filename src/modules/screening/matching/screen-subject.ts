// Compares a person or company with the lists. Hits contain no input, so they can be stored outside the evidence.
import { createHash } from 'node:crypto'
import { below, decodeFlat, encodeFlat, openTexts, packTexts, prefixed } from '../../../lib/flat-arrays.ts'
import type { ListedEntry, ScreenedSubject } from './entry.ts'
import { createNameIndexBuilder } from './names/build-name-index.ts'
import { createNameFinder, type FoundName, type WorkBudget } from './names/find-names.ts'
import { openNameIndex } from './names/name-index.ts'
import type { NameProblem } from './names/name-problems.ts'
import { divideName, type NameReading, type NameWord, readName } from './names/read-name.ts'
import type { NameKind } from './names/read-scripts.ts'
import { narrowParts } from './narrow.ts'

export interface ScorePart {
  readonly part: 'name' | 'birth_date' | 'country'
  /** 0 to 100 for the name; other parts add or subtract. */
  readonly points: number
  readonly detail: string
}

interface ScreeningHit {
  readonly list: string
  readonly entry: string
  readonly name: string
  readonly score: number
  readonly why: readonly ScorePart[]
  /** Hash of the entry's compared data. */
  readonly content: string
}

export interface ScreeningAnswer {
  /** Highest score first, one per entry. */
  readonly hits: readonly ScreeningHit[]
  /** Reason that the comparison is incomplete; null if it is complete. */
  readonly problem: NameProblem | null
}

interface ScreenedList {
  readonly list: string
  readonly entries: Iterable<ListedEntry>
}

/**
 * Maximum points for date of birth (8), country (2) and rounding: names this far below the threshold are compared too.
 */
const LIFT_MAX = 10.5
/** Minimum similarity of divided words. Less similar words often match by chance. */
const DIVIDED_SIMILARITY_MIN = 0.9
/** Points for a one-word name that the other name contains, if date or country match. */
const ONLY_WORD_POINTS = 73
/** Minimum points from date and country: a rare word requires a matching country, a common word a matching year. */
const ONLY_WORD_NARROWING_MIN = { rare: 2, common: 4 } as const
/** Maximum hits. More hits are reported as a problem, because the correct hit may be dropped. */
const HITS_MAX = 50

/** Maximum work: six times the work for the most expensive listed name. */
const WORK_MAX = 200_000

/** Stored as JSON, because tens of thousands of small objects take more memory. */
type PackedEntry = readonly [
  list: string,
  id: string,
  birthDates: readonly string[],
  countries: readonly string[],
  content: string,
]

const CONTENT_LENGTH = 22

/** Returns a hash of 128 bits, independent of the order of names, dates and countries. */
const hashContent = ({ kind, names, birthDates, countries }: ListedEntry): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, [...names].sort(), [...birthDates].sort(), [...countries].sort()]))
    .digest('base64url')
    .slice(0, CONTENT_LENGTH)

/** One block of memory for `openScreening`. */
export const buildScreening = (lists: readonly ScreenedList[]): Uint8Array => {
  const builders = { person: createNameIndexBuilder(), organization: createNameIndexBuilder() }
  const packed: string[] = []
  /** Listed names, in the order in which they were added to the index. */
  const names: Record<NameKind, string[]> = { person: [], organization: [] }
  for (const { list, entries } of lists) {
    for (const entry of entries) {
      const { id, birthDates, countries } = entry
      const facts: PackedEntry = [list, id, birthDates, countries, hashContent(entry)]
      const at = packed.push(JSON.stringify(facts)) - 1
      const kinds: readonly NameKind[] =
        entry.kind === 'person' ? ['person'] : entry.kind === 'other' ? ['person', 'organization'] : ['organization']
      for (const kind of kinds) {
        for (const name of entry.names) {
          const reading = readName(name, kind)
          if (reading.words.length === 0) continue
          for (const words of [reading.words, ...reading.others]) {
            builders[kind].add(words, at)
            names[kind].push(name)
          }
        }
      }
    }
  }
  return encodeFlat({
    ...prefixed('person', builders.person.build()),
    ...prefixed('organization', builders.organization.build()),
    ...prefixed('personNames', packTexts(names.person)),
    ...prefixed('organizationNames', packTexts(names.organization)),
    ...prefixed('entries', packTexts(packed)),
  })
}

export const openScreening = (image: Uint8Array) => {
  const arrays = decodeFlat(image)
  const entryOf = openTexts(below('entries', arrays))
  const open = (kind: NameKind) => {
    const index = openNameIndex(below(kind, arrays))
    return { index, finder: createNameFinder(index), nameOf: openTexts(below(`${kind}Names`, arrays)) }
  }
  const named = { person: open('person'), organization: open('organization') }

  const hitOf = (
    subject: ScreenedSubject,
    kind: NameKind,
    found: FoundName,
    threshold: number,
  ): ScreeningHit | null => {
    // Only an identical name gets 100 points.
    const pointsMax = found.comparison.similarity === 1 ? 100 : 99
    const namePoints = Math.min(pointsMax, Math.round(found.comparison.similarity * 100))
    const [list, entry, birthDates, countries, content] = JSON.parse(entryOf(found.entry)) as PackedEntry
    const narrowed = narrowParts(subject, kind, { birthDates, countries })
    const narrowing = narrowed.reduce((sum, { points }) => sum + points, 0)
    const { sharedOnlyWord } = found.comparison
    const isPlausible =
      kind === 'person' && sharedOnlyWord !== null && narrowing >= ONLY_WORD_NARROWING_MIN[sharedOnlyWord]
    const likeness = isPlausible ? Math.max(namePoints, ONLY_WORD_POINTS) : namePoints
    const score = Math.max(0, Math.min(pointsMax, likeness + narrowing))
    if (score < threshold && found.comparison.similarity !== 1) return null
    return {
      list,
      entry,
      name: named[kind].nameOf(found.name),
      score,
      why: [{ part: 'name', points: likeness, detail: found.comparison.describe() }, ...narrowed],
      content,
    }
  }

  /** Returns the name as written, and divided into listed words. */
  const find = ({ words, others, within, spelled, divisible }: NameReading, kind: NameKind, minimum: number) => {
    if (words.length === 0) return { found: [], problem: null }
    const budget: WorkBudget = { left: WORK_MAX }
    const findIn = (ways: readonly (readonly NameWord[])[]): readonly FoundName[] =>
      ways.flatMap((way) => named[kind].finder.find(way, minimum, budget))
    const divided = divisible.flatMap((way) => divideName(way, kind, named[kind].index.divide))
    const found = findIn([words, ...others])
    const ofDivided = findIn([...divided.map((each) => each.words), ...spelled]).filter(
      ({ comparison }) => comparison.hasWhole || comparison.similarity >= DIVIDED_SIMILARITY_MIN,
    )
    const ofWithin = findIn(within)
    const isCut = divided.some((each) => each.isCut)
    const problem: NameProblem | null = budget.left < 0 ? 'too-many-ways' : isCut ? 'too-many-words' : null
    return { problem, found: [...found, ...ofDivided, ...ofWithin] }
  }

  const screenAs = (subject: ScreenedSubject, kind: NameKind, threshold: number): ScreeningAnswer => {
    const reading = readName(subject.name, kind)
    const { found, problem } = find(reading, kind, (threshold - LIFT_MAX) / 100)
    const best = new Map<number, ScreeningHit>()
    for (const candidate of found) {
      const hit = hitOf(subject, kind, candidate, threshold)
      if (hit !== null && (best.get(candidate.entry)?.score ?? -1) < hit.score) best.set(candidate.entry, hit)
    }
    const cut = subject.isCut === true ? 'cut' : null
    return { hits: [...best.values()], problem: reading.problem ?? problem ?? cut }
  }

  return {
    names: named.person.index.names + named.organization.index.names,
    /** @param threshold Minimum score of a hit, 0 to 100. An identical name is always a hit. */
    screen: (subject: ScreenedSubject, threshold: number): ScreeningAnswer => {
      // A subject with a date of birth is a person. A company may have its owner's name.
      const isPerson = subject.kind === 'person' || (subject.kind === undefined && subject.birthDate !== undefined)
      const kinds: readonly NameKind[] = isPerson ? ['person'] : ['organization', 'person']
      const answers = kinds.map((each) => screenAs(subject, each, threshold))
      // Single letters are common only in company names.
      const telling = subject.kind === 'organization' ? answers.slice(0, 1) : answers
      const hits = new Map<string, ScreeningHit>()
      const ordered = answers.flatMap((answer) => answer.hits).sort((left, right) => right.score - left.score)
      for (const hit of ordered) {
        const entry = JSON.stringify([hit.list, hit.entry])
        if (!hits.has(entry)) hits.set(entry, hit)
      }
      return {
        hits: [...hits.values()].slice(0, HITS_MAX),
        problem:
          hits.size > HITS_MAX ? 'too-many-hits' : (telling.find(({ problem }) => problem !== null)?.problem ?? null),
      }
    },
  }
}

export type Screening = ReturnType<typeof openScreening>
