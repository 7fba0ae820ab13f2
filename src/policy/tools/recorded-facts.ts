// Facts in a decision record, in plain text or as keyed hashes.
import { FACT_SOURCES } from '../sources/all.ts'
import type { CarriedFacts, ExternalFacts } from '../types/facts.ts'

const SHOWN: readonly (keyof ExternalFacts)[] = [
  ...FACT_SOURCES.filter(({ digest }) => digest === null).map(({ part }) => part),
  'screeners',
  'reads',
  'velocity',
]

export const shownFactsOf = (carried: CarriedFacts): Readonly<Record<string, unknown>> => {
  const shown: Record<string, unknown> = {}
  for (const part of SHOWN) if (carried[part] !== undefined) shown[part] = carried[part]
  for (const [name, digest] of Object.entries(carried.digests ?? {})) shown[`${name}_hash`] = digest
  return shown
}

export const recordedAnswersOf = (recorded: Readonly<Record<string, unknown>>): ExternalFacts =>
  Object.fromEntries(SHOWN.map((part) => [part, recorded[part]]))
