// What an idempotency key's cut-off request had come to, from the decision log: its answer if it was decided, and whether
// what was signed can still be used.
import { DECISION_PATHS } from '../attestation/paths.ts'
import { answerOf } from '../decisions/answer.ts'
import { recallDecision } from '../decisions/recall.ts'
import type { Clock } from '../domain/time.ts'
import type { NodeMemory } from '../http/idempotency.ts'

/** Routes whose uuids are in the decision log. */
const DECISION_ROUTES: ReadonlySet<string> = new Set(DECISION_PATHS)
/** Clocks of a record and of a claim may be read a moment apart. */
const SLACK_SECONDS = 5
/** A denial, and a task that counts in blocks, have no time of their own. */
const KEEP_SECONDS = 300

/**
 * @param node its name in the deployment; empty where there is one node
 * @param usableSeconds for how long at most what was signed under a claim can be used after the claim has expired
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
