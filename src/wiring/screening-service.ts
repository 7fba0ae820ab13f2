// Screening as a duty of the deployment: one process of it keeps the lists fresh, holds the names of all lists in one process
// of their own, and compares sessions with them again when they change. A session that is handed in is compared by the
// runner of checks, which has this service's part. Nothing of it runs in the thread that answers requests.
import type { Clock } from '../domain/time.ts'
import { createCheckAgain, type StoreChecks } from '../identity/check-again.ts'
import { type CheckPart, partOf } from '../identity/checks.ts'
import type { EvidenceService } from '../identity/evidence-types.ts'
import type { Duty } from '../processes/leader.ts'
import type { Store } from '../store/store.ts'
import type { FactMetrics } from '../telemetry/fact-metrics.ts'
import type { Logger } from '../telemetry/log.ts'
import { createNameChecks, type ListVersions } from './name-checks.ts'
import { shareWallets } from './sanctioned-wallets.ts'
import { type Screener, type ScreeningProcesses, screeningProcesses } from './screening-processes.ts'
import { refreshScreeningLists } from './screening-refresh.ts'

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
  /** For the runner of checks, in the process that has the duty. */
  readonly parts: readonly CheckPart[]
  /** Lists as last seen, in the process that has the duty. */
  lists(): FactMetrics['lists']
}

const EVERY_MS = 1_000

/** The lists have changed since they were asked for, or another process screens now. */
class ListsChangedError extends Error {
  override readonly name = 'ListsChangedError'
}

export const createScreeningService = ({
  store,
  evidence,
  clock,
  log,
  processes = screeningProcesses,
  everyMs = EVERY_MS,
}: ScreeningServiceDependencies): ScreeningService => {
  /** The lists themselves are there already: a shared list that can't be written stays as it is. */
  const share = (name: string, wallets: readonly string[]): Promise<unknown> =>
    shareWallets(store, clock, name, wallets).catch((error: unknown) =>
      log.warn('the addresses of a list could not be shared', { list: name, error }),
    )
  let metrics: FactMetrics['lists'] = []
  let leading = false
  let newestKey = ''
  let held: { readonly key: string; readonly starting: Promise<Screener> } | null = null

  const close = (former: typeof held): Promise<void> =>
    former?.starting.then(
      (screener) => screener.close(),
      () => undefined,
    ) ?? Promise.resolve()

  const closeScreener = (): Promise<void> => {
    const former = held
    held = null
    return close(former)
  }

  const versionsInUse = async (): Promise<ListVersions | null> => {
    const lists = (await store.screeningLists.list()).filter(({ version }) => version !== null)
    metrics = lists.map(({ name, version, confirmedAtSeconds }) => ({
      name: `screening ${name}`,
      entries: version?.entries ?? 0,
      ageSeconds: confirmedAtSeconds === null ? null : Math.max(0, clock.unixSeconds() - confirmedAtSeconds),
    }))
    const versions = Object.fromEntries(lists.map(({ name, version }) => [name, version?.id ?? '']))
    newestKey = JSON.stringify(versions)
    if (lists.length > 0) return versions
    await closeScreener()
    return null
  }

  const startScreener = async (versions: ListVersions, former: typeof held): Promise<Screener> => {
    const lists = []
    for (const [list, versionId] of Object.entries(versions)) {
      const bytes = await store.screeningLists.readVersion(versionId)
      if (bytes !== null) lists.push({ list, bytes })
    }
    const screener = await processes.startScreener(lists)
    log.info('the lists of sanctioned people are in use', { lists: lists.length })
    // Only now: the former one answers until then.
    await close(former)
    return screener
  }

  /** The process with these lists: whoever asks meanwhile waits for the same one. @throws ListsChangedError */
  const screenerFor = async (versions: ListVersions): Promise<Screener> => {
    const key = JSON.stringify(versions)
    for (;;) {
      if (!leading || key !== newestKey) throw new ListsChangedError()
      const asked = held
      if (asked?.key === key) {
        const running = await asked.starting.catch(() => null)
        if (running !== null && !running.hasEnded()) return running
        if (held !== asked) continue
      }
      held = { key, starting: startScreener(versions, asked) }
      return held.starting
    }
  }

  const names = createNameChecks({
    screenerFor,
    evidence,
    versions: versionsInUse,
    thresholds: store.screeningChecks.listThresholds,
    onError: (error, session) => log.warn('what a person typed in could not be read for screening', { error, session }),
  })

  const storeChecks: StoreChecks = (part, made) =>
    store.transaction(async (tables) => {
      let [opened, skipped] = [0, 0]
      for (const { session, checks } of made) {
        const { organizationId, id: sessionId, sequence } = session
        const now = await tables.sessions.find(organizationId, sessionId)
        if (now?.session.sequence !== sequence) skipped += 1
        else opened += await tables.sessionChecks.replace({ organizationId, sessionId }, part, checks)
      }
      return { opened, skipped }
    })

  const makeAgain = async (again: ReturnType<typeof createCheckAgain>, goesOn: () => boolean): Promise<void> => {
    const startedMs = clock.monotonicMs()
    try {
      const { sessions, opened } = await again(goesOn)
      if (opened > 0) log.warn('people resemble listed ones: see the checks of their sessions', { hits: opened })
      if (sessions > 0)
        log.info('people were compared with the lists again', {
          people: sessions,
          milliseconds: Math.round(clock.monotonicMs() - startedMs),
        })
    } catch (error) {
      // It begins anew, with the lists as they are now.
      if (!(error instanceof ListsChangedError)) throw error
    }
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
    parts: [partOf(names)],
    duty: {
      name: 'screening of people and companies',
      start: (lead) => {
        const stopping = new AbortController()
        leading = true
        const namesAgain = createCheckAgain(names, {
          organizations: store.organizations.list,
          outdated: store.sessionChecks.outdated,
          store: storeChecks,
        })
        const refresh = once(
          () =>
            refreshScreeningLists({ lists: store.screeningLists, processes, clock, log, share }, lead, stopping.signal),
          'the lists of sanctioned people could not be asked for',
        )
        const screen = once(
          () => makeAgain(namesAgain, () => lead.leads() && !stopping.signal.aborted),
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
          leading = false
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
