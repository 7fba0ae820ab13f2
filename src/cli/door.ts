// What verbs use: the store for reading, and the door to the admin API's operations for every change. The operations' types are
// those of their declarations, as for the dashboard.
import type { CallParts, OperationsOf } from '../admin/client-types.ts'
import type { CommandDoor, CommandInput } from '../admin/command-door.ts'
import { SecondPersonNeededError } from '../admin/errors.ts'
import type { COMMAND_ROUTES } from '../admin/route-table.ts'
import { CountersignError, FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { PolicyInvalidError } from '../policy/errors.ts'
import type { Store } from '../store/store.ts'
import { CommandFailedError, UsageError } from './output.ts'

type Operations = OperationsOf<typeof COMMAND_ROUTES>

/** Method and path below /admin/v1. */
export type OperationKey = keyof Operations

export type InputOf<Key extends OperationKey> = (Operations[Key]['body'] extends Blob
  ? CallParts<Omit<Operations[Key], 'body'> & { readonly body: undefined }> & {
      readonly file: { readonly mediaType: string; readonly bytes: ReadableStream<Uint8Array> }
    }
  : CallParts<Operations[Key]>) & {
  /** The command's option for each field, for error texts: `{ lifetime_seconds: '--lifetime' }`. */
  readonly flags?: Readonly<Record<string, string>>
}

export interface Door {
  /**
   * Runs an operation of the admin API. A command's change is made or refused, but never waits for a second person.
   * @returns the body of its answer
   * @throws UsageError for an invalid field; CommandFailedError for a refused change; PolicyInvalidError
   */
  call<Key extends OperationKey>(operation: Key, input: InputOf<Key>): Promise<Operations[Key]['answer']>
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
