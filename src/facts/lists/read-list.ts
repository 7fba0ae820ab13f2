import type { ListFormat } from '../../domain/list.ts'
import { DetailedError, errorCodeOf } from '../../lib/named-error.ts'
import { nextTurn } from '../../lib/time.ts'
import { XmlInvalidError } from '../../lib/xml-scanner.ts'
import { createEntrySink, type EntrySink } from './entry-sink.ts'
import { type BadLine, createLineReader } from './line-reader.ts'
import { createSdnReader } from './sdn-reader.ts'

export interface ListReading {
  readonly entries: EntrySink
  readonly badLines: readonly BadLine[]
  readonly badLineCount: number
  /** Addresses on unsupported chains, by asset. */
  readonly skipped: ReadonlyMap<string, number>
  /** SHA-256 of the file in lowercase hex. */
  readonly sha256: string
  readonly bytes: number
}

export class ListFileInvalidError extends DetailedError {}

const BAD_LINES_KEPT = 100
/** Bytes per turn of the event loop: about a millisecond of work. */
const SLICE_BYTES = 65_536

/** @throws ListFileInvalidError, ListTooLongError, and errors of `bytes` */
export const readList = async (bytes: AsyncIterable<Uint8Array>, format: ListFormat): Promise<ListReading> => {
  const entries = createEntrySink()
  const badLines: BadLine[] = []
  const skipped = new Map<string, number>()
  let badLineCount = 0
  let size = 0
  const onSkipped = (asset: string): void => void skipped.set(asset, (skipped.get(asset) ?? 0) + 1)
  const reader =
    format === 'sdn-advanced'
      ? createSdnReader({ onEntry: entries.add, onSkipped })
      : createLineReader({
          format,
          onEntry: entries.add,
          onSkipped,
          onBadLine: (bad) => {
            badLineCount += 1
            if (badLines.length < BAD_LINES_KEPT) badLines.push(bad)
          },
        })
  const hash = new Bun.CryptoHasher('sha256')
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    for await (const chunk of bytes) {
      size += chunk.length
      hash.update(chunk)
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        reader.write(decoder.decode(chunk.subarray(at, at + SLICE_BYTES), { stream: true }))
        await nextTurn()
      }
    }
    reader.write(decoder.decode())
    reader.end()
  } catch (error) {
    if (error instanceof XmlInvalidError) throw new ListFileInvalidError(error.detail)
    if (errorCodeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      throw new ListFileInvalidError('the file is not UTF-8 text')
    }
    throw error
  }
  return { entries, badLines, badLineCount, skipped, sha256: hash.digest('hex'), bytes: size }
}
