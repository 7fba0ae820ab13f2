// Finds a rule's possible calls, and calls that lack an argument it reads. Conditions on function, signature or
// selector are guards; as in CEL, `a && b` guards in both directions.
import type { CallShape } from '../calls/call-table.ts'
import { textsOf } from '../cel/fold.ts'
import { childrenOf, constantValue, isConstant, type SyntaxNode } from '../cel/syntax.ts'

/** A function of the policy, or undecoded data. Unknown facts are null. */
export interface PossibleCall {
  readonly 'call.function': string
  readonly 'call.signature': string
  readonly 'call.discriminator': string | null
  readonly 'tx.selector': string | null
  readonly 'chain.family': string | null
  readonly slots: ReadonlyMap<string, number>
}

export const UNDECODED: PossibleCall = {
  'call.function': '',
  'call.signature': '',
  'call.discriminator': null,
  'tx.selector': null,
  'chain.family': null,
  slots: new Map(),
}

const possibleCall = ({ family, code, name, signature, slots }: CallShape): PossibleCall => ({
  'call.function': name,
  'call.signature': signature,
  'call.discriminator': family === 'solana' ? code : null,
  'tx.selector': family === 'evm' ? code : null,
  'chain.family': family,
  slots,
})

type GuardFact = Exclude<keyof PossibleCall, 'slots'>
const isGuardFact = (name: string): name is GuardFact => name !== 'slots' && Object.hasOwn(UNDECODED, name)

/** Set of possible calls as bits. */
type Calls = bigint

/** Calls for which a condition may be true, and may be false; a call can be in both. */
interface Outcomes {
  readonly whenTrue: Calls
  readonly whenFalse: Calls
}

export interface MissingArgument {
  readonly at: number
  readonly argument: string
  readonly having: readonly PossibleCall[]
  readonly lacking: readonly PossibleCall[]
}

/** Returns `group.field` for a selection from a name; otherwise an empty string. */
export const selectionOf = (node: SyntaxNode): string => {
  if (node.op !== '.') return ''
  const [root, name] = node.args as [SyntaxNode, string]
  return root.op === 'id' ? `${root.args}.${name}` : ''
}

const argumentOf = (node: SyntaxNode): string | null => {
  if (node.op !== '.') return null
  const [root, name] = node.args as [SyntaxNode, string]
  return selectionOf(root) === 'call.args' ? name : null
}

export class CallGuards {
  readonly #possible: readonly PossibleCall[]
  readonly all: Calls
  readonly #known = new Map<SyntaxNode, Outcomes>()
  /** Calls that have the argument, by argument name. */
  readonly #having: ReadonlyMap<string, Calls>

  constructor(functions: readonly CallShape[]) {
    this.#possible = [...functions.map(possibleCall), UNDECODED]
    this.all = (1n << BigInt(this.#possible.length)) - 1n
    const having = new Map<string, Calls>()
    for (const [index, { slots }] of this.#possible.entries()) {
      const call = 1n << BigInt(index)
      for (const name of slots.keys()) having.set(name, (having.get(name) ?? 0n) | call)
    }
    this.#having = having
  }

  #callsWith(holds: (call: PossibleCall) => boolean): Calls {
    // Shifting a bigint would copy it for each call.
    let digits = ''
    for (let index = this.#possible.length - 1; index >= 0; index--) digits += holds(this.#possible[index]!) ? '1' : '0'
    return BigInt(`0b${digits}`)
  }

  #listOf(calls: Calls): readonly PossibleCall[] {
    const digits = calls.toString(2)
    return this.#possible.filter((_, index) => digits[digits.length - 1 - index] === '1')
  }

  #outcomesOfComparison(node: SyntaxNode): Outcomes {
    const sides = childrenOf(node)
    const fact = sides.map(selectionOf).find(isGuardFact)
    const texts = new Set(sides.flatMap(textsOf).map(({ text }) => text))
    if (fact === undefined || texts.size === 0) return { whenTrue: this.all, whenFalse: this.all }
    const equal = this.#callsWith(({ [fact]: value }) => value === null || texts.has(value))
    const other = this.#callsWith(({ [fact]: value }) => value === null || !texts.has(value))
    return node.op === '!=' ? { whenTrue: other, whenFalse: equal } : { whenTrue: equal, whenFalse: other }
  }

  #findOutcomes(node: SyntaxNode): Outcomes {
    if (isConstant(node)) {
      const value = constantValue(node)
      return { whenTrue: value === false ? 0n : this.all, whenFalse: value === true ? 0n : this.all }
    }
    const parts = childrenOf(node)
    switch (node.op) {
      case '!_': {
        const { whenTrue, whenFalse } = this.outcomesOf(parts[0]!)
        return { whenTrue: whenFalse, whenFalse: whenTrue }
      }
      case '&&':
      case '||': {
        const [left, right] = [this.outcomesOf(parts[0]!), this.outcomesOf(parts[1]!)]
        return node.op === '&&'
          ? { whenTrue: left.whenTrue & right.whenTrue, whenFalse: left.whenFalse | right.whenFalse }
          : { whenTrue: left.whenTrue | right.whenTrue, whenFalse: left.whenFalse & right.whenFalse }
      }
      case '?:': {
        const [test, then, otherwise] = parts.map((part) => this.outcomesOf(part)) as [Outcomes, Outcomes, Outcomes]
        return {
          whenTrue: (test.whenTrue & then.whenTrue) | (test.whenFalse & otherwise.whenTrue),
          whenFalse: (test.whenTrue & then.whenFalse) | (test.whenFalse & otherwise.whenFalse),
        }
      }
      case '==':
      case '!=':
      case 'in':
        return this.#outcomesOfComparison(node)
      default:
        if (selectionOf(node) !== 'call.decoded') return { whenTrue: this.all, whenFalse: this.all }
        return {
          whenTrue: this.#callsWith((call) => call !== UNDECODED),
          whenFalse: this.#callsWith((call) => call === UNDECODED),
        }
    }
  }

  outcomesOf(node: SyntaxNode): Outcomes {
    const known = this.#known.get(node) ?? this.#findOutcomes(node)
    this.#known.set(node, known)
    return known
  }

  /** Yields reads of arguments that some of the `calls` lack. @param seen arguments already yielded */
  *missing(node: SyntaxNode, calls: Calls, seen: Set<string>): Generator<MissingArgument> {
    if (calls === 0n) return
    const argument = argumentOf(node)
    if (argument !== null) {
      const having = this.#having.get(argument) ?? 0n
      const lacking = calls & ~having
      if (lacking === 0n || seen.has(argument)) return
      seen.add(argument)
      yield { at: node.pos, argument, having: this.#listOf(having), lacking: this.#listOf(lacking) }
      return
    }
    const parts = childrenOf(node)
    if (node.op === '&&' || node.op === '||') {
      const outcome = node.op === '&&' ? 'whenTrue' : 'whenFalse'
      const [left, right] = parts as [SyntaxNode, SyntaxNode]
      yield* this.missing(left, calls & this.outcomesOf(right)[outcome], seen)
      yield* this.missing(right, calls & this.outcomesOf(left)[outcome], seen)
    } else if (node.op === '?:') {
      const [test, then, otherwise] = parts as [SyntaxNode, SyntaxNode, SyntaxNode]
      const { whenTrue, whenFalse } = this.outcomesOf(test)
      yield* this.missing(test, calls, seen)
      yield* this.missing(then, calls & whenTrue, seen)
      yield* this.missing(otherwise, calls & whenFalse, seen)
    } else {
      for (const part of parts) yield* this.missing(part, calls, seen)
    }
  }
}
