// Declaration of an admin API route, from which router, role checks, documentation and client types are derived.

import type { Deadline } from '../server/deadline.ts'
import type { OrganizationRole } from '../store/accounts/role.ts'
import type { Organization } from '../store/organizations/organizations.ts'
import type { Tables } from '../store/store.ts'
import type { Caller, FoundSession } from './accounts/sessions.ts'
import type { Actor, PersonActor } from './actor.ts'
import { AWAITS_APPROVAL } from './approvals.ts'
import type { DeclaredRoute, ParamsOf } from './client-types.ts'
import type { CommandOverride } from './command-override.ts'
import { type Static, type TObject, type TProperties, type TSchema, Type } from './schema.ts'
import type { AloneReason, SecondPersonRule } from './second-person/declaration.ts'
import type { Services } from './services.ts'

export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'second-factor' }
  | { readonly kind: 'person' }
  | { readonly kind: 'caller' }
  /** Requires this role in the path's organization: non-members get 404, lesser roles 403. `person` excludes keys. */
  | { readonly kind: 'organization'; readonly role: OrganizationRole; readonly person?: true }
  /** A deployment admin, or an admin key with the scope `deployment`. */
  | { readonly kind: 'deployment'; readonly person?: true | 'or-command' }

export const PUBLIC = { kind: 'public' } as const satisfies Access
/** Limit before sign-in: several times the length of a passkey response. */
const STRANGER_BODY_BYTES_MAX = 65_536
const isForStrangers = ({ kind }: Access): boolean => kind === 'public' || kind === 'second-factor'
export const SECOND_FACTOR = { kind: 'second-factor' } as const satisfies Access
export const PERSON = { kind: 'person' } as const satisfies Access
export const CALLER = { kind: 'caller' } as const satisfies Access
export const DEPLOYMENT = { kind: 'deployment' } as const satisfies Access
export const DEPLOYMENT_PERSON = { kind: 'deployment', person: true } as const satisfies Access
/** A deployment admin or a local command, but no key. */
export const DEPLOYMENT_PERSON_OR_COMMAND = { kind: 'deployment', person: 'or-command' } as const satisfies Access
export const VIEWER = { kind: 'organization', role: 'viewer' } as const satisfies Access
export const REVIEWER = { kind: 'organization', role: 'reviewer' } as const satisfies Access
export const ORGANIZATION_ADMIN = { kind: 'organization', role: 'organization-admin' } as const satisfies Access
export const ORGANIZATION_ADMIN_PERSON = {
  kind: 'organization',
  role: 'organization-admin',
  person: true,
} as const satisfies Access

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** Audit entry without actor, time and request. */
export interface AuditNote {
  readonly action: string
  readonly subject: string
  readonly detail?: Readonly<Record<string, unknown>>
  readonly organizationId?: string | null
}

export type Note = (note: AuditNote) => void

type ActorOf<Allowed extends Access> = Allowed extends { kind: 'public' | 'second-factor' }
  ? Actor | null
  : Allowed extends { kind: 'person' } | { person: true }
    ? PersonActor
    : Actor

export interface Call<Allowed extends Access, Params, Query, Body> {
  readonly request: Request
  readonly requestId: string
  readonly caller: Caller
  readonly deadline: Deadline
  readonly services: Services
  readonly actor: ActorOf<Allowed>
  readonly pending: Allowed extends { kind: 'second-factor' } ? FoundSession : null
  readonly organization: Allowed extends { kind: 'organization' } ? Organization : null
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The requester's `kept` value, after approval by a second person; otherwise null. */
  readonly kept: unknown
  /** True if a second person has approved the call. Nobody receives the response. */
  readonly isApproved: boolean
  /** Origin of the dashboard page that sent the request; null for other clients. */
  readonly origin: string | null
  /** Returns true if the caller would still be authorized; for long streams. */
  stillAllowed(): Promise<boolean>
  /**
   * Makes a change and its audit entries in one transaction.
   * @param kept JSON about objects created before the transaction, stored if the request awaits approval
   * @throws the errors of `work`, after a rollback; AwaitsApproval, which must not be caught
   */
  write<Result>(work: (tables: Tables, note: Note) => Promise<Result>, kept?: unknown): Promise<Result>
}

export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>

export class Reply {
  readonly status: number
  readonly body: unknown
  readonly headers: ReplyHeaders
  constructor(status: number, body: unknown, headers: ReplyHeaders = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/**
 * Response with a secret or personal data, which is shown once. A repeated request gets `remembered`, or 409 if it is
 * undefined.
 */
export class SecretReply {
  readonly status: number
  readonly body: unknown
  readonly remembered: unknown
  constructor(status: number, body: unknown, remembered: unknown) {
    this.status = status
    this.body = body
    this.remembered = remembered
  }
}

export type Answer<Body> = Body | Reply | SecretReply | Response

interface Success {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  readonly schema: TSchema | null
  readonly contentType?: string
}

export interface Route {
  readonly operationId: string
  readonly method: Method
  /** Path below /admin/v1; `{organization}` and other parameters match one segment. */
  readonly path: string
  readonly tag: string
  readonly access: Access
  readonly summary: string
  readonly description: string
  readonly query: TObject | null
  readonly body: TSchema | null
  readonly bodyMaxBytes: number | null
  /** Example in the documentation; derived from the schema if undefined. */
  readonly example: unknown
  /** Media types of a body that the route reads itself; empty if there are none. */
  readonly rawBody: readonly string[]
  readonly answers: readonly [Success, ...Success[]]
  /** Status codes of errors in addition to those of all routes. */
  readonly errors: readonly number[]
  /** No deadline, idempotency key or idle timeout. */
  readonly streams: boolean
  /**
   * Returns true if a person must have authenticated within the last five minutes (threats row 34). Doesn't apply to
   * keys.
   */
  needsFresh(body: unknown): boolean
  readonly freshness: 'never' | 'sometimes' | 'always'
  readonly secondPerson: SecondPersonRule<Omit<Call<Access, Record<string, string>, unknown, unknown>, 'write'>> | null
  /** Reason that a change never awaits approval. Every operation with changes has this or `secondPerson`. */
  readonly alone: AloneReason | null
  /** False if the operation isn't available on the command line. */
  readonly command: CommandOverride | false
  handle(call: Call<Access, Record<string, string>, unknown, unknown>): Promise<Answer<unknown>>
}

type DeclaredCall<Allowed extends Access, Path extends string, Query extends TProperties, Body extends TSchema> = Call<
  Allowed,
  ParamsOf<Path>,
  Static<TObject<Query>>,
  Static<Body>
>

/** Parameter of all routes whose changes may await approval. */
const COMMENT = {
  comment: Type.Optional(
    Type.String({
      maxLength: 500,
      printable: true,
      description: 'Comment for the approver, if the change requires a second person',
    }),
  ),
}

interface Declaration<
  Allowed extends Access,
  Path extends string,
  Query extends TProperties,
  Body extends TSchema,
  RawBody extends string,
  Result extends TSchema,
  Media extends string,
> {
  readonly access: Allowed
  readonly summary: string
  readonly description?: string
  readonly query?: TObject<Query>
  readonly body?: Body
  readonly bodyMaxBytes?: number
  readonly example?: Static<Body>
  readonly rawBody?: readonly RawBody[]
  readonly status?: 200 | 201 | 202
  readonly answer?: Result
  /** Possible media types of a response that isn't JSON, instead of `answer`. */
  readonly media?: readonly Media[]
  readonly errors?: readonly number[]
  readonly streams?: boolean
  readonly fresh?: true | ((body: Static<Body>) => boolean)
  readonly alone?: AloneReason
  readonly command?: CommandOverride | false
  /** Rule for changes that affect signing. */
  readonly secondPerson?: SecondPersonRule<Omit<DeclaredCall<Allowed, Path, Query, Body>, 'write'>>
  handle(
    call: DeclaredCall<Allowed, Path, Query, Body>,
  ): Promise<Answer<TSchema extends Result ? undefined : Static<Result>>>
}

const answersOf = (
  status: Success['status'],
  schema: TSchema | undefined,
  media: readonly string[],
): Route['answers'] => {
  const description = 'Success.'
  const [first, ...others] = media.map(
    (contentType): Success => ({ status, description, schema: Type.String(), contentType }),
  )
  if (first !== undefined) return [first, ...others]
  return [schema === undefined ? { status: 204, description, schema: null } : { status, description, schema }]
}

/** @param prefix path prefix of all routes of the tag; its parameters are not members of `params` */
export const declareRoutes =
  <const Prefix extends string = ''>(tag: string, prefix?: Prefix) =>
  <
    const Allowed extends Access,
    const Verb extends Method,
    const Path extends string,
    Query extends TProperties = Record<never, never>,
    Body extends TSchema = TSchema,
    RawBody extends string = never,
    Result extends TSchema = TSchema,
    Media extends string = never,
  >(
    operationId: string,
    method: Verb,
    path: Path,
    declaration: Declaration<Allowed, Path, Query, Body, RawBody, Result, Media>,
  ): DeclaredRoute<`${Verb} ${Prefix}${Path}`, TObject<Query>, Body, RawBody, Result, Media> => ({
    operationId,
    method,
    path: `${prefix ?? ''}${path}`,
    tag,
    access: declaration.access,
    summary: declaration.summary,
    description: declaration.description ?? '',
    query:
      declaration.secondPerson === undefined
        ? ((declaration.query ?? null) as TObject | null)
        : Type.Object({ ...(declaration.query?.properties ?? {}), ...COMMENT }),
    body: declaration.body ?? null,
    bodyMaxBytes: declaration.bodyMaxBytes ?? (isForStrangers(declaration.access) ? STRANGER_BODY_BYTES_MAX : null),
    example: declaration.example,
    rawBody: declaration.rawBody ?? [],
    answers: [
      ...answersOf(declaration.status ?? 200, declaration.answer, declaration.media ?? []),
      ...(declaration.secondPerson === undefined ? [] : [AWAITS_APPROVAL]),
    ],
    errors: [...new Set([...(declaration.errors ?? []), ...(declaration.secondPerson === undefined ? [] : [409])])],
    streams: declaration.streams ?? false,
    freshness: declaration.fresh === undefined ? 'never' : declaration.fresh === true ? 'always' : 'sometimes',
    needsFresh: (body) =>
      typeof declaration.fresh === 'function' ? declaration.fresh(body as Static<Body>) : declaration.fresh === true,
    // The input is checked against this declaration, as for `handle`.
    secondPerson: (declaration.secondPerson ?? null) as Route['secondPerson'],
    alone: declaration.alone ?? null,
    command: declaration.command ?? {},
    handle: (call) => declaration.handle(call as never),
  })

/** Returns true for methods with changes, which require the dashboard's origin. */
export const isUnsafe = (method: Method): boolean => method !== 'GET'

/**
 * Returns false for operations that only read, although by POST. Their responses can contain personal data, which must
 * not be stored, and a repeated read is a recorded access too.
 */
export const takesIdempotencyKey = ({ method, alone, access, streams }: Route): boolean =>
  isUnsafe(method) && alone !== 'reads' && access.kind !== 'public' && access.kind !== 'second-factor' && !streams
