// Which facts a decision record shows as they were, and which as a keyed hash.
import { FACT_SOURCES } from './sources/all.ts'
import type { CarriedFacts, ExternalFacts } from './types/facts.ts'

/** Parts of the facts that a record has word for word. */
const SHOWN: readonly (keyof ExternalFacts)[] = [
  ...FACT_SOURCES.filter(({ digest }) => digest === null).map(({ part }) => part),
  'screeners',
  'reads',
  'velocity',
]

/** What a record shows of the facts that a job carried. */
export const shownFactsOf = (carried: CarriedFacts): Readonly<Record<string, unknown>> => {
  const shown: Record<string, unknown> = {}
  for (const part of SHOWN) if (carried[part] !== undefined) shown[part] = carried[part]
  for (const [name, digest] of Object.entries(carried.digests ?? {})) shown[`${name}_hash`] = digest
  return shown
}

/** What a record holds of the facts of its request, to evaluate on. */
export const recordedAnswersOf = (recorded: Readonly<Record<string, unknown>>): ExternalFacts =>
  Object.fromEntries(SHOWN.map((part) => [part, recorded[part]]))
