// Names that the rules of a document can use, and the needs of these rules, filled by compilation.
import type { Environment } from '@marcbachmann/cel-js'
import type { OptionalField } from '../../domain/target.ts'
import type { CallTable } from '../calls/call-table.ts'
import { Evaluation } from '../evaluate.ts'
import type { FactGroup } from '../fact-field.ts'
import { FACTS } from '../facts.ts'
import { createNeeds, type Needs } from '../needs.ts'
import { SESSION_FACTS } from '../session-facts.ts'
import type { PolicyDocument, PolicyRead, PolicySubject } from '../types/document.ts'
import { type ConstantValue, constantValue } from './constants.ts'
import { createTupleEnvironment, permittedTypes, sharedEnvironment } from './environment.ts'
import type { Steps } from './steps.ts'

export interface KnownSources {
  /** The deployment's chains. A policy that names another chain gets a warning; no warnings if omitted. */
  readonly chains?: ReadonlySet<string>
  /** A policy that names another list or screener is rejected. */
  readonly lists?: ReadonlySet<string>
  readonly screeners?: ReadonlySet<string>
  /** Organization of the lists, for messages. */
  readonly organization?: string
}

export interface PolicyScope {
  readonly decides: PolicySubject
  readonly facts: Readonly<Record<string, FactGroup>>
  /** First names of expressions, which loop variables can't use. */
  readonly roots: ReadonlySet<string>
  readonly environment: Environment
  readonly types: ReadonlySet<string>
  readonly evaluation: Evaluation
  readonly constants: ReadonlyMap<string, ConstantValue>
  readonly reads: ReadonlyMap<string, PolicyRead>
  readonly calls: CallTable | null
  readonly known: KnownSources
  readonly requires: Set<OptionalField>
  readonly needs: Needs
}

const REQUEST_ROOTS: ReadonlySet<string> = new Set([...Object.keys(FACTS), 'constants', 'reads', 'velocity'])
const SESSION_ROOTS: ReadonlySet<string> = new Set([
  ...Object.keys(SESSION_FACTS).map((group) => group.split('.')[0] ?? ''),
  'constants',
])

export function* createPolicyScope(
  { decides, constants, reads }: Pick<PolicyDocument, 'decides' | 'constants' | 'reads'>,
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
  const ofSessions = decides === 'sessions'
  return {
    decides,
    facts: ofSessions ? SESSION_FACTS : FACTS,
    roots: ofSessions ? SESSION_ROOTS : REQUEST_ROOTS,
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
