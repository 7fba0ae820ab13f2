// What an idempotency key's cut-off request had come to, from the decision log: its answer if it was decided, and whether
// what was signed can still be used.
import { answerOf } from '../decisions/answer.ts'
import { recallDecision } from '../decisions/recall.ts'
import type { Clock } from '../domain/time.ts'
import type { Recalled } from '../http/idempotency.ts'

/** Routes whose uuids are in the decision log. */
const DECISION_ROUTES: ReadonlySet<string> = new Set(['/v2/attestation', '/v1/task'])
/** Clocks of a record and of a claim may be read a moment apart. */
const SLACK_SECONDS = 5
/** A denial, and a task that counts in blocks, have no time of their own. */
const KEEP_SECONDS = 300

export const createRecall =
  (decisionsDirectory: string, clock: Clock) =>
  async (route: string, uuid: string, sinceSeconds: number): Promise<Recalled> => {
    if (!DECISION_ROUTES.has(route)) return { outcome: 'nothing' }
    const record = await recallDecision(decisionsDirectory, uuid, (sinceSeconds - SLACK_SECONDS) * 1000)
    if (record === null) return { outcome: 'nothing' }
    const timed = record.kind === 'attestation' && record.compliant
    const keepSeconds = timed ? record.expiration - clock.unixSeconds() : KEEP_SECONDS
    if (keepSeconds <= 0) return { outcome: 'expired' }
    return { outcome: 'decided', answer: { body: answerOf(record), keepSeconds } }
  }
