// What verbs use: the store for reading, and the door to the admin API's operations for every change. The operations' types are
// generated from their declarations, as for the dashboard.
import type { CommandDoor, CommandInput } from '../admin/command-door.ts'
import { SecondPersonNeededError } from '../admin/errors.ts'
import type { Approval, Attester, ListSource, Operations } from '../dashboard/page/api/types.ts'
import { CountersignError, FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { PolicyInvalidError } from '../policy/errors.ts'
import type { SessionReplay } from '../policy/session-replay.ts'
import type { Store } from '../store/store.ts'
import { CommandFailedError, UsageError } from './output.ts'

/** Operations that only the command line has. */
interface OwnOperations {
  'POST /attesters/import': {
    params: Record<never, never>
    query: undefined
    body: { readonly kind: Attester['kind']; readonly address: string; readonly keystore_file: string }
    answer: Attester
  }
  'PUT /organizations/{organization}/lists/{list}/source-here': {
    params: { readonly organization: string; readonly list: string }
    query: undefined
    body: Pick<ListSource, 'format' | 'reach' | 'every_seconds'> & {
      readonly location: string
      readonly skip_bad_lines: boolean
    }
    answer: ListSource
  }
  'PUT /screening/lists/{list}/content-here': {
    params: { readonly list: string }
    query: {
      readonly sha256: string
      readonly entries: number
      readonly names: number
      readonly next_due_at_seconds: number
    }
    body: undefined
    answer: undefined
  }
  'POST /organizations/{organization}/session-policy/trial-here': {
    params: { readonly organization: string }
    query: undefined
    body: { readonly source: string; readonly since: string; readonly until?: string }
    answer: SessionReplay & { readonly since: string; readonly until: string }
  }
}
type AllOperations = Operations & OwnOperations

/** Method and path below /admin/v1. */
export type OperationKey = keyof AllOperations
/** A command's change is made or refused, but never waits for a second person. */
type AnswerOf<Key extends OperationKey> = Exclude<AllOperations[Key]['answer'], Approval>
type Part<Name extends string, Value> = [keyof Value] extends [never] ? unknown : { readonly [name in Name]: Value }

export type InputOf<Key extends OperationKey> = Part<'params', AllOperations[Key]['params']> & {
  readonly query?: AllOperations[Key]['query']
  readonly body?: AllOperations[Key]['body']
  readonly file?: { readonly mediaType: string; readonly bytes: ReadableStream<Uint8Array> }
  /** The command's option for each field, for error texts: `{ lifetime_seconds: '--lifetime' }`. */
  readonly flags?: Readonly<Record<string, string>>
}

export interface Door {
  /**
   * Runs an operation of the admin API.
   * @returns the body of its answer
   * @throws UsageError for an invalid field; CommandFailedError for a refused change; PolicyInvalidError
   */
  call<Key extends OperationKey>(operation: Key, input: InputOf<Key>): Promise<AnswerOf<Key>>
  /** Runs all operations that `work` calls as one transaction. */
  together<Result>(work: (door: Door) => Promise<Result>): Promise<Result>
  /** The same door with another author than the operating system's user. */
  as(author: string): Door
}

export interface Opened {
  readonly store: Store
  readonly door: Door
  close(): Promise<void>
}

export type Open = () => Promise<Opened>

/** Turns an operation's error into an error of the command line. */
const explain = (error: unknown, flags: Readonly<Record<string, string>>): unknown => {
  if (error instanceof FieldMissingError) return new UsageError(`${flags[error.field] ?? error.field} is required`)
  if (error instanceof FieldInvalidError) return new UsageError(`${flags[error.field] ?? error.field} ${error.rule}`)
  // Each mistake in a policy is printed, and a needed second person has an exit code of its own.
  if (error instanceof PolicyInvalidError || error instanceof SecondPersonNeededError) return error
  return error instanceof CountersignError ? new CommandFailedError(error.detail) : error
}

/** @param load loads the operations on first use, because loading takes some tenths of a second and listings need none */
export const createDoor = (load: () => Promise<CommandDoor>): Door => ({
  call: async (operation, input) => {
    const { flags = {}, ...rest } = input
    try {
      return (await (await load()).call(operation, rest as CommandInput)) as never
    } catch (error) {
      throw explain(error, flags)
    }
  },
  together: async (work) => (await load()).together((door) => work(createDoor(async () => door))),
  as: (author) => createDoor(async () => (await load()).as(author)),
})
