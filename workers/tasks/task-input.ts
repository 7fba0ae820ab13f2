// Input of a task process, on standard input, because a command line is too short and readable by every user of the
// machine: one line of JSON, then the bytes of the lists named in that line.

import type { ListImage } from '../../src/domain/list-image.ts'
import { headOf, withHead } from '../../src/lib/headed-bytes.ts'
import type { ReplayReport } from './replay-report.ts'
import type { LogReport } from './verify-log.ts'

export interface TaskInput {
  readonly kind: string
  readonly input: Readonly<Record<string, unknown>>
  readonly lists: readonly ListImage[]
}

interface ListHead extends Omit<ListImage, 'entries' | 'added' | 'removed'> {
  /** Sizes of `entries`, `added` and `removed` in bytes; null if the list has no such buffer. */
  readonly sizes: readonly [number, number | null, number | null]
}

export const encodeTaskInput = ({ kind, input, lists }: TaskInput): Uint8Array => {
  const heads = lists.map(({ entries, added, removed, ...image }): ListHead => {
    return { ...image, sizes: [entries.byteLength, added?.byteLength ?? null, removed?.byteLength ?? null] }
  })
  const parts = lists.flatMap(({ entries, added, removed }) =>
    [entries, added, removed].flatMap((buffer) => (buffer === null ? [] : [new Uint8Array(buffer)])),
  )
  return withHead({ kind, input, lists: heads }, parts)
}

export const decodeTaskInput = (bytes: Uint8Array): TaskInput => {
  const { head, rest } = headOf(bytes)
  const { kind, input, lists } = head as Pick<TaskInput, 'kind' | 'input'> & { readonly lists: readonly ListHead[] }
  let offset = 0
  const take = (size: number): SharedArrayBuffer => {
    const buffer = new SharedArrayBuffer(size)
    new Uint8Array(buffer).set(rest.subarray(offset, offset + size))
    offset += size
    return buffer
  }
  return {
    kind,
    input,
    lists: lists.map(({ sizes: [entries, added, removed], ...image }) => ({
      ...image,
      entries: take(entries),
      added: added === null ? null : take(added),
      removed: removed === null ? null : take(removed),
    })),
  }
}

// Messages from a task process to the service.
export type TaskResult = LogReport | ReplayReport

export type TaskMessage =
  /** `done` of `total`, in a unit that depends on the kind of task, for example bytes. */
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'done'; readonly result: Readonly<Record<string, unknown>> }
  /** `failure` is a message for users. Only the class name of the error is sent. */
  | { readonly type: 'failed'; readonly failure: string; readonly errorClass: string }
