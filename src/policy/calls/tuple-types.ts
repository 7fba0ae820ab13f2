// Types for tuples in call arguments, so that `call.args.order.amount` is type-checked when the policy is saved.

/** `name` is empty if unnamed; `type` is empty if the policy language has no such type. */
export interface NamedType {
  readonly name: string
  readonly type: string
}

export type TupleConstructor = new (values: readonly unknown[]) => object

export interface TupleType {
  readonly name: string
  readonly fields: readonly NamedType[]
  readonly constructor: TupleConstructor
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Reserved words of CEL, and properties of every object. */
const UNUSABLE: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null', 'constructor', 'prototype', '__proto__'])

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

export const createTupleTypes = () => {
  const byShape = new Map<string, TupleType>()
  const all: TupleType[] = []
  return {
    all,
    of: (fields: readonly NamedType[]): TupleType => {
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

/** Equal tuples share a type, even across functions of a policy. */
export type TupleTypes = ReturnType<typeof createTupleTypes>
