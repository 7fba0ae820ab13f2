// Decides which facts a decision record shows in plain, and which as a keyed hash.
import { FACT_SOURCES } from '../sources/all.ts'
import type { CarriedFacts, ExternalFacts } from '../types/facts.ts'

/** Parts of the facts that a record holds in plain. */
const SHOWN: readonly (keyof ExternalFacts)[] = [
  ...FACT_SOURCES.filter(({ digest }) => digest === null).map(({ part }) => part),
  'screeners',
  'reads',
  'velocity',
]

/** The facts of a job that its record shows. */
export const shownFactsOf = (carried: CarriedFacts): Readonly<Record<string, unknown>> => {
  const shown: Record<string, unknown> = {}
  for (const part of SHOWN) if (carried[part] !== undefined) shown[part] = carried[part]
  for (const [name, digest] of Object.entries(carried.digests ?? {})) shown[`${name}_hash`] = digest
  return shown
}

/** The facts in a record that a replay can evaluate on. */
export const recordedAnswersOf = (recorded: Readonly<Record<string, unknown>>): ExternalFacts =>
  Object.fromEntries(SHOWN.map((part) => [part, recorded[part]]))
