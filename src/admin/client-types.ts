// Types of admin API clients (dashboard and command line), derived from the route declarations.
import type { Route } from './route.ts'
import type { Static, TSchema } from './schema.ts'

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never
export type ParamsOf<Path extends string> = Readonly<Record<ParamNames<Path>, string>>

type ClientValue<Value> = Value extends undefined
  ? undefined
  : Value extends readonly (infer Item)[]
    ? readonly ClientValue<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: ClientValue<Value[Name]> }
      : Value

/** `TSchema` itself represents an undeclared part. */
type Part<Schema extends TSchema> = TSchema extends Schema ? undefined : ClientValue<Static<Schema>>

type BodyPart<Schema extends TSchema> =
  | Part<Schema>
  | (Schema extends { readonly minProperties: number }
      ? never
      : Record<never, never> extends Static<Schema>
        ? undefined
        : never)

export interface DeclaredRoute<
  Key extends string,
  Query extends TSchema,
  Body extends TSchema,
  RawBody extends string,
  Result extends TSchema,
  Media extends string,
> extends Route {
  /** Exists only for the compiler; never set. */
  readonly types?: {
    readonly key: Key
    readonly query: ClientValue<Static<Query>>
    readonly body: [RawBody] extends [never] ? BodyPart<Body> : Blob
    /** Excludes a change that awaits approval, for which clients throw an error. */
    readonly answer: [Media] extends [never] ? Part<Result> : Response
  }
}

interface Typed {
  readonly types?: { readonly key: string; readonly query: unknown; readonly body: unknown; readonly answer: unknown }
}
type TypesOf<Declared extends Typed> = NonNullable<Declared['types']>

export type OperationsOf<Routes extends readonly Typed[]> = {
  readonly [Declared in Routes[number] as TypesOf<Declared>['key']]: {
    readonly params: ParamsOf<TypesOf<Declared>['key']>
    readonly query: TypesOf<Declared>['query']
    readonly body: TypesOf<Declared>['body']
    readonly answer: TypesOf<Declared>['answer']
  }
}

type WithParams<Params> = [keyof Params] extends [never] ? unknown : { readonly params: Params }
type WithQuery<Query> = [keyof Query] extends [never]
  ? unknown
  : Record<never, never> extends Query
    ? { readonly query?: Query }
    : { readonly query: Query }
type WithBody<Body> = [Body] extends [undefined]
  ? unknown
  : undefined extends Body
    ? { readonly body?: Body }
    : { readonly body: Body }

export type CallParts<One extends { readonly params: unknown; readonly query: unknown; readonly body: unknown }> =
  WithParams<One['params']> & WithQuery<One['query']> & WithBody<One['body']>
