// Stores wallet addresses in a list of sanctioned people, and shares them as the service does.
import type { Clock } from '../../src/lib/time.ts'
import { listedWallets, packEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import { createWalletSharing } from '../../src/modules/screening/lists/sanctioned-wallets.ts'
import type { Store } from '../../src/store/store.ts'

export const readWallets = async (packed: Uint8Array) => listedWallets(packed)

/** Stores a version of the list with these wallets, which are not shared yet. */
export const listWallets = async (store: Store, name: string, wallets: readonly string[], id = '1'): Promise<void> => {
  const source = { name, format: 'ofac-csv', urls: [], reach: 'public', intervalSeconds: 3_600 } as const
  if ((await store.screeningLists.find(name)) === null) await store.screeningLists.set(source)
  const person = { id, kind: 'person', names: ['Ivan Primerov'], birthDates: [], countries: [], wallets } as const
  const read = { token: null, validators: {}, nextDueAtSeconds: 9e9 }
  await store.screeningLists.replace(name, packEntries([person]), read)
}

export const shareWallets = (store: Store, clock: Clock): Promise<void> => {
  const fail = (message: string, fields: object = {}): never => {
    throw new Error(`${message}: ${Bun.inspect(fields)}`)
  }
  return createWalletSharing({ store, clock, processes: { readWallets }, log: { info: () => undefined, error: fail } })(
    () => true,
  )
}
