// Reads the decision log to find what happened to a request with an idempotency key that was cut off: its answer if it
// was decided, and whether its signature can still be used.
import { DECISION_PATHS } from '../attestation/paths.ts'
import { answerOf } from '../decisions/answer.ts'
import { recallDecision } from '../decisions/recall.ts'
import type { Clock } from '../domain/time.ts'
import type { NodeMemory } from '../http/idempotency.ts'

/** Routes whose uuids are in the decision log. */
const DECISION_ROUTES: ReadonlySet<string> = new Set(DECISION_PATHS)
/** The clock may be read a moment apart for a record and for a claim. */
const SLACK_SECONDS = 5
/** For a denial, and for a task that expires at a block, which have no time of their own. */
const KEEP_SECONDS = 300

/**
 * @param node its name in the deployment; empty when there is only one node
 * @param usableSeconds how long, at most, a signature made under a claim can be used after the claim has expired
 */
export const createDecisionMemory = (
  decisionsDirectory: string,
  clock: Clock,
  { node, usableSeconds }: Pick<NodeMemory, 'node' | 'usableSeconds'>,
): NodeMemory => ({
  node,
  usableSeconds,
  holds: (route) => DECISION_ROUTES.has(route),
  recall: async (uuid, sinceSeconds) => {
    const record = await recallDecision(decisionsDirectory, uuid, (sinceSeconds - SLACK_SECONDS) * 1000)
    if (record === null) return { outcome: 'nothing' }
    const timed = record.kind === 'attestation' && record.compliant
    const keepSeconds = timed ? record.expiration - clock.unixSeconds() : KEEP_SECONDS
    if (keepSeconds <= 0) return { outcome: 'expired' }
    return { outcome: 'decided', answer: { body: answerOf(record), keepSeconds } }
  },
})
