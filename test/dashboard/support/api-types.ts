// From the admin API's document to the types that the dashboard's pages are written against: every operation by its method
// and path, every named schema. Types only: nothing of it is in the bundle.

import { adminDocument } from '../../../src/admin/openapi/admin.ts'
import { ADMIN_ROUTES } from '../../../src/admin/route-table.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: Content & { readonly required: boolean }
  readonly responses: Readonly<Record<string, Content>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const JSON_TYPE = 'application/json'
const nameOf = (name: string): string => (/^[a-z_$][\w$]*$/i.test(name) ? name : `'${name}'`)
const unique = (types: readonly string[]): string => [...new Set(types)].join(' | ')

const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown'
  if (schema.const !== undefined) return typeof schema.const === 'string' ? `'${schema.const}'` : String(schema.const)
  if (schema.enum !== undefined) return unique(schema.enum.map((value) => `'${value}'`))
  if (schema.anyOf !== undefined) return unique(schema.anyOf.map(typeOf))
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array': {
      const item = typeOf(schema.items ?? {})
      return /[ {]/.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`
    }
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

const comment = (description: string | undefined): string =>
  description === undefined ? '' : `/** ${description.replaceAll('*/', '* /')} */\n`

const member = (name: string, schema: Schema, required: boolean): string =>
  required
    ? `${comment(schema.description)}readonly ${nameOf(name)}: ${typeOf(schema)}`
    : `${comment(schema.description)}readonly ${nameOf(name)}?: ${typeOf(schema)} | undefined`

const objectType = ({ properties, patternProperties, required = [] }: Schema): string => {
  const entries = Object.entries(properties ?? {})
  if (entries.length > 0)
    return `{\n${entries.map(([name, schema]) => member(name, schema, required.includes(name))).join('\n')}\n}`
  const [value] = Object.values(patternProperties ?? {})
  return value === undefined ? 'None' : `Readonly<Record<string, ${typeOf(value)}>>`
}

const bodyType = ({ requestBody }: Operation): string => {
  if (requestBody === undefined) return 'undefined'
  const json = requestBody.content?.[JSON_TYPE]
  const type = json === undefined ? 'Blob' : typeOf(json.schema)
  return requestBody.required ? type : unique([type, 'undefined'])
}

const answerType = ({ responses }: Operation): string => {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  return unique(
    good.map(([, { content }]) => {
      if (content === undefined) return 'undefined'
      const json = content[JSON_TYPE]
      return json === undefined ? 'Response' : typeOf(json.schema)
    }),
  )
}

const withoutDescription = ({ description: _said, ...schema }: Schema): Schema => schema

const parametersType = ({ parameters = [] }: Operation, place: 'path' | 'query'): string => {
  const members = parameters.filter((parameter) => parameter.in === place)
  if (members.length === 0) return 'None'
  return `{ ${members.map(({ name, schema, required }) => member(name, place === 'path' ? { type: 'string' } : withoutDescription(schema), required)).join('; ')} }`
}

/** The whole file, not yet formatted. */
export const apiTypes = (): string => {
  const { paths, components } = JSON.parse(adminDocument(ADMIN_ROUTES, '', false)) as Document
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => name !== 'Problem')
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, schema]) =>
      schema.type === 'object' && schema.properties !== undefined
        ? `export interface ${name} ${typeOf(schema)}`
        : `export type ${name} = ${typeOf(schema)}`,
    )
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        `'${method.toUpperCase()} ${path}': {\nparams: ${parametersType(operation, 'path')}\nquery: ${parametersType(operation, 'query')}\nbody: ${bodyType(operation)}\nanswer: ${answerType(operation)}\n}`,
    ),
  )
  return `// What the admin API takes and answers. Written by \`bun test/dashboard/support/write-api-types.ts\` from the document that
// the service serves; a test compares the two.

/** No members. */
type None = Record<never, never>

${schemas.join('\n\n')}

/** By method and path. */
export interface Operations {
${operations.join('\n')}
}
`
}

export const API_TYPES = new URL('../../../src/dashboard/page/api/types.ts', import.meta.url).pathname

/** Without what formatting changes. */
export const unformatted = (text: string): string => text.replaceAll(/[\s;,|()]+/g, '')
