// Types, operators and functions of policies in addition to CEL's standard library, parts of which language.ts
// excludes. Source: https://github.com/google/cel-spec (langdef.md).
import { Environment, ParseError } from '@marcbachmann/cel-js'
import type { CallTable } from '../calls/call-table.ts'
import { isFieldName, type TupleType } from '../calls/tuple-types.ts'
import {
  AddressValue,
  isAddressIn,
  isSameAddress,
  isUint256In,
  toUint256,
  UINT256_ARITHMETIC,
  UINT256_COMPARISON,
  Uint256,
} from '../values.ts'
import { POLICY_LIMITS } from './limits.ts'
import {
  AMOUNT_UNITS,
  LiteralMalformedError,
  parseAddressLiteral,
  parseAmountLiteral,
  parseUint256Literal,
} from './literals.ts'
import type { Steps } from './steps.ts'
import { constantNode, type EvaluatorHook, markConstant, type SyntaxNode, type TypeCheckerHook } from './syntax.ts'

interface MacroCall {
  readonly ast: SyntaxNode
  readonly args: readonly SyntaxNode[]
}

const refuse = (node: SyntaxNode, message: string): never => {
  throw new ParseError({ code: 'invalid_literal', message, node })
}

const readLiteral = <Value>(ast: SyntaxNode, argument: SyntaxNode, read: () => Value): Value => {
  try {
    const value = read()
    markConstant(ast, value)
    return value
  } catch (error) {
    if (error instanceof LiteralMalformedError) return refuse(argument, error.message)
    throw error
  }
}

const registerAddressLiteral = (environment: Environment): void => {
  environment.registerFunction('address(ast): address', ({ ast, args }: MacroCall) => {
    const argument = args[0]!
    const literal = argument.args
    if (argument.op !== 'value' || typeof literal !== 'string')
      return refuse(argument, 'address() takes a string literal')
    return constantNode(
      'address',
      readLiteral(ast, argument, () => parseAddressLiteral(literal)),
    )
  })
}

const registerAmountLiteral = (environment: Environment, unit: string): void => {
  environment.registerFunction(`${unit}(ast): uint256`, ({ ast, args }: MacroCall) => {
    const argument = args[0]!
    const literal = argument.args
    if (argument.op !== 'value' || (typeof literal !== 'string' && typeof literal !== 'bigint')) {
      return refuse(argument, `${unit}() takes a number literal, or a string literal for fractions`)
    }
    return constantNode(
      'uint256',
      readLiteral(ast, argument, () => parseAmountLiteral(unit, literal)),
    )
  })
}

/** `uint256("…")` is a literal; `uint256(n)` converts an int and fails for negative numbers. */
const registerUint256Conversion = (environment: Environment): void => {
  environment.registerFunction('uint256(ast): uint256', ({ ast, args }: MacroCall) => {
    const argument = args[0]!
    const literal = argument.args
    if (argument.op === 'value' && (typeof literal === 'string' || typeof literal === 'bigint')) {
      return constantNode(
        'uint256',
        readLiteral(ast, argument, () => parseUint256Literal(literal)),
      )
    }
    return {
      async: false,
      typeCheck: (checker: TypeCheckerHook, _macro: unknown, context: unknown) => {
        if (checker.check(argument, context).name !== 'int')
          refuse(argument, 'uint256() takes an int or a string literal')
        return checker.getType('uint256')
      },
      evaluate: (evaluator: EvaluatorHook, _macro: unknown, context: unknown) =>
        toUint256(evaluator.run(argument, context) as bigint),
    }
  })
}

const registerUint256Operators = (environment: Environment): void => {
  const pairs = [
    ['uint256', 'uint256'],
    ['uint256', 'int'],
    ['int', 'uint256'],
  ] as const
  for (const [left, right] of pairs) {
    for (const [operator, handler] of Object.entries(UINT256_ARITHMETIC)) {
      environment.registerOperator(`${left} ${operator} ${right}: uint256`, handler)
    }
    for (const [operator, handler] of Object.entries(UINT256_COMPARISON)) {
      // The library derives `int == uint256` from `uint256 == int`.
      if (operator === '==' && left === 'int') continue
      environment.registerOperator(`${left} ${operator} ${right}: bool`, handler)
    }
  }
  environment.registerOperator('uint256 in list<uint256>', isUint256In)
  environment.registerOperator('uint256 in list<int>', isUint256In)
}

/** Takes milliseconds; use sharedEnvironment instead. */
export const createPolicyEnvironment = (): Environment => {
  const environment = new Environment({
    unlistedVariablesAreDyn: false,
    homogeneousAggregateLiterals: true,
    enableOptionalTypes: false,
    limits: {
      maxAstNodes: POLICY_LIMITS.expressionNodes,
      maxDepth: POLICY_LIMITS.bracketDepth,
      maxListElements: POLICY_LIMITS.listElements,
      maxMapEntries: POLICY_LIMITS.listElements,
      maxCallArguments: POLICY_LIMITS.callArguments,
    },
  })
  environment.registerType('address', { ctor: AddressValue, fields: {} })
  environment.registerType('uint256', { ctor: Uint256, fields: {} })
  registerAddressLiteral(environment)
  for (const unit of Object.keys(AMOUNT_UNITS)) registerAmountLiteral(environment, unit)
  registerUint256Conversion(environment)
  registerUint256Operators(environment)
  environment.registerOperator('address == address', isSameAddress)
  environment.registerOperator('address in list<address>', isAddressIn)
  return environment
}

let shared: Environment | null = null

/** Returns the thread's environment, which all policies share. */
export const sharedEnvironment = (): Environment => {
  shared ??= createPolicyEnvironment()
  return shared
}

export function* createTupleEnvironment(tuples: readonly TupleType[]): Steps<Environment> {
  const environment = sharedEnvironment().clone()
  for (const tuple of tuples) {
    yield
    const readable = tuple.fields.filter((field) => field.type !== '' && isFieldName(field.name))
    const types = Object.fromEntries(readable.map((field) => [field.name, field.type]))
    environment.registerType(tuple.name, { ctor: tuple.constructor, fields: types })
  }
  return environment
}

/** Returns the permitted types, including element types of lists. */
export const permittedTypes = (calls: CallTable | null): ReadonlySet<string> => {
  const types = new Set<string>()
  const permit = (type: string): void => {
    if (type === '' || types.has(type)) return
    types.add(type)
    const inner = /^list<(.*)>$/.exec(type)?.[1]
    if (inner !== undefined) permit(inner)
  }
  for (const { fields } of calls?.tuples ?? []) for (const { type } of fields) permit(type)
  for (const { types: argumentTypes } of calls?.arguments.values() ?? [])
    for (const type of argumentTypes.keys()) permit(type)
  // Permits lists of tuples, which result from filter or map.
  for (const { name } of calls?.tuples ?? []) permit(`list<${name}>`)
  return types
}
