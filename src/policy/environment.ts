// The CEL environment: the types, operators and functions that policies have beyond the standard ones. What of the
// standard library is left out is decided in language.ts. Source: https://github.com/google/cel-spec (langdef.md).
import { Environment, ParseError } from '@marcbachmann/cel-js'
import { AddressValue, FACTS } from './facts.ts'
import { POLICY_LIMITS } from './limits.ts'
import {
  AMOUNT_UNITS,
  LiteralMalformedError,
  parseAddressLiteral,
  parseAmountLiteral,
  parseUint256Literal,
} from './literals.ts'
import { constantNode, type EvaluatorHook, markConstant, type SyntaxNode, type TypeCheckerHook } from './syntax.ts'
import { toUint256, UINT256_ARITHMETIC, UINT256_COMPARISON, Uint256 } from './uint256.ts'

interface MacroCall {
  readonly ast: SyntaxNode
  readonly args: readonly SyntaxNode[]
}

const refuse = (node: SyntaxNode, message: string): never => {
  throw new ParseError({ code: 'invalid_literal', message, node })
}

/** The literal that a call is made of, read; any mistake is placed under the literal. */
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
      return refuse(argument, 'address() takes a literal text')
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
      return refuse(argument, `${unit}() takes a literal number, or a text for fractions`)
    }
    return constantNode(
      'uint256',
      readLiteral(ast, argument, () => parseAmountLiteral(unit, literal)),
    )
  })
}

/** `uint256("…")` is a literal; `uint256(n)` turns an int into one, which fails when it is negative. */
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
          refuse(argument, 'uint256() takes an int or a literal text')
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
  const isIn = (value: Uint256, list: readonly (Uint256 | bigint)[]): boolean =>
    list.some((member) => UINT256_COMPARISON['=='](value, member))
  environment.registerOperator('uint256 in list<uint256>', isIn)
  environment.registerOperator('uint256 in list<int>', isIn)
}

const registerAddressOperators = (environment: Environment): void => {
  environment.registerOperator('address == address', (a: AddressValue, b: AddressValue) => a.text === b.text)
  environment.registerOperator('address in list<address>', (value: AddressValue, list: readonly AddressValue[]) => {
    for (const member of list) if (member.text === value.text) return true
    return false
  })
}

/** Making one costs milliseconds: one serves all policies of a thread. Nothing in it changes with a policy. */
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
  for (const [name, group] of Object.entries(FACTS)) {
    const fields = Object.fromEntries(Object.entries(group.fields).map(([field, { type }]) => [field, type]))
    environment.registerType(group.typeName, { ctor: group.constructor, fields })
    environment.registerVariable(name, group.typeName)
  }
  registerAddressLiteral(environment)
  for (const unit of Object.keys(AMOUNT_UNITS)) registerAmountLiteral(environment, unit)
  registerUint256Conversion(environment)
  registerUint256Operators(environment)
  registerAddressOperators(environment)
  return environment
}
