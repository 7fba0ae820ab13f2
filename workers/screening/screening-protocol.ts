// What the service and the processes that screen say to each other. The lists come on standard input: one line
// of JSON that names them with their sizes, then their packed entries.
import type { ScreenedSubject } from '../../src/screening/entry.ts'
import type { ScreeningAnswer } from '../../src/screening/screen-subject.ts'

export interface ScreeningQuestion {
  readonly type: 'screen'
  readonly number: number
  readonly subjects: readonly ScreenedSubject[]
  /** Lowest score of a hit, 0 to 100. */
  readonly threshold: number
}

export type ScreeningReply =
  /** The lists are read. */
  | { readonly type: 'ready'; readonly names: number; readonly residentBytes: number }
  | { readonly type: 'answer'; readonly number: number; readonly answers: readonly ScreeningAnswer[] }

export interface PackedList {
  readonly list: string
  readonly bytes: Uint8Array
}

const NEWLINE = 10

export const encodeLists = (lists: readonly PackedList[]): Uint8Array =>
  Buffer.concat([
    Buffer.from(`${JSON.stringify(lists.map(({ list, bytes }) => [list, bytes.length]))}\n`),
    ...lists.map(({ bytes }) => bytes),
  ])

export const decodeLists = (input: Uint8Array): readonly PackedList[] => {
  const end = input.indexOf(NEWLINE)
  const heads = JSON.parse(new TextDecoder().decode(input.subarray(0, end))) as [string, number][]
  let at = end + 1
  return heads.map(([list, size]) => {
    at += size
    return { list, bytes: input.subarray(at - size, at) }
  })
}
