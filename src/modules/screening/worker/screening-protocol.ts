// Messages to and from the screening processes.

import { headOf, withHead } from '../../../lib/headed-bytes.ts'
import type { PackedEntries } from '../formats/entry-lines.ts'
import type { ScreeningFormat } from '../formats/publishers.ts'
import type { ListExpectations } from '../formats/read-screening-list.ts'
import type { ScreenedSubject } from '../matching/entry.ts'
import type { ScreeningAnswer } from '../matching/screen-subject.ts'

/** The next request follows the response. */
export interface ScreeningQuestion {
  readonly subjects: readonly ScreenedSubject[]
  /** Minimum score of a hit, 0 to 100. */
  readonly threshold: number
}

export type ScreeningReply =
  | { readonly type: 'ready'; readonly names: number }
  | { readonly type: 'answer'; readonly answers: readonly ScreeningAnswer[] }

export interface PackedList {
  readonly list: string
  readonly bytes: Uint8Array
}

/** Task of a process on standard input, with the pieces of `encodePieces`. */
export type ScreeningTask =
  /** Pieces: the files of a list. Result: FilesRead and the packed entries. */
  | { readonly task: 'read'; readonly format: ScreeningFormat; readonly expected: ListExpectations }
  /** Piece: packed entries. Result: listed wallets as JSON. */
  | { readonly task: 'wallets' }
  /** Pieces: packed lists. Result: the index of their names. */
  | { readonly task: 'index'; readonly lists: readonly string[] }

export interface FilesRead {
  readonly packed: Omit<PackedEntries, 'bytes'> | null
  /** Reason in one line for the operator; null if the files were read. */
  readonly refusal: string | null
}

export const encodePieces = (head: ScreeningTask | FilesRead, pieces: readonly Uint8Array[]): Uint8Array =>
  withHead({ head, sizes: pieces.map(({ length }) => length) }, pieces)

export const decodePieces = <Head extends ScreeningTask | FilesRead>(bytes: Uint8Array) => {
  const { head: line, rest } = headOf(bytes)
  const { head, sizes } = line as { readonly head: Head; readonly sizes: readonly number[] }
  let at = 0
  const pieces = sizes.map((size) => {
    at += size
    return rest.subarray(at - size, at)
  })
  return { head, pieces }
}
