// What the rules of one document may name, and what they turned out to need. One scope a policy, filled while its rules
// are compiled.
import type { Environment } from '@marcbachmann/cel-js'
import type { OptionalField } from '../domain/target.ts'
import type { CallTable } from './call-table.ts'
import { type ConstantValue, constantValue } from './constants.ts'
import { createTupleEnvironment, permittedTypes, sharedEnvironment } from './environment.ts'
import { Evaluation } from './evaluation.ts'
import { FACTS } from './facts.ts'
import { createNeeds, type Needs } from './needs.ts'
import type { Steps } from './steps.ts'
import type { PolicyDocument, PolicyRead } from './types/document.ts'

/** What there is for an author's policy. */
export interface KnownSources {
  /** Names of the deployment's chains; a policy that names another is warned of it. Without them nothing is warned of. */
  readonly chains?: ReadonlySet<string>
  /** Which lists and screeners there are; a policy that names another is refused. */
  readonly lists?: ReadonlySet<string>
  readonly screeners?: ReadonlySet<string>
}

export interface PolicyScope {
  readonly environment: Environment
  /** Types beside the language's own: tuples, and lists of them. */
  readonly types: ReadonlySet<string>
  /** Bound to one request after another. */
  readonly evaluation: Evaluation
  readonly constants: ReadonlyMap<string, ConstantValue>
  readonly reads: ReadonlyMap<string, PolicyRead>
  readonly calls: CallTable | null
  readonly known: KnownSources
  readonly requires: Set<OptionalField>
  readonly needs: Needs
}

/** First names of what an expression may read. A loop's variable can't have one of them. */
export const ROOT_NAMES: ReadonlySet<string> = new Set([...Object.keys(FACTS), 'constants', 'reads', 'velocity'])

/** @throws LiteralMalformedError when the document holds a constant that reading it would have refused. */
export function* createPolicyScope(
  { constants, reads }: Pick<PolicyDocument, 'constants' | 'reads'>,
  calls: CallTable | null,
  known: KnownSources = {},
): Steps<PolicyScope> {
  const tuples = calls?.tuples ?? []
  const environment = tuples.length === 0 ? sharedEnvironment() : yield* createTupleEnvironment(tuples)
  const values = new Map<string, ConstantValue>()
  for (const constant of constants) {
    yield
    values.set(constant.name, constantValue(constant))
  }
  return {
    environment,
    types: permittedTypes(calls),
    evaluation: new Evaluation(calls),
    constants: values,
    reads: new Map(reads.map((read) => [read.name, read])),
    calls,
    known,
    requires: new Set(),
    needs: createNeeds(),
  }
}
