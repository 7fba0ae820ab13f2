// The subset of CEL that policies can use. Excludes features that can hang or grow (regular expressions, concatenation,
// nested loops, JSON), or serve no fact (floating point, bytes, maps, null). inspect.ts and cost.ts reject them when a
// policy is saved.
import { nearNames } from '../../lib/edit-distance.ts'
import { AMOUNT_UNITS } from '../cel/literals.ts'
import type { CheckedType } from '../cel/syntax.ts'
import { TIME_PARTS } from '../cel/time-parts.ts'

/** Functions that take one literal and are evaluated during parsing (environment.ts). */
export const LITERAL_FUNCTIONS: ReadonlySet<string> = new Set(['address', 'uint256', ...Object.keys(AMOUNT_UNITS)])

/** Functions such as `days(7)`, with their units in seconds. */
export const DURATION_FUNCTIONS: ReadonlyMap<string, number> = new Map([
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
])

/** Functions that query sources (resolve.ts). Session policies can't use them. */
export const SOURCE_FUNCTIONS: ReadonlySet<string> = new Set(['in_list', 'screener'])

export const FUNCTIONS: ReadonlySet<string> = new Set([
  'size',
  'timestamp',
  'duration',
  ...DURATION_FUNCTIONS.keys(),
  ...LITERAL_FUNCTIONS,
  ...SOURCE_FUNCTIONS,
])

export const VELOCITY_METHODS: ReadonlySet<string> = new Set(['count', 'value'])

/** Methods with a variable and expressions over a list's elements, by numbers of arguments. */
export const LOOPS: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
])

/**
 * Methods of timestamps; durations have some of them. Excludes getDayOfYear, which the library computes in the
 * machine's time zone.
 */
export const TIME_METHODS: ReadonlySet<string> = new Set(TIME_PARTS.keys())

export const METHODS: ReadonlySet<string> = new Set([
  ...LOOPS.keys(),
  ...TIME_METHODS,
  'size',
  'startsWith',
  'endsWith',
  'contains',
])

const localPart = (method: string): string => `for a time zone, write request.time.${method}("Europe/Zurich")`

const REASONS: Readonly<Record<string, string>> = {
  matches: 'the policy language does not support regular expressions: use ==, in, startsWith, endsWith or contains',
  has: 'the policy language does not support has(): every fact is always present',
  bind: 'the policy language does not support cel.bind',
  hour: localPart('getHours'),
  weekday: localPart('getDayOfWeek'),
  time_of_day: localPart('getHours'),
  getDayOfYear: 'the policy language does not support getDayOfYear: compare with timestamp("…")',
}

const BALANCE = 'reads.balance, with reads: { balance: { kind: native-balance } } in the document'

/** Names that authors may confuse with functions or facts, with the intended form. */
export const MEANT: ReadonlyMap<string, string> = new Map([
  ['lists', 'in_list(wallet.address, "name")'],
  ['list', 'in_list(wallet.address, "name")'],
  ['screeners', 'screener("name").flagged'],
  ['balance', BALANCE],
  ['token', BALANCE],
  ['msg', 'tx.value or wallet.address'],
  ['wallet.balance', BALANCE],
  ['tx.to', 'target.address'],
  ['tx.from', 'wallet.address'],
  ['tx.amount', 'tx.value'],
])

/** Completes a message about an unknown name with similar names or, if there are none, with all names. */
export const meantOf = (name: string, known: Iterable<string>): string => {
  const all = [...known]
  const meant = MEANT.get(name)
  const near = meant === undefined ? nearNames(name, all) : [meant]
  return near.length === 0 ? `; known names: ${all.join(', ')}` : `: did you mean ${near.join(' or ')}?`
}

export const refusedName = (name: string, what: string, known: Iterable<string>): string =>
  Object.hasOwn(REASONS, name)
    ? REASONS[name]!
    : `"${name.slice(0, 64)}" is not a policy ${what}${meantOf(name, known)}`

const VALUE_TYPES: ReadonlySet<string> = new Set([
  'bool',
  'int',
  'string',
  'address',
  'uint256',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
])

/** Returns whether values of the type are compared in constant time. */
export const isValueType = ({ name }: CheckedType): boolean => VALUE_TYPES.has(name)

/** Permits values, lists of values, and `others` (types of calls). Loops over other lists have an unknown cost. */
export const isPermittedType = (type: CheckedType, others: ReadonlySet<string>): boolean =>
  !type.hasDynType &&
  !type.hasPlaceholderType &&
  (VALUE_TYPES.has(type.name) ||
    others.has(type.name) ||
    (type.kind === 'list' && VALUE_TYPES.has(type.valueType?.name ?? '')))
