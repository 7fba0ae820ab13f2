// Stored form of entries: compressed JSON, one entry per line.
import { MEMO_LENGTH_MAX } from '../../../domain/list.ts'
import type { ListedEntry } from '../matching/entry.ts'

export interface PackedEntries {
  readonly bytes: Uint8Array
  /** SHA-256 of the lines in lowercase hex. */
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

export const listedWallets = (packed: Uint8Array): readonly (readonly [wallet: string, memo: string])[] => {
  const memos = new Map<string, string[]>()
  for (const { id, names, wallets } of unpackEntries(packed)) {
    for (const wallet of wallets) {
      const listed = memos.get(wallet) ?? []
      listed.push([id, ...names.slice(0, 1)].join(' '))
      memos.set(wallet, listed)
    }
  }
  return [...memos].map(([wallet, listed]) => [wallet, listed.sort().join('; ').slice(0, MEMO_LENGTH_MAX)])
}
