// Copies the wallets of a sanctions list to a shared address list. The store records the copied version.
import { parseAnyAddress } from '../../../domain/address-key.ts'
import { createEntrySink } from '../../../facts/lists/entry-sink.ts'
import { replaceList } from '../../../facts/lists/write-list.ts'
import { NamedError } from '../../../lib/named-error.ts'
import type { Clock } from '../../../lib/time.ts'
import type { UnsharedVersion } from '../../../store/lists/screening-lists.ts'
import type { Store } from '../../../store/store.ts'
import type { Logger } from '../../../telemetry/log.ts'
import type { ScreeningProcesses } from '../processes/screening-processes.ts'

interface WalletSharingDependencies {
  readonly store: Pick<Store, 'lists' | 'listBases' | 'screeningLists'>
  readonly processes: Pick<ScreeningProcesses, 'readWallets'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'error'>
}

const RETRY_MS = 60_000

class VersionMissingError extends NamedError {}

const shareVersion = async (
  { store, processes, clock, log }: WalletSharingDependencies,
  version: UnsharedVersion,
): Promise<void> => {
  const { lists, listBases, screeningLists } = store
  const { name, versionId } = version
  const packed = await screeningLists.readVersion(versionId)
  if (packed === null) throw new VersionMissingError()
  const sink = createEntrySink()
  const wallets = await processes.readWallets(packed)
  for (const [wallet, memo] of wallets) {
    const address = parseAnyAddress(wallet)
    // Null for unsupported chains, such as Bitcoin.
    if (address !== null) sink.add(address, memo)
  }
  const skipped = wallets.length - sink.added
  log.info('read the wallet addresses of a sanctions list', { list: name, shared: sink.added, skipped })
  const list = await lists.ofScreening(name, sink.added > 0)
  if (list === null) return screeningLists.shareNothing(version)
  const stamp = { author: 'screening', addedAtSeconds: clock.unixSeconds() }
  const confirmation = { screeningList: name, versionId }
  await replaceList({ lists, bases: listBases }, list.id, sink.chunks(stamp), confirmation)
}

/** Copies each version that isn't copied yet. A failure is retried after a minute. */
export const createWalletSharing = (
  dependencies: WalletSharingDependencies,
): ((goesOn: () => boolean) => Promise<void>) => {
  const { store, clock, log } = dependencies
  const retries = new Map<string, number>()
  return async (goesOn) => {
    for (const version of await store.screeningLists.unshared()) {
      const { name, versionId } = version
      if (!goesOn()) return
      if (clock.monotonicMs() < (retries.get(versionId) ?? 0)) continue
      try {
        await shareVersion(dependencies, version)
        retries.delete(versionId)
      } catch (error) {
        if (!goesOn()) return
        retries.set(versionId, clock.monotonicMs() + RETRY_MS)
        log.error('could not share the wallet addresses of a sanctions list; will retry', {
          list: name,
          error,
        })
      }
    }
  }
}
