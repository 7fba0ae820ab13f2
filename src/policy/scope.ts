// The names that the rules of one document may use, and what the rules turn out to need. Each policy has one scope,
// which is filled while its rules are compiled.
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

/** The sources that exist where an author's policy will run. */
export interface KnownSources {
  /**
   * Names of the deployment's chains: a policy that names another chain gets a warning. Without them there are no
   * warnings.
   */
  readonly chains?: ReadonlySet<string>
  /** The lists and screeners that exist: a policy that names another one is refused. */
  readonly lists?: ReadonlySet<string>
  readonly screeners?: ReadonlySet<string>
}

export interface PolicyScope {
  readonly environment: Environment
  /** Types in addition to the language's own: tuples, and lists of tuples. */
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

/** First names that an expression may read. A loop's variable can't use any of them. */
export const ROOT_NAMES: ReadonlySet<string> = new Set([...Object.keys(FACTS), 'constants', 'reads', 'velocity'])

/** @throws LiteralMalformedError when the document holds a constant that the reader would have refused */
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
