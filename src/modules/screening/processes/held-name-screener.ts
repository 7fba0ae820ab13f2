// The process that indexes the names of all lists, in the leader only. Calls during startup wait for it.
import { ComparisonChangedError } from '../../../identity/checks/checks.ts'
import { type Clock, secondsSince } from '../../../lib/time.ts'
import type { ScreeningListTable } from '../../../store/lists/screening-lists.ts'
import type { FactMetrics } from '../../../telemetry/fact-metrics.ts'
import type { Logger } from '../../../telemetry/log.ts'
import type { PackedList } from '../worker/screening-protocol.ts'
import type { NameScreener, ScreeningProcesses } from './screening-processes.ts'

export type ListVersions = Readonly<Record<string, string>>

export interface ListsInUse {
  readonly versions: ListVersions
  /** `enabledName` of each list, sorted. */
  readonly enabled: readonly string[]
}

/** Changes when the list is disabled and enabled again, so that earlier hits don't apply. */
export const enabledName = (name: string, enablingId: string): string =>
  enablingId === '' ? name : `${name} ${enablingId}`

/** Omits lists that haven't been read. */
export const versionsOf = (lists: Awaited<ReturnType<ScreeningListTable['list']>>): ListVersions =>
  Object.fromEntries(lists.flatMap(({ name, version }) => (version === null ? [] : [[name, version.id]])))

export const packLists = async (
  lists: Pick<ScreeningListTable, 'readVersion'>,
  versions: ListVersions,
): Promise<readonly PackedList[]> => {
  const packed: PackedList[] = []
  for (const [list, versionId] of Object.entries(versions)) {
    const bytes = await lists.readVersion(versionId)
    if (bytes !== null) packed.push({ list, bytes })
  }
  return packed
}

/** The lists changed after their versions were read, or this process is no longer the leader. */
class ListsChangedError extends ComparisonChangedError {}

interface HeldNameScreenerDependencies {
  readonly lists: Pick<ScreeningListTable, 'list' | 'readVersion'>
  readonly processes: Pick<ScreeningProcesses, 'startNameScreener'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'info'>
}

interface Held {
  readonly key: string
  readonly starting: Promise<NameScreener>
}

const close = async (former: Held | null): Promise<void> => {
  // A screener that failed to start has exited.
  const screener = await former?.starting.catch(() => null)
  await screener?.close()
}

export const createHeldNameScreener = ({ lists, processes, clock, log }: HeldNameScreenerDependencies) => {
  let isOpen = false
  let newestKey = ''
  let held: Held | null = null
  let metrics: FactMetrics['lists'] = []

  const closeHeld = (): Promise<void> => {
    const former = held
    held = null
    return close(former)
  }

  const start = async (versions: ListVersions, former: Held | null): Promise<NameScreener> => {
    const packed = await packLists(lists, versions)
    const screener = await processes.startNameScreener(packed)
    log.info('loaded the sanctions lists', { lists: packed.length })
    // The former screener handles requests until here.
    await close(former)
    return screener
  }

  return {
    open: (): void => {
      isOpen = true
    },
    close: async (): Promise<void> => {
      isOpen = false
      metrics = []
      await closeHeld()
    },
    metrics: () => metrics,

    inUse: async (): Promise<ListsInUse | null> => {
      const inUse = (await lists.list()).filter(({ version }) => version !== null)
      metrics = inUse.map(({ name, version, confirmedAtSeconds }) => ({
        name: `screening ${name}`,
        entries: version?.entries ?? 0,
        ageSeconds: secondsSince(confirmedAtSeconds, clock.unixSeconds()),
      }))
      const versions = versionsOf(inUse)
      newestKey = JSON.stringify(versions)
      if (inUse.length > 0) {
        return { versions, enabled: inUse.map(({ name, enablingId }) => enabledName(name, enablingId)).sort() }
      }
      await closeHeld()
      return null
    },

    nameScreenerFor: async (versions: ListVersions): Promise<NameScreener> => {
      const key = JSON.stringify(versions)
      for (;;) {
        if (!isOpen || key !== newestKey) throw new ListsChangedError()
        const asked = held
        if (asked?.key === key) {
          const running = await asked.starting.catch(() => null)
          if (running !== null && !running.hasEnded()) return running
          if (held !== asked) continue
        }
        held = { key, starting: start(versions, asked) }
        return held.starting
      }
    },
  }
}
