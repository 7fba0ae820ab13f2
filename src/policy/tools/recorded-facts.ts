// Determines the facts that a decision record contains in plain text or as a keyed hash.
import { FACT_SOURCES } from '../sources/all.ts'
import type { CarriedFacts, ExternalFacts } from '../types/facts.ts'

/** Parts of the facts that a record contains in plain text. */
const SHOWN: readonly (keyof ExternalFacts)[] = [
  ...FACT_SOURCES.filter(({ digest }) => digest === null).map(({ part }) => part),
  'screeners',
  'reads',
  'velocity',
]

/** Returns the facts of a job for its record. */
export const shownFactsOf = (carried: CarriedFacts): Readonly<Record<string, unknown>> => {
  const shown: Record<string, unknown> = {}
  for (const part of SHOWN) if (carried[part] !== undefined) shown[part] = carried[part]
  for (const [name, digest] of Object.entries(carried.digests ?? {})) shown[`${name}_hash`] = digest
  return shown
}

/** Returns the recorded facts on which a replay can evaluate. */
export const recordedAnswersOf = (recorded: Readonly<Record<string, unknown>>): ExternalFacts =>
  Object.fromEntries(SHOWN.map((part) => [part, recorded[part]]))
