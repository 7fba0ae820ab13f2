// Builds the checks of sessions: their parts, the processes that open pictures, and the loop that runs due checks. Only the
// leading process of the deployment runs them. Called by identity-service.ts.

import type { LeaderTask } from '../cluster/leader.ts'
import { createRepeatedTask } from '../cluster/repeated-task.ts'
import type { Session } from '../domain/session.ts'
import type { StoreChecks } from '../identity/checks/check-again.ts'
import { createCheckRunner } from '../identity/checks/check-runner.ts'
import type { CheckPart } from '../identity/checks/checks.ts'
import type { Traces } from '../identity/checks/traces.ts'
import { DocumentInvalidError } from '../identity/evidence/errors.ts'
import type { DocumentReadings, EvidenceService } from '../identity/evidence-types.ts'
import { systemClock, systemTimers } from '../lib/time.ts'
import { createDocumentChecks } from '../modules/documents/checks/document-checks.ts'
import { createPersonChecks } from '../modules/documents/checks/person-checks.ts'
import { createPictureReader } from '../modules/documents/picture-reader.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

export interface CheckPartsDependencies {
  readonly store: Store
  readonly traces: Traces
  readonly evidence: EvidenceService
  readonly readings: DocumentReadings
  readonly storeChecks: StoreChecks
  readonly log: Pick<Logger, 'warn'>
  /** Further kinds of checks. */
  readonly parts: readonly CheckPart[]
  /** Called once all checks of a session are stored, at least once. */
  readonly onChecked: (session: Session) => Promise<void>
}

export interface CheckParts {
  readonly leaderTask: LeaderTask
  /** Kills the processes that read pictures. */
  close(): Promise<void>
}

/** Interval between two looks for due checks. */
const LOOK_INTERVAL_MS = 500
export const createCheckParts = (dependencies: CheckPartsDependencies): CheckParts => {
  const { store, evidence, readings, traces, storeChecks, log, parts, onChecked } = dependencies
  const zones = createPictureReader('zone')
  const portraits = createPictureReader('portrait')
  const shared = {
    evidence,
    traces,
    traceStore: store.sessionTraces,
    clock: systemClock,
  }
  const runDue = createCheckRunner({
    store: store.sessionChecks,
    storeChecks,
    findSession: store.sessions.find,
    onChecked,
    clock: systemClock,
    onError: (error, part) => log.warn('a check could not be made; it is tried again', { part, error }),
    parts: [
      createDocumentChecks({
        ...shared,
        readings,
        readZone: async (picture) => {
          const answer = await zones.read(picture)
          if (!('reading' in answer)) throw new DocumentInvalidError('the picture was not read')
          return answer.reading
        },
      }),
      createPersonChecks({
        ...shared,
        originOf: store.sessionOrigins.find,
        hashPortrait: async (picture) => {
          const answer = await portraits.read(picture)
          if (!('hash' in answer)) throw new DocumentInvalidError('the picture was not hashed')
          return answer.hash
        },
      }),
      ...parts,
    ],
  })
  /** Whether claims of an earlier process were released. */
  let released = false
  const { start, ...task } = createRepeatedTask({
    name: 'checks of sessions',
    intervalMs: LOOK_INTERVAL_MS,
    after: systemTimers.after,
    onError: (error) => log.warn('the sessions to be checked could not be read; it is tried again', { error }),
    work: async (lead) => {
      if (!released) await store.sessionChecks.releaseClaims()
      released = true
      while (lead.leads() && (await runDue()) > 0);
    },
  })

  return {
    leaderTask: {
      ...task,
      start: (lead) => {
        released = false
        start(lead)
      },
    },
    close: async () => {
      await Promise.all([zones.close(), portraits.close()])
    },
  }
}
