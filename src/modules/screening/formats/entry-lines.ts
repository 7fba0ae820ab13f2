// A version's entries as they are kept: JSON, one entry a line, compressed. The same entries in the same order give the same
// lines, by whose hash a version is known.
import type { ListedEntry } from '../matching/entry.ts'

export interface PackedEntries {
  /** Zstandard. */
  readonly bytes: Uint8Array
  /** SHA-256 of the lines, lower-case hex. */
  readonly sha256: string
  readonly entries: number
  readonly names: number
}

const NEWLINE = 10

export const packEntries = (entries: readonly ListedEntry[]): PackedEntries => {
  const lines = Buffer.from(
    entries
      .map(({ id, kind, names, birthDates, countries, wallets }) =>
        JSON.stringify([id, kind, names, birthDates, countries, wallets]),
      )
      .join('\n'),
  )
  return {
    bytes: Bun.zstdCompressSync(lines),
    sha256: new Bun.CryptoHasher('sha256').update(lines).digest('hex'),
    entries: entries.length,
    names: entries.reduce((sum, { names }) => sum + names.length, 0),
  }
}

/** One entry after the other: no more than one is held. */
export function* unpackEntries(packed: Uint8Array): Generator<ListedEntry> {
  const lines = Bun.zstdDecompressSync(packed)
  const decoder = new TextDecoder()
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(NEWLINE, at)
    const stop = end === -1 ? lines.length : end
    const [id, kind, names, birthDates, countries, wallets] = JSON.parse(decoder.decode(lines.subarray(at, stop))) as [
      string,
      ListedEntry['kind'],
      string[],
      string[],
      string[],
      string[],
    ]
    yield { id, kind, names, birthDates, countries, wallets }
    at = stop + 1
  }
}
