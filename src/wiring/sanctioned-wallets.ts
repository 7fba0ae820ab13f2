// Digital currency addresses of a list of sanctioned people become a shared list of addresses, which policies read by name.
import { parseAnyAddress } from '../domain/address-key.ts'
import type { Clock } from '../domain/time.ts'
import { createEntrySink } from '../facts/lists/entry-sink.ts'
import { replaceList } from '../facts/lists/write-list.ts'
import type { Store } from '../store/store.ts'

/** @returns how many addresses the shared list has; null: the list names none, and nothing was changed */
export const shareWallets = async (
  { lists, listBases }: Pick<Store, 'lists' | 'listBases'>,
  clock: Pick<Clock, 'unixSeconds'>,
  name: string,
  wallets: readonly string[],
): Promise<number | null> => {
  const sink = createEntrySink()
  for (const wallet of wallets) {
    const address = parseAnyAddress(wallet)
    // Addresses of chains that are not supported, Bitcoin's for example.
    if (address !== null) sink.add(address, name)
  }
  if (sink.added === 0) return null
  // Policies write the names of lists with underscores.
  const shared = name.replaceAll('-', '_')
  const list = (await lists.find(null, shared)) ?? (await lists.create({ owner: null, name: shared }))
  const stamp = { author: 'screening', addedAtSeconds: clock.unixSeconds() }
  await replaceList({ lists, bases: listBases }, list.id, sink.chunks(stamp))
  return sink.added
}
