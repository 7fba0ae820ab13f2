// Resolves names in a rule before the type check: replaces each with a node that yields its value, and records needs.

import { isListName, LIST_NAME_RULE } from '../domain/list.ts'
import { durationText } from '../lib/time.ts'
import { UnreadableValue } from './calls/decoding.ts'
import { POLICY_LIMITS } from './cel/limits.ts'
import type { PolicyScope } from './cel/scope.ts'
import {
  constantText,
  constantValue,
  isConstant,
  replaceByConstant,
  replaceByFunction,
  replaceByValue,
  type SyntaxNode,
  secondsOfDuration,
  type ValueBounds,
} from './cel/syntax.ts'
import { NAME, NAME_RULE } from './document/document-reader.ts'
import { toReadValue } from './document/read-value.ts'
import { type FactField, intOf, isOfType } from './fact-field.ts'
import { FactAbsentError, FactUnavailableError } from './fact-unavailable.ts'
import type { ScreenerFacts } from './types/facts.ts'
import { type FactNeed, type ScreenerNeed, screenerKey } from './types/needs.ts'
import type { AddressValue } from './values.ts'

export type Refuse = (node: SyntaxNode, message: string) => void

/** Steps of a source that makes a rule fail (cost.ts). */
export const FAILURE_STEPS = 25
const FACT_STEPS = 3
const TIME_STEPS = 6
const NUMBER_STEPS = 8
const LIST_STEPS = 30

const WINDOW_SECONDS_MIN = 60
const WINDOW_SECONDS_MAX = 31 * 86_400

const CATEGORIES_MAX = 64
const CATEGORY_LENGTH = 64
const READ_TEXT_LENGTH = 1024

const bounds = (steps: number, chars = 0, elements = 0): ValueBounds => ({ steps, elements, chars })

const ARGUMENT_BOUNDS = bounds(FACT_STEPS + FAILURE_STEPS, POLICY_LIMITS.decodedChars, POLICY_LIMITS.decodedElements)

const listNames = (names: Iterable<string>): string => {
  const all = [...names]
  return all.length === 0 ? 'none' : all.slice(0, 20).join(', ')
}

const SCREENER_FIELDS: Readonly<
  Record<string, { type: string; bounds: ValueBounds; select: (facts: ScreenerFacts) => unknown }>
> = {
  flagged: { type: 'bool', bounds: bounds(FACT_STEPS + FAILURE_STEPS), select: ({ flagged }) => flagged },
  score: {
    type: 'int',
    bounds: bounds(NUMBER_STEPS + FAILURE_STEPS),
    select: ({ score }) => intOf(score),
  },
  categories: {
    type: 'list<string>',
    bounds: bounds(FACT_STEPS + FAILURE_STEPS, CATEGORY_LENGTH, CATEGORIES_MAX),
    select: ({ categories }) => categories,
  },
}

export const createResolver = (scope: PolicyScope, refuse: Refuse) => {
  const { evaluation, needs } = scope

  const need = (node: SyntaxNode, wanted: FactNeed, limit: number, what: string): void => {
    needs.add(wanted)
    if (needs.count(wanted.kind) > limit) refuse(node, `a policy can use at most ${limit} different ${what}`)
  }

  const fact = (node: SyntaxNode, group: string, name: string, field: FactField): void => {
    if (group === 'call' && scope.calls === null && name !== 'discriminator') {
      refuse(node, 'the policy describes no calls: add an abi, or an idl for Solana')
    }
    if (field.requires !== undefined) scope.requires.add(field.requires)
    if (field.need !== undefined) needs.add(field.need)
    const isTime = field.type.startsWith('google.protobuf.')
    const steps = isTime ? TIME_STEPS : FACT_STEPS
    const mayFail = field.need === undefined && field.mayFail !== true ? 0 : FAILURE_STEPS
    const { read } = field
    replaceByValue(node, field.type, bounds(steps + mayFail, field.maxLength), () => read(evaluation))
  }

  const constant = (node: SyntaxNode, name: string): void => {
    const found = scope.constants.get(name)
    if (found === undefined) {
      refuse(node, `unknown constant "${name.slice(0, 64)}"; defined constants: ${listNames(scope.constants.keys())}`)
      return
    }
    replaceByConstant(node, found.type, found.value)
  }

  const read = (node: SyntaxNode, name: string): void => {
    const found = scope.reads.get(name)
    if (found === undefined) {
      refuse(node, `unknown read "${name.slice(0, 64)}"; defined reads: ${listNames(scope.reads.keys())}`)
      return
    }
    needs.add({ kind: 'read', read: name, definition: found.definition })
    const unavailable = new FactUnavailableError(`reads.${name}`)
    const { type } = found
    replaceByValue(node, type, bounds(NUMBER_STEPS + FAILURE_STEPS, READ_TEXT_LENGTH), () => {
      const value = toReadValue(type, evaluation.facts.external?.reads?.[name])
      if (value === null) throw evaluation.noteUnavailable(unavailable)
      return value
    })
  }

  const argument = (node: SyntaxNode, name: string): void => {
    const declared = scope.calls?.arguments.get(name)
    if (scope.calls === null || declared === undefined) {
      const known = listNames(scope.calls?.arguments.keys() ?? [])
      refuse(node, `unknown argument "${name.slice(0, 64)}"; known arguments: ${known}`)
      return
    }
    const [[type] = [''], ...others] = declared.types
    if (others.length > 0) {
      const named = [...declared.types].map(([kind, functionName]) => `${kind} in ${functionName}`).join(', ')
      refuse(node, `"${name}" is ${named}: rename one of them in the abi`)
      return
    }
    scope.requires.add('data')
    const absent = new FactAbsentError(`call.args.${name}`)
    replaceByValue(node, type, ARGUMENT_BOUNDS, () => {
      const { call } = evaluation
      const slot = call?.slots.get(name)
      const value = slot === undefined ? undefined : call?.values?.[slot]
      if (value === undefined || value instanceof UnreadableValue) throw absent
      return value
    })
  }

  const sourceName = (node: SyntaxNode, what: 'list' | 'screener', known: ReadonlySet<string> | undefined) => {
    const name = constantText(node)
    const isWritten = what === 'list' ? isListName : (text: string) => NAME.test(text)
    const rule = what === 'list' ? `must be ${LIST_NAME_RULE}` : NAME_RULE
    if (name === null) refuse(node, `the name of a ${what} must be a string literal`)
    else if (!isWritten(name)) refuse(node, `the name of a ${what} ${rule}`)
    else if (known !== undefined && !known.has(name)) {
      const { organization } = scope.known
      const option = organization === undefined ? '' : ` --org ${organization}`
      const remedy = what === 'list' ? `. To create it, run countersign list create ${name}${option}` : ''
      refuse(node, `unknown ${what} "${name}"; known ${what}s: ${listNames(known)}${remedy}`)
    } else return name
    return null
  }

  const inList = (node: SyntaxNode, parameters: readonly SyntaxNode[]): void => {
    const [address, nameNode, ageNode] = parameters
    if (address === undefined || nameNode === undefined || parameters.length > 3) {
      refuse(node, 'in_list() takes an address, a list name and, optionally, a maximum age')
      return
    }
    const maxAgeSeconds =
      ageNode === undefined || !isConstant(ageNode) ? null : secondsOfDuration(constantValue(ageNode))
    if (ageNode !== undefined && maxAgeSeconds === null)
      refuse(ageNode, 'the maximum age must be a literal duration, for example days(2)')
    const name = sourceName(nameNode, 'list', scope.known.lists)
    if (name === null) return
    need(node, { kind: 'list', list: name, maxAgeSeconds }, POLICY_LIMITS.lists, 'lists')
    const missing = new FactUnavailableError(`list ${name}`)
    const stale = new FactUnavailableError(`list ${name} with an age of at most ${maxAgeSeconds} s`)
    replaceByFunction(node, address, 'address', 'bool', bounds(LIST_STEPS + FAILURE_STEPS), (value) => {
      const { lists } = evaluation.facts
      const age = lists === undefined ? null : lists.ageSeconds(name)
      if (lists === undefined || age === null) throw evaluation.noteUnavailable(missing)
      if (maxAgeSeconds !== null && age > maxAgeSeconds) throw evaluation.noteUnavailable(stale)
      return lists.contains(name, (value as AddressValue).text)
    })
  }

  const screener = (node: SyntaxNode, parameters: readonly SyntaxNode[], field: string, onBehalf: boolean): void => {
    const nameNode = parameters[0]
    const name =
      nameNode === undefined || parameters.length > 1 ? null : sourceName(nameNode, 'screener', scope.known.screeners)
    const definition = Object.hasOwn(SCREENER_FIELDS, field) ? SCREENER_FIELDS[field] : undefined
    if (definition === undefined) {
      refuse(
        node,
        `a screener has no field "${field.slice(0, 64)}"; valid fields: ${Object.keys(SCREENER_FIELDS).join(', ')}`,
      )
    }
    if (nameNode === undefined || parameters.length > 1)
      refuse(node, 'screener() takes the name of a screener and, optionally, onBehalf.address')
    if (name === null || definition === undefined) return
    const wanted: ScreenerNeed = { kind: 'screener', screener: name, ...(onBehalf ? { onBehalf } : {}) }
    need(node, wanted, POLICY_LIMITS.screeners, 'screeners')
    const key = screenerKey(wanted)
    const unavailable = new FactUnavailableError(`screener ${key} ${field}`)
    const absent = new FactAbsentError(`screener ${key} ${field}`)
    replaceByValue(node, definition.type, definition.bounds, () => {
      const facts = evaluation.facts.external?.screeners?.[key]
      if (facts == null) throw evaluation.noteUnavailable(unavailable)
      const value = definition.select(facts)
      if (!isOfType(definition, value)) throw absent
      return value
    })
  }

  const velocity = (node: SyntaxNode, method: string, parameters: readonly SyntaxNode[]): void => {
    const [windowNode, ...others] = parameters
    const seconds =
      windowNode !== undefined && isConstant(windowNode) ? secondsOfDuration(constantValue(windowNode)) : null
    if (seconds === null || others.length > 0) {
      refuse(
        windowNode ?? node,
        `velocity.${method}() takes a literal duration, for example velocity.${method}(hours(24))`,
      )
      return
    }
    if (seconds < WINDOW_SECONDS_MIN || seconds > WINDOW_SECONDS_MAX) {
      refuse(windowNode ?? node, 'a window must be from one minute to 31 days long')
      return
    }
    need(node, { kind: 'velocity', windowSeconds: seconds }, POLICY_LIMITS.velocityWindows, 'velocity windows')
    // A sum per chain in its native token, so it is meaningful only for the request's chain.
    const key = String(seconds)
    const unavailable = new FactUnavailableError(`velocity over ${durationText(seconds)}`)
    replaceByValue(node, method === 'count' ? 'int' : 'uint256', bounds(NUMBER_STEPS + FAILURE_STEPS), () => {
      const facts = evaluation.facts.external?.velocity?.[key]
      const value = method === 'count' ? intOf(facts?.count) : toReadValue('uint256', facts?.value)
      if (value === null) throw evaluation.noteUnavailable(unavailable)
      return value
    })
  }

  return { fact, constant, read, argument, inList, screener, velocity }
}

export type Resolver = ReturnType<typeof createResolver>

export const factField = ({ facts }: PolicyScope, group: string, name: string): FactField | undefined => {
  const fields = Object.hasOwn(facts, group) ? facts[group] : undefined
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
}
