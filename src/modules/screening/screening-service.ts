// The leader's task: refreshes the lists, and compares sessions again when lists change.

import type { Lead, LeaderTask } from '../../cluster/leader.ts'
import { addressKey } from '../../domain/address-key.ts'
import type { StoreChecks } from '../../identity/checks/check-again.ts'
import { type CheckPart, comparisonKey } from '../../identity/checks/checks.ts'
import { createRepeatChecks } from '../../identity/checks/repeat-checks.ts'
import { singleFlight } from '../../lib/single-flight.ts'
import type { Clock } from '../../lib/time.ts'
import type { WalletSources } from '../../module-interface/module.ts'
import type { Store } from '../../store/store.ts'
import type { FactMetrics } from '../../telemetry/fact-metrics.ts'
import type { Logger } from '../../telemetry/log.ts'
import { createNameChecks } from './checks/name-checks.ts'
import type { ScreenedFields } from './checks/screen-sessions.ts'
import { createScreenerChecks } from './checks/screener-checks.ts'
import { createWalletChecks } from './checks/wallet-checks.ts'
import { createWalletSharing } from './lists/sanctioned-wallets.ts'
import { refreshScreeningLists } from './lists/screening-refresh.ts'
import { createHeldNameScreener } from './processes/held-name-screener.ts'
import { type ScreeningProcesses, screeningProcesses } from './processes/screening-processes.ts'

interface ScreeningServiceDependencies {
  readonly store: Store
  readonly evidence: ScreenedFields
  readonly wallets: WalletSources
  readonly storeAgain: StoreChecks
  readonly clock: Clock
  readonly log: Logger
  readonly processes?: ScreeningProcesses
  readonly everyMs?: number
  /** Interval of the tasks for wallets: organizations can change their lists and settings at any time. */
  readonly othersEveryMs?: number
}

export interface ScreeningService {
  readonly leaderTask: LeaderTask
  readonly parts: readonly CheckPart[]
  /** Returns the lists for metrics; empty if this process isn't the leader. */
  lists(): FactMetrics['lists']
}

const EVERY_MS = 1_000
const OTHERS_EVERY_MS = 20_000

const oneAtATime = (work: () => Promise<void>, failed: (error: unknown) => void): (() => Promise<void>) =>
  singleFlight(() => work().catch(failed))

export const createScreeningService = ({
  store,
  evidence,
  wallets,
  storeAgain,
  clock,
  log,
  processes = screeningProcesses,
  everyMs = EVERY_MS,
  othersEveryMs = OTHERS_EVERY_MS,
}: ScreeningServiceDependencies): ScreeningService => {
  const held = createHeldNameScreener({ processes, clock, log, lists: store.screeningLists })
  const shared = { settings: store.screeningSettings.readAll, walletsOf: store.sessionWallets.ofSessionsOverTime }
  const names = createNameChecks({
    settings: shared.settings,
    evidence,
    listsInUse: held.inUse,
    nameScreenerFor: held.nameScreenerFor,
    onError: (error, session) => log.warn('could not read a person’s entered fields for screening', { error, session }),
  })
  const listed = createWalletChecks({
    ...shared,
    lists: wallets.lists,
    memoOf: async (listId, address) => {
      const list = await store.lists.findById(listId)
      return list === null ? null : ((await store.lists.findEntry(list, addressKey(address)))?.memo ?? null)
    },
  })
  const screened = createScreenerChecks({
    ...shared,
    screeners: [...wallets.screeners.keys()],
    ask: async (name, { address, chain }) =>
      (await wallets.screeners.get(name)?.screen({ from: address, chain: await wallets.chainOf(chain) })) ?? null,
    listsKey: async () => comparisonKey((await held.inUse())?.versions ?? null),
  })

  const againWith = createRepeatChecks({ store, storeAgain, clock, log })

  let stop = async (): Promise<void> => undefined

  const begin = (lead: Lead): void => {
    const stopping = new AbortController()
    const goesOn = (): boolean => lead.leads() && !stopping.signal.aborted
    held.open()
    const refresh = oneAtATime(
      () => refreshScreeningLists({ lists: store.screeningLists, processes, clock, log }, lead, stopping.signal),
      (error) => log.warn('could not read the sanctions lists', { error }),
    )
    const shareUnshared = createWalletSharing({ store, processes, clock, log })
    const share = oneAtATime(
      () => shareUnshared(goesOn),
      (error) => log.warn('could not share the wallet addresses of the sanctions lists; will retry', { error }),
    )
    const tasks = [
      { run: refresh, ms: everyMs },
      { run: share, ms: everyMs },
      { run: againWith(names, goesOn), ms: everyMs },
      { run: againWith(listed, goesOn), ms: othersEveryMs },
      { run: againWith(screened, goesOn), ms: othersEveryMs },
    ]
    const timers = tasks.map(({ run, ms }) => {
      const runIfLeading = (): void => {
        if (lead.leads()) void run()
      }
      runIfLeading()
      const timer = setInterval(runIfLeading, ms)
      timer.unref()
      return timer
    })
    stop = async () => {
      for (const timer of timers) clearInterval(timer)
      stopping.abort()
      await Promise.all(tasks.map(({ run }) => run()))
      await held.close()
    }
  }

  return {
    lists: held.metrics,
    parts: [names, listed, screened],
    leaderTask: {
      name: 'screening of people and businesses',
      start: begin,
      stop: async () => {
        await stop()
        stop = async () => undefined
      },
    },
  }
}
