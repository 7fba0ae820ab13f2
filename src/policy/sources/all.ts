// Kinds, answers and order of the sources in list.ts.
import { object, type Schema } from '../document/schema-shapes.ts'
import * as LIST from './list.ts'

type Source = (typeof LIST)[keyof typeof LIST]

export type SourceKind = Source['kind']

/** Null: needed but unavailable. Omitted: not needed. */
export type SourceAnswers = {
  readonly [Each in Source as Each['part']]?: Each['example'] | null
}

/** Sources in the order of needs: by kind, metered sources last. */
export const FACT_SOURCES: readonly Source[] = Object.values(LIST).sort(
  (one, other) => Number(one.metered) - Number(other.metered) || (one.kind < other.kind ? -1 : 1),
)

const BY_KIND = new Map(FACT_SOURCES.map((source) => [source.kind, source]))

export const sourceOf = (kind: SourceKind): Source => BY_KIND.get(kind) as Source

interface ObjectSchema extends Schema {
  readonly description: string
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, Schema>>
}

const schemasByGroup = (): Readonly<Record<string, ObjectSchema>> => {
  const schemas: Record<string, ObjectSchema> = {}
  for (const { group, testSchema } of FACT_SOURCES) {
    const { description, required, properties } = testSchema as ObjectSchema
    const known = schemas[group]
    schemas[group] = object(
      known === undefined ? description : `${known.description} ${description}`,
      [...(known?.required ?? []), ...required],
      { ...known?.properties, ...properties },
    ) as ObjectSchema
  }
  return schemas
}

export const TEST_SCHEMAS = schemasByGroup()
