// The promises of the attestation and identity APIs to their callers, as lines derived from docs/openapi/api.json.
// `bun test/service/api-promises.ts` adds new lines to test/data/api-promises.txt; lines are removed only manually.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PROMISED = join(import.meta.dir, '../data/api-promises.txt')
const DOCUMENT = join(import.meta.dir, '../../docs/openapi/api.json')

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>
interface Operation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Suffix of lines about required parameters and fields. */
const ALWAYS = ' always'

export const promisesOf = ({ paths, components }: ApiDocument): readonly string[] => {
  const lines = new Set<string>()
  const walked = new Set<string>()
  /** @param always whether the required properties of the schema are always required */
  const walk = (schema: Schema, prefix: string, path: string, always: boolean): void => {
    const { $ref, type, properties = {}, patternProperties = {}, required = [], items, anyOf = [], allOf = [] } = schema
    if ($ref !== undefined) {
      walkNamed($ref, prefix, path)
      return
    }
    for (const one of [type ?? []].flat()) if (one !== 'object' || path !== '') lines.add(`${prefix} ${path} is ${one}`)
    for (const value of schema.enum ?? []) lines.add(`${prefix} ${path} may be ${JSON.stringify(value)}`)
    for (const [name, property] of Object.entries({ ...properties, ...patternProperties })) {
      const below = path === '' ? name : `${path}.${name}`
      lines.add(`${prefix} ${below}${always && required.includes(name) ? ALWAYS : ''}`)
      walk(property, prefix, below, true)
    }
    if (items !== undefined) walk(items, prefix, `${path}[]`, true)
    for (const choice of anyOf) walk(choice, prefix, path, always && anyOf.length === 1)
    for (const part of allOf) walk(part, prefix, path, always)
  }
  /** Adds a named schema once for requests and once for responses. */
  const walkNamed = ($ref: string, prefix: string, path: string): void => {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    const target = components.schemas[name]
    if (target === undefined) throw new Error(`${$ref} is not in the document`)
    lines.add(`${prefix} ${path}${path === '' ? '' : ' '}as ${name}`)
    const own = `${name}${prefix.includes(' takes') ? ' takes' : ' answers'}`
    if (walked.has(own)) return
    walked.add(own)
    walk(target, own, '', true)
  }
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
      const operation = `${method.toUpperCase()} ${path}`
      for (const { name, in: place, required = false } of parameters) {
        lines.add(`${operation} takes ${place} ${name}${required ? ALWAYS : ''}`)
      }
      for (const { schema = {} } of Object.values(requestBody?.content ?? {})) {
        walk(schema, `${operation} takes`, '', true)
      }
      for (const [status, { content = {} }] of Object.entries(responses)) {
        lines.add(`${operation} answers ${status}`)
        for (const { schema = {} } of Object.values(content)) walk(schema, `${operation} answers ${status}`, '', true)
      }
    }
  }
  return [...lines].sort()
}

const withoutAlways = (line: string): string => (line.endsWith(ALWAYS) ? line.slice(0, -ALWAYS.length) : line)

/** Returns the changes that break callers. */
export const brokenPromises = (promised: readonly string[], now: readonly string[]): readonly string[] => {
  const known = new Set(now)
  const before = new Set(promised)
  const lost = promised.filter((line) => {
    const bare = withoutAlways(line)
    const isAlways = line !== bare
    const takes = line.includes(' takes ')
    // A required input may become optional, and an optional output required.
    if (takes && isAlways) return !known.has(line) && !known.has(bare)
    if (!takes && !isAlways) return !known.has(line) && !known.has(`${line}${ALWAYS}`)
    return !known.has(line)
  })
  const operations = new Set(promised.map((line) => line.split(' takes ')[0]?.split(' answers ')[0]))
  const demanded = now.filter(
    (line) =>
      line.includes(' takes ') &&
      line.endsWith(ALWAYS) &&
      !before.has(line) &&
      operations.has(line.split(' takes ')[0]),
  )
  return [...lost.map((line) => `removed: ${line}`), ...demanded.map((line) => `newly required: ${line}`)]
}

export const readDocument = (): ApiDocument => JSON.parse(readFileSync(DOCUMENT, 'utf8')) as ApiDocument
export const readPromised = (): readonly string[] => readFileSync(PROMISED, 'utf8').trimEnd().split('\n')

if (import.meta.main) {
  const promised = (await Bun.file(PROMISED).exists()) ? readPromised() : []
  const all = [...new Set([...promised, ...promisesOf(readDocument())])].sort()
  writeFileSync(PROMISED, `${all.join('\n')}\n`)
}
