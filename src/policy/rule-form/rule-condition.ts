// Conditions of a fact, an operator and a value, for people who don't write CEL. Apart from quotes around whole
// numbers, the parser accepts only text that a condition renders to; other conditions are edited as text.

/** `always`, `true` and `false` have no value. */
export type Operator = (typeof OPERATORS)[number]
const OPERATORS = [
  'always',
  'true',
  'false',
  'listed',
  'not listed',
  '==',
  '!=',
  'in',
  'not in',
  '<',
  '<=',
  '>',
  '>=',
] as const

export interface RuleCondition {
  readonly fact: string
  readonly operator: Operator
  /** Value as entered, such as `18`, `1.5 ether`, `7 days`, `CU, IR`, or the constant `constants.limit`. */
  readonly value: string
}

export type FactTypes = Readonly<Record<string, string>>

interface ValueType {
  readonly operators: readonly Operator[]
  readonly literal: (value: string) => string | null
  readonly value: (literal: string) => string | null
}

const ORDER = ['==', '!=', '<', '<=', '>', '>='] as const

/** CEL accepts whole numbers with and without quotes: `ether(10)`, `ether("10")`. */
const unquoted = (text: string): string => text.replace(/\("([0-9]+)"\)$/, '($1)')
const isSameText = (one: string | null, other: string): boolean => one !== null && unquoted(one) === unquoted(other)

/**
 * Returns the type of numbers with an optional unit, which is a CEL function. @param of returns the literal of a number
 * without a unit
 */
const withUnit = (plain: RegExp, of: (value: string) => string): Omit<ValueType, 'operators'> => ({
  literal: (value) => {
    if (plain.test(value)) return of(value)
    const [, amount, unit] = /^([0-9.]+) ([a-z][a-z0-9]*)$/.exec(value) ?? []
    return unit === undefined ? null : `${unit}(${amount?.includes('.') ? `"${amount}"` : amount})`
  },
  value: (literal) => {
    const [, unit, amount = ''] = /^([a-z][a-z0-9]*)\("?([^"]*)"?\)$/.exec(literal) ?? []
    return unit === undefined ? null : isSameText(of(amount), literal) ? amount : `${amount} ${unit}`
  },
})

const quoted = (pattern: RegExp, prefix = '', suffix = ''): Omit<ValueType, 'operators'> => ({
  literal: (value) => (pattern.test(value) ? `${prefix}"${value}"${suffix}` : null),
  value: (literal) => literal.slice(prefix.length + 1, literal.length - suffix.length - 1),
})

const TYPES: Readonly<Record<string, ValueType>> = {
  bool: { operators: ['true', 'false'], literal: () => null, value: () => null },
  string: { operators: ['==', '!=', 'in', 'not in'], ...quoted(/^[^"\\\p{C}]*$/u) },
  address: { operators: ['listed', 'not listed', '==', '!='], ...quoted(/^[0-9A-Za-z]+$/, 'address(', ')') },
  int: { operators: ORDER, literal: (value) => (/^-?[0-9]+$/.test(value) ? value : null), value: (literal) => literal },
  uint256: { operators: ORDER, ...withUnit(/^[0-9]+$/, (value) => `uint256("${value}")`) },
  'google.protobuf.Timestamp': { operators: ORDER, ...quoted(/^[0-9TZ:.+-]+$/, 'timestamp(', ')') },
  'google.protobuf.Duration': {
    operators: ORDER,
    ...withUnit(/^[0-9]+[0-9a-z.]*$/, (value) => `duration("${value}")`),
  },
}

const CONSTANT = /^constants\.[A-Za-z_]\w*$/
const ITEM = /^[^"\\,\p{C}]+$/u

/** Returns no operators for types that are edited as text. */
export const operatorsOf = (type: string | undefined): readonly Operator[] => TYPES[type ?? '']?.operators ?? []

export const hasValue = (operator: Operator): boolean => !['always', 'true', 'false'].includes(operator)

const listLiteral = (value: string): string | null => {
  const items = value.split(',').map((item) => item.trim())
  return items.every((item) => ITEM.test(item)) ? `[${items.map((item) => `"${item}"`).join(', ')}]` : null
}

/** Renders CEL; null if the value isn't valid for the fact. */
export const renderCondition = ({ fact, operator, value }: RuleCondition, types: FactTypes): string | null => {
  if (operator === 'always') return 'true'
  const type = TYPES[types[fact] ?? '']
  if (type === undefined || !type.operators.includes(operator)) return null
  if (operator === 'true') return fact
  if (operator === 'false') return `!${fact}`
  if (operator === 'listed' || operator === 'not listed') {
    return /^[\w-]+$/.test(value) ? `${operator === 'listed' ? '' : '!'}in_list(${fact}, "${value}")` : null
  }
  const isIn = operator === 'in' || operator === 'not in'
  const literal = CONSTANT.test(value) ? value : isIn ? listLiteral(value) : type.literal(value)
  if (literal === null) return null
  return operator === 'not in' ? `!(${fact} in ${literal})` : `${fact} ${operator} ${literal}`
}

const SHAPES: readonly (readonly [RegExp, (found: Readonly<Record<string, string>>) => Operator])[] = [
  [/^true$/, () => 'always'],
  [/^(?<fact>[\w.]+)$/, () => 'true'],
  [/^!(?<fact>[\w.]+)$/, () => 'false'],
  [/^in_list\((?<fact>[\w.]+), "(?<name>[\w-]+)"\)$/, () => 'listed'],
  [/^!in_list\((?<fact>[\w.]+), "(?<name>[\w-]+)"\)$/, () => 'not listed'],
  [/^(?<fact>[\w.]+) in (?<list>.+)$/, () => 'in'],
  [/^!\((?<fact>[\w.]+) in (?<list>.+)\)$/, () => 'not in'],
  [/^(?<fact>[\w.]+) (?<order>[=!<>]=|[<>]) (?<literal>.+)$/, ({ order }) => order as Operator],
]

/** Returns null for a condition that only text can express. */
export const parseCondition = (text: string, types: FactTypes): RuleCondition | null => {
  for (const [shape, operatorOf] of SHAPES) {
    const found = shape.exec(text)
    if (found === null) continue
    const { fact = '', name, list, literal, ...rest } = (found.groups ?? {}) as Record<string, string>
    const type = TYPES[types[fact] ?? '']
    const read = (source: string): string | null => (CONSTANT.test(source) ? source : (type?.value(source) ?? null))
    const value =
      name ??
      (list === undefined
        ? literal === undefined
          ? ''
          : read(literal)
        : CONSTANT.test(list)
          ? list
          : list.slice(2, -2).replaceAll('", "', ', '))
    if (value === null) return null
    const condition = { fact, operator: operatorOf(rest), value }
    // A form can't show other text, such as two conditions, and would lose the rest.
    return isSameText(renderCondition(condition, types), text) ? condition : null
  }
  return null
}
