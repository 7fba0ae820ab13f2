// The description of one operation, from which a document is made. Routes of the admin API are converted to it; interfaces A
// and B are written in it by hand.
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
  /** Descriptions of the path's parameters, where they have one. */
  readonly parameters: Readonly<Record<string, { readonly description?: string; readonly schema?: TSchema }>>
  readonly query: TObject | null
  readonly headers: readonly DescribedHeader[]
  /** By media type; empty: the answer has no body. */
  readonly bodies: Readonly<
    Record<
      string,
      { readonly schema: TSchema; readonly required: boolean; readonly examples?: Readonly<Record<string, unknown>> }
    >
  >
  readonly answers: readonly DescribedAnswer[]
  /** Statuses answered with a problem (RFC 9457). */
  readonly problems: readonly number[]
  /** Names of security schemes, of which one is enough; empty: none is needed. */
  readonly security: readonly string[]
}

export interface DescribedInterface {
  readonly title: string
  readonly description: string
  readonly version: string
  /** The URL before each path. */
  readonly server: string
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly securitySchemes: Readonly<Record<string, unknown>>
  readonly operations: readonly DescribedOperation[]
  /** Body of every error; PROBLEM unless stated. */
  readonly problem?: TSchema
}

/** An interface without its deployment: no version and no server. */
export type InterfaceDescription = Omit<DescribedInterface, 'version' | 'server'>
