// Messages to and from the screening processes. On stdin and stdout, a line of JSON describes the bytes that follow.

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

const cut = (bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] => {
  let at = 0
  return sizes.map((size) => {
    at += size
    return bytes.subarray(at - size, at)
  })
}

export const encodeLists = (lists: readonly PackedList[]): Uint8Array =>
  withHead(
    lists.map(({ list, bytes }) => [list, bytes.length]),
    lists.map(({ bytes }) => bytes),
  )

export const decodeLists = (input: Uint8Array): readonly PackedList[] => {
  const { head, rest } = headOf(input)
  const heads = head as [string, number][]
  const pieces = cut(
    rest,
    heads.map(([, size]) => size),
  )
  return heads.map(([list], at) => ({ list, bytes: pieces[at] ?? new Uint8Array() }))
}

export interface FilesToRead {
  readonly format: ScreeningFormat
  readonly expected: ListExpectations
  readonly files: readonly Uint8Array[]
}

export const encodeFiles = ({ format, expected, files }: FilesToRead): Uint8Array =>
  withHead({ format, expected, sizes: files.map(({ length }) => length) }, files)

export const decodeFiles = (input: Uint8Array): FilesToRead => {
  const { head, rest } = headOf(input)
  const { format, expected, sizes } = head as Omit<FilesToRead, 'files'> & { readonly sizes: readonly number[] }
  return { format, expected, files: cut(rest, sizes) }
}

export interface ListFilesReading {
  readonly packed: PackedEntries | null
  /** Reason in one line for the operator; null if the files were read. */
  readonly refusal: string | null
}

export const encodeReading = ({ packed, refusal }: ListFilesReading): Uint8Array => {
  const { bytes, ...said } = packed ?? { bytes: new Uint8Array() }
  return withHead({ said: packed === null ? null : said, refusal }, [bytes])
}

export const decodeReading = (output: Uint8Array): ListFilesReading => {
  const { head, rest } = headOf(output)
  const { said, refusal } = head as {
    readonly said: Omit<PackedEntries, 'bytes'> | null
    readonly refusal: string | null
  }
  return { refusal, packed: said === null ? null : { ...said, bytes: new Uint8Array(rest) } }
}
