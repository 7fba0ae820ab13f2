// Repeats a part's checks while this process is the leader.
import { singleFlight } from '../../lib/single-flight.ts'
import type { Clock } from '../../lib/time.ts'
import type { Logger } from '../../telemetry/log.ts'
import { type CheckAgainDependencies, createCheckAgain } from './check-again.ts'
import { ComparisonChangedError, type RepeatedPart } from './checks.ts'

export interface RepeatChecksDependencies {
  readonly store: {
    readonly organizations: { readonly list: CheckAgainDependencies['organizations'] }
    readonly sessionChecks: Pick<CheckAgainDependencies, 'outdated' | 'queued'>
  }
  readonly storeAgain: CheckAgainDependencies['store']
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
}

const FAILED = 'could not repeat the checks of sessions; will retry'

/** Starts a run or joins the current run; never rejects. @param goesOn whether this process is still the leader */
export type RepeatChecks = (part: RepeatedPart, goesOn: () => boolean) => () => Promise<void>

export const createRepeatChecks =
  ({ store, storeAgain, clock, log }: RepeatChecksDependencies): RepeatChecks =>
  (part, goesOn) => {
    const { outdated, queued } = store.sessionChecks
    const again = createCheckAgain(part, {
      organizations: store.organizations.list,
      outdated,
      queued,
      store: storeAgain,
      clock,
      onError: (error, failed) => log.warn(FAILED, { error, ...failed, with: part.name }),
    })
    const run = async (): Promise<void> => {
      const startedMs = clock.monotonicMs()
      const { sessions, opened } = await again(goesOn)
      const milliseconds = Math.round(clock.monotonicMs() - startedMs)
      if (opened > 0) log.warn('found new hits: review the checks of the sessions', { hits: opened, with: part.name })
      if (sessions > 0) log.info('repeated the checks of sessions', { sessions, milliseconds, with: part.name })
    }
    return singleFlight(() =>
      run().catch((error: unknown) => {
        if (error instanceof ComparisonChangedError) return
        log.warn(FAILED, { error, with: part.name })
      }),
    )
  }
