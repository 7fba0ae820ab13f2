// Creates an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1.html). TypeBox values are JSON Schema 2020-12.

import { isObject } from '../../lib/is-object.ts'
import type { TSchema } from '../schema.ts'
import type { DescribedAnswer, DescribedInterface, DescribedOperation } from './operation.ts'
import { PROBLEM } from './problem.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = { [key: string]: Json }

const TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'Not signed in, or the key is missing, invalid or expired.',
  403: 'Not allowed.',
  404: 'The resource does not exist, or belongs to another organization.',
  408: 'The request took too long; retry with exponential backoff.',
  409: 'The request conflicts with the current state, or the same request is still in progress.',
  413: 'The body is too large.',
  415: 'The media type of the body is not supported.',
  422: 'The Idempotency-Key was used with a different request, or a policy rule fails for this request.',
  429: 'Too many requests. Retry-After states when to retry.',
  500: 'Internal error. Find it in the log by the request ID.',
  503: 'The service is at capacity or partly unavailable. Retry-After states when to retry.',
}

/** Keywords that JSON Schema doesn't define. */
const OWN_WORDS = new Set(['$id', 'columns', 'printable', 'rule'])

const asEnumeration = (schema: JsonObject): JsonObject => {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length === 0) return schema
  const values = anyOf.flatMap((option) =>
    isObject(option) && typeof option['const'] === 'string' ? [option['const']] : [],
  )
  return values.length === anyOf.length ? { type: 'string', enum: values, ...rest } : schema
}

const createSchemas = () => {
  const components: JsonObject = {}
  /** Keys of `properties` are member names even if they look like keywords. */
  const convertMembers = (members: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, convert(schema)]))
  const convert = (schema: Json): Json => {
    if (Array.isArray(schema)) return schema.map(convert)
    if (!isObject(schema)) return schema
    const plain = Object.fromEntries(
      Object.entries(schema)
        .filter(([word]) => !OWN_WORDS.has(word))
        .map(([word, value]) => [
          word,
          word === 'properties' && isObject(value) ? convertMembers(value) : convert(value),
        ]),
    )
    const name = schema['$id']
    if (typeof name !== 'string') return asEnumeration(plain)
    components[name] ??= asEnumeration(plain)
    return { $ref: `#/components/schemas/${name}` }
  }
  return {
    components,
    // JSON removes TypeBox's symbols.
    of: (schema: TSchema): Json => convert(JSON.parse(JSON.stringify(schema)) as Json),
  }
}

const pathParameters = (path: string): string[] => [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '')

const describeOperation = (
  operation: DescribedOperation,
  problem: TSchema,
  schemaOf: (schema: TSchema) => Json,
): JsonObject => {
  const { parameters, query, headers, bodies, answers, problems, security } = operation
  const listed: Json[] = [
    ...pathParameters(operation.path).map((name): Json => {
      const { description, schema } = parameters[name] ?? {}
      return {
        name,
        in: 'path',
        required: true,
        schema: schema === undefined ? { type: 'string' } : schemaOf(schema),
        ...(description === undefined ? {} : { description }),
      }
    }),
    ...Object.entries((query?.properties ?? {}) as Record<string, TSchema>).map(([name, schema]): Json => {
      const described = schemaOf(schema)
      const description = isObject(described) ? described['description'] : undefined
      return {
        name,
        in: 'query',
        required: query?.required?.includes(name) === true,
        schema: described,
        ...(description === undefined ? {} : { description }),
      }
    }),
    ...headers.map(
      ({ name, description, schema }): Json => ({
        name,
        in: 'header',
        required: false,
        description,
        schema: schemaOf(schema),
      }),
    ),
  ]
  const responses: JsonObject = {}
  const byStatus = Map.groupBy(answers, ({ status }: DescribedAnswer) => status)
  for (const [status, group] of byStatus) {
    const content = Object.fromEntries(
      group.flatMap(({ schema, contentType = 'application/json' }) =>
        schema === null ? [] : [[contentType, { schema: schemaOf(schema) }]],
      ),
    )
    responses[String(status)] = {
      description: group[0]?.description ?? '',
      ...(Object.keys(content).length === 0 ? {} : { content }),
    }
  }
  for (const status of [...new Set(problems)].sort((left, right) => left - right)) {
    responses[String(status)] = {
      description: TEXTS[status] ?? 'An error.',
      content: { 'application/problem+json': { schema: schemaOf(problem) } },
    }
  }
  const entries = Object.entries(bodies)
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === '' ? {} : { description: operation.description }),
    ...(listed.length === 0 ? {} : { parameters: listed }),
    ...(entries.length === 0
      ? {}
      : {
          requestBody: {
            required: entries.some(([, { required }]) => required),
            content: Object.fromEntries(
              entries.map(([type, { schema, examples }]) => [
                type,
                {
                  schema: schemaOf(schema),
                  ...(examples === undefined
                    ? {}
                    : {
                        examples: Object.fromEntries(
                          Object.entries(examples).map(([name, value]) => [name, { value: value as Json }]),
                        ),
                      }),
                },
              ]),
            ),
          },
        }),
    responses,
    security: security.map((name): Json => ({ [name]: [] })),
  }
}

export const openApiDocument = (described: DescribedInterface): string => {
  const schemas = createSchemas()
  const paths: JsonObject = {}
  for (const operation of described.operations) {
    const known = paths[operation.path]
    const item: JsonObject = known !== undefined && isObject(known) ? known : {}
    item[operation.method.toLowerCase()] = describeOperation(operation, described.problem ?? PROBLEM, schemas.of)
    paths[operation.path] = item
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: {
      title: described.title,
      version: described.version,
      description: described.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: described.server }],
    tags: described.tags,
    paths,
    components: { schemas: schemas.components, securitySchemes: described.securitySchemes },
  })
}
