// Types of the OpenAPI documents. The service generates them (src/admin/openapi), so nothing is validated here.

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

export type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
>

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
  readonly security: ReadonlyArray<Readonly<Record<string, unknown>>>
}

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes: Readonly<Record<string, { readonly description?: string }>>
  }
}

export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export const operationsOf = ({ paths }: OpenApiDocument, tag: string): readonly PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

const REFERENCE = '#/components/schemas/'

export const nameOf = ({ $ref }: Schema): string | null => $ref?.slice(REFERENCE.length) ?? null

/** Resolves a reference. Members next to the reference override members of its target. */
export const resolve = (document: OpenApiDocument, schema: Schema): Schema => {
  const name = nameOf(schema)
  if (name === null) return schema
  const { $ref: _, ...own } = schema
  return { ...document.components.schemas[name], ...own }
}

export const withoutNull = (schema: Schema): { readonly schema: Schema; readonly nullable: boolean } => {
  const options = schema.anyOf ?? []
  const rest = options.filter(({ type }) => type !== 'null')
  if (rest.length === options.length) return { schema, nullable: false }
  const { anyOf: _, ...own } = schema
  const [only] = rest
  return {
    schema: rest.length === 1 && only !== undefined ? { ...only, ...own } : { ...own, anyOf: rest },
    nullable: true,
  }
}
