// Types of the policy language for what a call's arguments are made of: one for each different tuple (struct), so that
// `call.args.order.amount` is checked when the policy is saved.

/** An argument or a component: its name, empty for none, and its type, empty where the language has none for it. */
export interface NamedType {
  readonly name: string
  readonly type: string
}

/** Makes the value of a tuple; its fields are own properties. */
export type TupleConstructor = new (values: readonly unknown[]) => object

export interface TupleType {
  readonly name: string
  readonly fields: readonly NamedType[]
  readonly constructor: TupleConstructor
}

/** The tuples of one policy's abi and idl. Equal tuples are one type, whichever functions have them. */
export interface TupleTypes {
  of(fields: readonly NamedType[]): TupleType
  readonly all: readonly TupleType[]
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Words of the language, and names that every object has. */
const UNUSABLE: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null', 'constructor', 'prototype', '__proto__'])

/** Whether an expression can say `.name`. */
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
