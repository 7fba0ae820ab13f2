import { parseTestInteger } from '../cel/literals.ts'
import type { MappingReader } from '../document/document-reader.ts'
import { amount, flag, object, type Schema } from '../document/schema-shapes.ts'
import type { FactField } from '../fact-field.ts'
import { SESSION_FACTS } from '../session-facts.ts'
import type { SessionFacts } from '../types/session-facts.ts'

type Value = SessionFacts[string]

const membersOf = (name: string): readonly (readonly [string, FactField | null])[] => [
  ...Object.entries(SESSION_FACTS[name] ?? {}),
  ...Object.keys(SESSION_FACTS).flatMap((group): [string, null][] =>
    group.startsWith(`${name}.`) ? [[group.slice(name.length + 1), null]] : [],
  ),
]

const readValue = (reader: MappingReader, name: string, { type, maxLength, refuseLiteral }: FactField): Value => {
  if (type === 'bool') return reader.bool(name)
  if (type === 'int') return reader.parsed(name, parseTestInteger)
  const text = reader.text(name, maxLength ?? 64)
  const problem = text === null ? null : (refuseLiteral?.(text) ?? null)
  return problem === null ? text : reader.complainOf(name, problem)
}

const readGroup = (reader: MappingReader, group: string): readonly (readonly [string, Value])[] => {
  const members = membersOf(group)
  reader.refuseUnknownKeys(members.map(([name]) => name))
  return members.flatMap(([name, field]) => {
    if (!reader.has(name)) return []
    const full = `${group}.${name}`
    if (field !== null) return [[full, readValue(reader, name, field)] as const]
    const inner = reader.mapping(name, full)
    return inner === null ? [] : readGroup(inner, full)
  })
}

const ROOTS: readonly string[] = [...new Set(Object.keys(SESSION_FACTS).map((group) => group.split('.')[0] ?? ''))]

export const readSessionTestFacts = (test: MappingReader): SessionFacts | null => {
  if (!test.has('facts')) return {}
  const facts = test.mapping('facts', 'facts')
  if (facts === null) return null
  facts.refuseUnknownKeys(ROOTS)
  return Object.fromEntries(
    ROOTS.flatMap((root) => {
      const reader = facts.has(root) ? facts.mapping(root, root) : null
      return reader === null ? [] : readGroup(reader, root)
    }),
  )
}

const schemaOf = ({ type, description, maxLength = 64 }: FactField): Schema => {
  if (type === 'bool') return { ...flag, description }
  return type === 'int' ? amount(description) : { type: 'string', maxLength, description }
}

const groupSchema = (group: string): Schema =>
  object(
    `Facts of ${group}.`,
    [],
    Object.fromEntries(
      membersOf(group).map(([name, field]) => [
        name,
        field === null ? groupSchema(`${group}.${name}`) : schemaOf(field),
      ]),
    ),
  )

export const sessionTestSchemas = (): Readonly<Record<string, Schema>> =>
  Object.fromEntries(ROOTS.map((root) => [root, groupSchema(root)]))
