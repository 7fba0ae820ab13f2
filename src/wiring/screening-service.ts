// Screening as a duty of the deployment: one process of it keeps the lists fresh, holds the names of all lists in one process
// of their own, and compares sessions with them. Nothing of it runs in the thread that answers requests.
import { createHash } from 'node:crypto'
import type { Clock } from '../domain/time.ts'
import type { EvidenceService } from '../identity/evidence-types.ts'
import type { Duty, Lead } from '../processes/leader.ts'
import type { Store } from '../store/store.ts'
import type { FactMetrics } from '../telemetry/fact-metrics.ts'
import type { Logger } from '../telemetry/log.ts'
import { shareWallets } from './sanctioned-wallets.ts'
import { type Screener, type ScreeningProcesses, screeningProcesses } from './screening-processes.ts'
import { refreshScreeningLists } from './screening-refresh.ts'
import { createSessionScreening, type ListsInUse } from './session-screening.ts'

export interface ScreeningServiceDependencies {
  readonly store: Store
  readonly evidence: Pick<EvidenceService, 'screenedFields'>
  readonly clock: Clock
  readonly log: Logger
  readonly processes?: ScreeningProcesses
  /** How often it is looked whether there is something to do. */
  readonly everyMs?: number
}

export interface ScreeningService {
  readonly duty: Duty
  /** Lists as last seen, in the process that has the duty. */
  lists(): FactMetrics['lists']
}

const EVERY_MS = 1_000
const FROM_THE_START = { organizationId: '', sessionId: '' }

export const createScreeningService = ({
  store,
  evidence,
  clock,
  log,
  processes = screeningProcesses,
  everyMs = EVERY_MS,
}: ScreeningServiceDependencies): ScreeningService => {
  const sessions = createSessionScreening({
    checks: store.screeningChecks,
    evidence,
    onError: (error, session) => log.warn('what a person typed in could not be read for screening', { error, session }),
  })
  /** The lists themselves are there already: a shared list that can't be written stays as it is. */
  const share = (name: string, wallets: readonly string[]): Promise<unknown> =>
    shareWallets(store, clock, name, wallets).catch((error: unknown) =>
      log.warn('the addresses of a list could not be shared', { list: name, error }),
    )
  let metrics: FactMetrics['lists'] = []
  let screener: Screener | null = null
  let screenerKey = ''
  /** Lists with which all completed sessions were compared. */
  let settledKey = ''

  const closeScreener = async (): Promise<void> => {
    const closed = screener
    screener = null
    screenerKey = ''
    await closed?.close()
  }

  const listsInUse = async (): Promise<ListsInUse | null> => {
    const lists = (await store.screeningLists.list()).filter(({ version }) => version !== null)
    metrics = lists.map(({ name, version, confirmedAtSeconds }) => ({
      name: `screening ${name}`,
      entries: version?.entries ?? 0,
      ageSeconds: confirmedAtSeconds === null ? null : Math.max(0, clock.unixSeconds() - confirmedAtSeconds),
    }))
    if (lists.length === 0) return null
    const versions = Object.fromEntries(lists.map(({ name, version }) => [name, version?.id ?? '']))
    return { versions, key: createHash('sha256').update(JSON.stringify(versions)).digest('hex').slice(0, 32) }
  }

  /** The process with these lists; one with others is replaced once the new one can answer. */
  const screenerFor = async ({ key, versions }: ListsInUse): Promise<Screener> => {
    if (screener !== null && screenerKey === key && !screener.hasEnded()) return screener
    const lists = []
    for (const [list, versionId] of Object.entries(versions)) {
      const bytes = await store.screeningLists.readVersion(versionId)
      if (bytes !== null) lists.push({ list, bytes })
    }
    const next = await processes.startScreener(lists)
    await closeScreener()
    screener = next
    screenerKey = key
    log.info('the lists of sanctioned people are in use', { lists: Object.keys(versions).length })
    return next
  }

  const screenAll = async (lead: Pick<Lead, 'leads'>, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return
    const inUse = await listsInUse()
    if (inUse === null) return closeScreener()
    const asked = await screenerFor(inUse)
    const goesOn = (): boolean => lead.leads() && !signal.aborted
    const submitted = async (): Promise<void> => {
      for (let after = FROM_THE_START; goesOn(); ) {
        const next = await sessions.screenNext(asked, inUse, 'submitted', after)
        if (next === null) return
        if (next.opened > 0) log.info('people who handed in resemble listed ones', { hits: next.opened })
        after = next.last
      }
    }
    await submitted()
    if (settledKey === inUse.key) return
    const startedMs = clock.monotonicMs()
    let [compared, opened] = [0, 0]
    for (let after = FROM_THE_START; goesOn(); ) {
      const next = await sessions.screenNext(asked, inUse, 'completed', after)
      if (next === null) {
        settledKey = inUse.key
        break
      }
      compared += next.compared
      opened += next.opened
      after = next.last
      // Who hands in meanwhile does not wait for all the others.
      await submitted()
    }
    if (opened > 0) log.warn('verified people resemble listed ones: see the checks of their sessions', { hits: opened })
    if (compared > 0)
      log.info('verified people were compared with the lists again', {
        people: compared,
        milliseconds: Math.round(clock.monotonicMs() - startedMs),
      })
  }

  const once = (work: () => Promise<void>, failed: string): (() => Promise<void>) => {
    let underWay: Promise<void> | null = null
    return () => {
      underWay ??= work()
        .catch((error: unknown) => log.warn(failed, { error }))
        .finally(() => {
          underWay = null
        })
      return underWay
    }
  }

  let timer: ReturnType<typeof setInterval> | undefined
  let stop: (() => Promise<void>) | undefined

  return {
    lists: () => metrics,
    duty: {
      name: 'screening of people and companies',
      start: (lead) => {
        const stopping = new AbortController()
        settledKey = ''
        const refresh = once(
          () =>
            refreshScreeningLists({ lists: store.screeningLists, processes, clock, log, share }, lead, stopping.signal),
          'the lists of sanctioned people could not be asked for',
        )
        const screen = once(
          () => screenAll(lead, stopping.signal),
          'people could not be compared with the lists; it is tried again',
        )
        const look = (): void => {
          if (!lead.leads()) return
          void refresh()
          void screen()
        }
        timer = setInterval(look, everyMs)
        timer.unref()
        look()
        stop = async () => {
          stopping.abort()
          await Promise.all([refresh(), screen()])
          await closeScreener()
        }
      },
      stop: async () => {
        clearInterval(timer)
        metrics = []
        await stop?.()
        stop = undefined
      },
    },
  }
}
