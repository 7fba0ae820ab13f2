import type { TObject, TSchema } from '../schema.ts'

export interface DescribedAnswer {
  readonly status: number
  readonly description: string
  readonly schema: TSchema | null
  readonly contentType?: string
}

export interface DescribedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: Readonly<Record<string, { readonly description?: string; readonly schema?: TSchema }>>
  readonly query: TObject | null
  readonly headers: readonly { readonly name: string; readonly description: string; readonly schema: TSchema }[]
  /** Keyed by media type; empty if the request has no body. */
  readonly bodies: Readonly<
    Record<
      string,
      { readonly schema: TSchema; readonly required: boolean; readonly examples?: Readonly<Record<string, unknown>> }
    >
  >
  readonly answers: readonly DescribedAnswer[]
  /** Statuses with a problem as body (RFC 9457). */
  readonly problems: readonly number[]
  /** Names of security schemes, of which one suffices; empty if none is required. */
  readonly security: readonly string[]
}

export interface DescribedInterface {
  readonly title: string
  readonly description: string
  readonly version: string
  readonly server: string
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly securitySchemes: Readonly<Record<string, unknown>>
  readonly operations: readonly DescribedOperation[]
  readonly problem?: TSchema
}

export type InterfaceDescription = Omit<DescribedInterface, 'version' | 'server'>
