// Difference between a file and a list for the approver: counts, first addresses, and a hash of the result.
import { addressOfKey } from '../../domain/address-key.ts'
import type { ListEntry } from '../../domain/list.ts'
import { compareKeys } from '../../facts/lists/merge-chunks.ts'
import { nextTurn } from '../../lib/time.ts'
import type { SeenChange } from './declaration.ts'

export interface ListDifference {
  readonly version: number
  readonly added: number
  readonly removed: number
  readonly remarked: number
  readonly shown: readonly SeenChange[]
  /** SHA-256 of the resulting list's export as text. */
  readonly sha256: string
}

/** Maximum changes shown to an approver, of each kind. */
export const SHOWN_MAX = 50
/** Entries compared per turn of the event loop: some milliseconds. */
const TURN_ENTRIES = 1_024

export const memoText = (memo: string): string => (memo === '' ? 'in the list' : `in the list: ${memo}`)

const textOf = (entry: ListEntry | null): string | null => (entry === null ? null : memoText(entry.memo))

/** Yields the entries of each address in either stream. Both streams are in the order of `compareKeys`. */
async function* pairs(
  before: AsyncIterable<ListEntry>,
  after: AsyncIterable<ListEntry>,
): AsyncGenerator<readonly [before: ListEntry | null, after: ListEntry | null]> {
  const left = before[Symbol.asyncIterator]()
  const right = after[Symbol.asyncIterator]()
  let a = await left.next()
  let b = await right.next()
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compareKeys(a.value.key, b.value.key)
    yield [order <= 0 ? a.value : null, order >= 0 ? b.value : null]
    if (order <= 0) a = await left.next()
    if (order >= 0) b = await right.next()
  }
}

export const differenceOf = async (
  version: number,
  before: AsyncIterable<ListEntry>,
  after: AsyncIterable<ListEntry>,
): Promise<ListDifference> => {
  const counts = { added: 0, removed: 0, remarked: 0 }
  const shown: SeenChange[] = []
  const hash = new Bun.CryptoHasher('sha256')
  let read = 0
  for await (const [was, is] of pairs(before, after)) {
    if (++read % TURN_ENTRIES === 0) await nextTurn()
    if (is !== null) hash.update(`${addressOfKey(is.key)}\n`)
    const entry = is ?? was
    if (entry === null || was?.memo === is?.memo) continue
    const kind = was === null ? 'added' : is === null ? 'removed' : 'remarked'
    counts[kind] += 1
    if (counts[kind] > SHOWN_MAX) continue
    shown.push({ what: addressOfKey(entry.key), before: textOf(was), after: textOf(is) })
  }
  return { version, ...counts, shown, sha256: hash.digest('hex') }
}
