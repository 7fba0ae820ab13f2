// Validates responses. Ignores unknown fields, because a newer service may send more.
import { AnswerInvalidError } from './errors.ts'

export interface Fields {
  text(name: string): string
  optionalText(name: string): string | undefined
  nullableText(name: string): string | null
  flag(name: string): boolean
  /** Returns a whole number from 0 to 2^53 - 1. */
  count(name: string): number
  one<Choice extends string>(name: string, choices: readonly Choice[]): Choice
  matching(name: string, form: RegExp): string
  object(name: string): Fields
  has(name: string): boolean
  texts(name: string, form?: RegExp): string[]
  objects(name: string): Fields[]
}

/** Methods throw AnswerInvalidError, which names the field. */
export const readFields = (value: unknown, requestId: string, place = ''): Fields => {
  const fail = (name: string, expected: string): never => {
    throw new AnswerInvalidError(`${place}${name} is not ${expected}`, requestId)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AnswerInvalidError(`${place.slice(0, -1) || 'it'} is not an object`, requestId)
  }
  const fields = value as Readonly<Record<string, unknown>>
  const textOf = (name: string, found: unknown): string => (typeof found === 'string' ? found : fail(name, 'text'))
  const matchingOf = (name: string, found: unknown, form: RegExp): string => {
    const text = textOf(name, found)
    return form.test(text) ? text : fail(name, 'in the expected format')
  }
  const listOf = (name: string): readonly unknown[] => {
    const found = fields[name]
    return Array.isArray(found) ? found : fail(name, 'a list')
  }
  return {
    text: (name) => textOf(name, fields[name]),
    optionalText: (name) => (fields[name] === undefined ? undefined : textOf(name, fields[name])),
    nullableText: (name) => {
      const found = fields[name]
      return found === undefined || found === null ? null : textOf(name, found)
    },
    flag: (name) => {
      const found = fields[name]
      return typeof found === 'boolean' ? found : fail(name, 'true or false')
    },
    count: (name) => {
      const found = fields[name]
      return Number.isSafeInteger(found) && (found as number) >= 0 ? (found as number) : fail(name, 'a whole number')
    },
    one: (name, choices) => {
      const found = fields[name]
      return choices.find((choice) => choice === found) ?? fail(name, `one of ${choices.join(', ')}`)
    },
    matching: (name, form) => matchingOf(name, fields[name], form),
    object: (name) => readFields(fields[name], requestId, `${place}${name}.`),
    has: (name) => fields[name] !== undefined && fields[name] !== null,
    texts: (name, form) =>
      listOf(name).map((item, index) =>
        form === undefined ? textOf(`${name}[${index}]`, item) : matchingOf(`${name}[${index}]`, item, form),
      ),
    objects: (name) => listOf(name).map((item, index) => readFields(item, requestId, `${place}${name}[${index}].`)),
  }
}

export const UUID_FORM = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/
