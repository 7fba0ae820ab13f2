// What a document needs to know of one operation, whichever interface it belongs to. Routes of the admin API are turned
// into this; interfaces A and B are described in it by hand.
import type { TObject, TSchema } from '../schema.ts'

export interface DescribedAnswer {
  readonly status: number
  readonly description: string
  /** Null: no body. */
  readonly schema: TSchema | null
  readonly contentType?: string
}

export interface DescribedHeader {
  readonly name: string
  readonly description: string
  readonly schema: TSchema
}

export interface DescribedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  /** Descriptions of the path's parameters; one that is left out has none. */
  readonly parameters: Readonly<Record<string, { readonly description?: string; readonly schema?: TSchema }>>
  readonly query: TObject | null
  readonly headers: readonly DescribedHeader[]
  /** By media type; empty: none. */
  readonly bodies: Readonly<
    Record<
      string,
      { readonly schema: TSchema; readonly required: boolean; readonly examples?: Readonly<Record<string, unknown>> }
    >
  >
  readonly answers: readonly DescribedAnswer[]
  /** Statuses answered with a problem (RFC 9457). */
  readonly problems: readonly number[]
  /** Names of security schemes, any of which will do; empty: none is needed. */
  readonly security: readonly string[]
}

export interface DescribedInterface {
  readonly title: string
  readonly description: string
  readonly version: string
  /** Where its paths begin. */
  readonly server: string
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly securitySchemes: Readonly<Record<string, unknown>>
  readonly operations: readonly DescribedOperation[]
  /** Body of every error; PROBLEM unless stated. */
  readonly problem?: TSchema
}

/** An interface, wherever it is deployed. */
export type InterfaceDescription = Omit<DescribedInterface, 'version' | 'server'>
