// The facts of one job: as input of its policy, and as shown in its record.
import type { RecordedFacts, RecordedList } from '../../src/decision-log/types.ts'
import { shownFactsOf } from '../../src/policy/tools/recorded-facts.ts'
import type { CarriedFacts, EvaluationFacts, ExternalFacts, ListReader } from '../../src/policy/types/facts.ts'

/** Maximum recorded addresses per list. A rule that checks every element of an array may look up more. */
const RECORDED_LOOKUPS = 32

export interface ListJournal extends ListReader {
  recorded(): Readonly<Record<string, RecordedList>>
}

export const createListJournal = (reader: ListReader): ListJournal => {
  const lists = new Map<string, { age: number | null; in: string[]; out: string[] }>()
  return {
    ageSeconds: (name) => {
      const age = reader.ageSeconds(name)
      const known = lists.get(name)
      if (known === undefined) lists.set(name, { age, in: [], out: [] })
      return age
    },
    contains: (name, address) => {
      const isIn = reader.contains(name, address)
      const list = lists.get(name)
      const into = isIn ? list?.in : list?.out
      if (into !== undefined && into.length < RECORDED_LOOKUPS && !into.includes(address)) into.push(address)
      return isIn
    },
    recorded: () => Object.fromEntries(lists),
  }
}

/** The shadow revision's own facts take precedence over shared facts of the same name. */
export const shadowFactsOf = (facts: EvaluationFacts, carried: CarriedFacts | null): EvaluationFacts => {
  const shadow: ExternalFacts | undefined = carried?.shadow
  if (shadow === undefined) return facts
  const external = facts.external ?? {}
  const velocity =
    shadow.velocity === null || external.velocity === null ? null : { ...external.velocity, ...shadow.velocity }
  return {
    ...facts,
    external: {
      ...external,
      ...shadow,
      screeners: { ...external.screeners, ...shadow.screeners },
      reads: { ...external.reads, ...shadow.reads },
      velocity,
    },
  }
}

export const recordedFactsOf = (carried: CarriedFacts | null, journal: ListJournal | null): RecordedFacts | null => {
  const lists = journal?.recorded() ?? {}
  const facts: RecordedFacts = {
    ...(carried === null ? {} : shownFactsOf(carried)),
    ...(Object.keys(lists).length === 0 ? {} : { lists }),
  }
  return Object.keys(facts).length === 0 ? null : facts
}
