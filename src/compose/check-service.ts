// Builds session checks, with the processes that open images and the leader's task.

import type { LeaderTask } from '../cluster/leader.ts'
import { createRepeatedTask } from '../cluster/repeated-task.ts'
import type { Session } from '../domain/session.ts'
import type { StoreChecks } from '../identity/checks/check-again.ts'
import { createCheckRunner } from '../identity/checks/check-runner.ts'
import type { CheckPart } from '../identity/checks/checks.ts'
import { systemClock, systemTimers } from '../lib/time.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

interface CheckTaskDependencies {
  readonly store: Store
  readonly storeChecks: StoreChecks
  readonly log: Pick<Logger, 'warn'>
  readonly parts: readonly CheckPart[]
  /** Called at least once after all checks of a session are stored. */
  readonly onChecked: (session: Session) => Promise<void>
}

const LOOK_INTERVAL_MS = 500

export const createCheckTask = (dependencies: CheckTaskDependencies): LeaderTask => {
  const { store, storeChecks, log, parts, onChecked } = dependencies
  const runDue = createCheckRunner({
    store: store.sessionChecks,
    storeChecks,
    findSession: store.sessions.find,
    onChecked,
    clock: systemClock,
    onError: (error, part) => log.warn('a session check failed; will retry', { part, error }),
    parts,
  })
  /** Whether an earlier process's claims were released. */
  let released = false
  const { start, ...task } = createRepeatedTask({
    name: 'checks of sessions',
    intervalMs: LOOK_INTERVAL_MS,
    after: systemTimers.after,
    onError: (error) => log.warn('the sessions to check could not be read; will retry', { error }),
    work: async (lead) => {
      if (!released) await store.sessionChecks.releaseClaims()
      released = true
      await runDue(lead.leads)
    },
  })

  return {
    ...task,
    start: (lead) => {
      released = false
      start(lead)
    },
  }
}
