// Admin API client for commands, and access to the store for functions without an operation.
import type { CallParts, OperationsOf } from '../admin/client-types.ts'
import type { CommandClient, CommandInput } from '../admin/command-client.ts'
import { SecondPersonNeededError, SubjectUnknownError } from '../admin/errors.ts'
import type { CoreCommand, CoreRoute } from '../admin/route-table.ts'
import { CountersignError, FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import type { ModuleCommand, ModuleRoute } from '../module-routes.ts'
import { PolicyInvalidError } from '../policy/issues.ts'
import { StoreUnavailableError } from '../store/errors.ts'
import type { Store } from '../store/store.ts'
import { CommandFailedError, UsageError } from './output.ts'

type Operations = OperationsOf<readonly (CoreRoute | CoreCommand | ModuleRoute | ModuleCommand)[]>

/** Method and path below /admin/v1. */
export type OperationKey = keyof Operations

export type AnswerOf<Key extends OperationKey> = Operations[Key]['answer']

export type InputOf<Key extends OperationKey> = (Operations[Key]['body'] extends Blob
  ? CallParts<Omit<Operations[Key], 'body'> & { readonly body: undefined }> & {
      readonly file: { readonly mediaType: string; readonly bytes: ReadableStream<Uint8Array> }
    }
  : CallParts<Operations[Key]>) & {
  /** Command option of each field, for errors: `{ lifetime_seconds: '--lifetime' }`. */
  readonly flags?: Readonly<Record<string, string>>
  /** Error for a missing subject: `there is no project x`. Defaults to the operation's own error. */
  readonly unknown?: string
}

export interface AdminClient {
  /**
   * Runs an operation and returns the response body. The change is made or refused, but never waits for a second
   * person.
   * @throws UsageError for an invalid field; CommandFailedError for a refused change; PolicyInvalidError
   */
  call<Key extends OperationKey>(operation: Key, input: InputOf<Key>): Promise<AnswerOf<Key>>
  /** Runs all operations of `work` in one transaction. */
  together<Result>(work: (admin: AdminClient) => Promise<Result>): Promise<Result>
  /** Returns a client with an author other than the operating system's user. */
  as(author: string): AdminClient
}

export interface Opened {
  readonly store: Store
  readonly admin: AdminClient
  close(): Promise<void>
}

export type Open = () => Promise<Opened>

const explain = (error: unknown, flags: Readonly<Record<string, string>>, unknown: string | undefined): unknown => {
  if (error instanceof FieldMissingError) return new UsageError(`${flags[error.field] ?? error.field} is required`)
  if (error instanceof FieldInvalidError) return new UsageError(`${flags[error.field] ?? error.field} ${error.rule}`)
  // All mistakes in a policy are printed, and a required second person has its own exit code.
  if (error instanceof PolicyInvalidError || error instanceof SecondPersonNeededError) return error
  if (error instanceof StoreUnavailableError) return error
  if (error instanceof SubjectUnknownError) return new CommandFailedError(unknown ?? error.detail, error.code)
  return error instanceof CountersignError ? new CommandFailedError(error.detail, error.code) : error
}

/** @param load called on first use, because loading takes longer than detecting a wrong call */
export const createAdminClient = (load: () => Promise<CommandClient>): AdminClient => ({
  call: async (operation, input) => {
    const { flags = {}, unknown, ...rest } = input
    try {
      return (await (await load()).call(operation, rest as CommandInput)) as never
    } catch (error) {
      throw explain(error, flags, unknown)
    }
  },
  together: async (work) => (await load()).together((admin) => work(createAdminClient(async () => admin))),
  as: (author) => createAdminClient(async () => (await load()).as(author)),
})

const PAGE_MAX = 200

/** Reads all pages, or up to `limit` items. */
export const readPages = async <Item>(
  read: (page: { readonly limit: number; readonly cursor: string | undefined }) => Promise<{
    readonly data: readonly Item[]
    readonly next_cursor: string | null
  }>,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> => {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await read({ limit: Math.min(PAGE_MAX, limit - items.length), cursor })
    items.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && items.length < limit)
  return items
}
