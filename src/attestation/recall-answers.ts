// Reads the decision log to find what happened to a request with an idempotency key: its answer if it was decided, and
// whether its signature can still be used.
import { LRUCache } from 'lru-cache'
import { answerOf } from '../decision-log/answer.ts'
import { findDecision, recallDecision } from '../decision-log/recall.ts'
import type { DecisionRecord } from '../decision-log/types.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import type { Clock } from '../lib/time.ts'
import {
  IdempotencyTwinInFlightError,
  KEEP_SLACK_SECONDS,
  type NodeMemory,
  type Recalled,
  type SoughtDecision,
} from '../server/idempotency.ts'
import { DEFAULT_LIFETIME_SECONDS } from '../store/organizations/projects.ts'

/** For attestations that live up to nine minutes and a slack: most do. */
const KEEP_SECONDS = 600
/** On another node a retry may have to wait for the node that was lost. */
const KEEP_SECONDS_OVER_NODES = 86_400
const FOUND_MAX = 1_000
/**
 * Searches that read the log at once, on the thread that answers all requests: one piece of the log is read in each turn of the
 * event loop. Organizations take turns.
 */
const SEARCHES_MAX = 1
const WAITING_PER_ORGANIZATION_MAX = 512
/** The clock may be read a moment apart for a record and for a claim. */
const SLACK_SECONDS = 5

/**
 * Until when an answer is repeated. A denial has no time of its own. A task may expire at a block: it is repeated as long
 * as its key is kept.
 */
const repeatedUntilSeconds = (record: DecisionRecord): number => {
  if (!record.compliant) return Math.floor(record.at / 1000) + DEFAULT_LIFETIME_SECONDS
  return record.kind === 'attestation' ? record.expiration : Number.POSITIVE_INFINITY
}

interface Found {
  readonly body: string
  readonly untilSeconds: number
}

/**
 * @param node its name in the deployment; empty when there is only one node
 * @param usableSeconds how long, at most, a signature made under a claim can be used after the claim has expired
 */
export const createDecisionMemory = (
  decisionsDirectory: string,
  clock: Clock,
  { node, usableSeconds }: Pick<NodeMemory, 'node' | 'usableSeconds'>,
): NodeMemory => {
  /** Answers never change: a caller that repeats a request over and over does not have the log read each time. */
  const found = new LRUCache<string, Found>({ max: FOUND_MAX })
  const take = (record: DecisionRecord | null): Found | null => {
    if (record === null) return null
    const one = { body: answerOf(record), untilSeconds: repeatedUntilSeconds(record) }
    found.set(record.uuid, one)
    return one
  }
  const recalled = (one: Found | null): Recalled => {
    if (one === null) return { outcome: 'nothing' }
    const leftSeconds = one.untilSeconds - clock.unixSeconds()
    if (leftSeconds + KEEP_SLACK_SECONDS <= 0) return { outcome: 'expired' }
    const keepSeconds = Math.max(0, Math.min(leftSeconds, usableSeconds))
    return { outcome: 'decided', answer: { body: one.body, keepSeconds } }
  }
  const searches = createFairSlots(SEARCHES_MAX, Number.POSITIVE_INFINITY, WAITING_PER_ORGANIZATION_MAX)
  /** @throws IdempotencyTwinInFlightError if too many of the organization's searches wait */
  const searching = async (organizationId: string, search: () => Promise<Found | null>): Promise<Recalled> => {
    const release = await searches.acquire(organizationId)
    if (release === null) throw new IdempotencyTwinInFlightError()
    try {
      return recalled(await search())
    } finally {
      release()
    }
  }
  const find = async (uuid: string, sinceSeconds: number): Promise<Found | null> =>
    take(await findDecision(decisionsDirectory, uuid, sinceSeconds * 1000))
  const recall = async (uuid: string, sinceSeconds: number): Promise<Found | null> =>
    (await find(uuid, sinceSeconds)) ??
    take(await recallDecision(decisionsDirectory, uuid, (sinceSeconds - SLACK_SECONDS) * 1000))
  const known = (
    { uuid, sinceSeconds, organizationId }: SoughtDecision,
    search: (uuid: string, sinceSeconds: number) => Promise<Found | null>,
  ): Promise<Recalled> => {
    const one = found.get(uuid)
    return one === undefined
      ? searching(organizationId, () => search(uuid, sinceSeconds))
      : Promise.resolve(recalled(one))
  }

  return {
    node,
    usableSeconds,
    keepSeconds: node === '' ? KEEP_SECONDS : Math.max(KEEP_SECONDS_OVER_NODES, usableSeconds),
    find: (sought) => known(sought, find),
    recall: (sought) => known(sought, recall),
  }
}
