// Types of the policy language for tuples (structs) in a call's arguments: one type per distinct tuple, so that
// `call.args.order.amount` is type-checked when the policy is saved.

/** An argument or a component. `name` is empty if it has none; `type` is empty if the language has no such type. */
export interface NamedType {
  readonly name: string
  readonly type: string
}

/** Creates a tuple value with its fields as own properties. */
export type TupleConstructor = new (values: readonly unknown[]) => object

export interface TupleType {
  readonly name: string
  readonly fields: readonly NamedType[]
  readonly constructor: TupleConstructor
}

/** The tuple types of one policy's abi and idl. Equal tuples share one type, even across functions. */
export interface TupleTypes {
  of(fields: readonly NamedType[]): TupleType
  readonly all: readonly TupleType[]
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Reserved words of the language, and names of properties that every object has. */
const UNUSABLE: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null', 'constructor', 'prototype', '__proto__'])

/** Reports whether an expression can contain `.name`. */
export const isFieldName = (name: string): boolean => IDENTIFIER.test(name) && !UNUSABLE.has(name)

const createConstructor = (fields: readonly NamedType[]): TupleConstructor =>
  class {
    constructor(values: readonly unknown[]) {
      const self = this as Record<string, unknown>
      fields.forEach(({ name }, index) => {
        if (isFieldName(name)) self[name] = values[index]
      })
    }
  }

export const createTupleTypes = (): TupleTypes => {
  const byShape = new Map<string, TupleType>()
  const all: TupleType[] = []
  return {
    all,
    of: (fields) => {
      const shape = JSON.stringify(fields.map(({ name, type }) => [name, type]))
      const known = byShape.get(shape)
      if (known !== undefined) return known
      const type = { name: `Tuple${all.length + 1}`, fields, constructor: createConstructor(fields) }
      byShape.set(shape, type)
      all.push(type)
      return type
    },
  }
}
