// Finds the answer to a request with an idempotency key in the decision log, and whether its signature is still usable.
import { LRUCache } from 'lru-cache'
import { answerOf } from '../decision-log/answer.ts'
import { findDecision, recallDecision } from '../decision-log/recall.ts'
import type { DecisionRecord } from '../decision-log/types.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import { type Clock, createHeldClock } from '../lib/time.ts'
import {
  IdempotencyTwinInFlightError,
  KEEP_SLACK_SECONDS,
  type NodeMemory,
  type Recalled,
  type SoughtDecision,
} from '../server/idempotency.ts'
import { DEFAULT_LIFETIME_SECONDS } from '../store/organizations/projects.ts'

/** Retention that covers attestations with a lifetime of up to nine minutes, which is most of them, plus slack. */
const KEEP_SECONDS = 600
/** Retention with several nodes: a retry may have to wait for the node that failed. */
const KEEP_SECONDS_OVER_NODES = 86_400
const FOUND_MAX = 1_000
/**
 * Maximum concurrent searches. Each runs on the main thread and reads one piece of the log per turn of the event loop.
 */
const SEARCHES_MAX = 1
const WAITING_PER_ORGANIZATION_MAX = 512
/** Difference between the clock readings for a record and for its claim. */
const SLACK_SECONDS = 5

/**
 * A denial has no expiry, so the default lifetime applies. A task may expire at a block, so only its idempotency key's
 * expiry limits the repetition.
 */
const repeatedUntilSeconds = (record: DecisionRecord): number => {
  if (!record.compliant) return Math.floor(record.at / 1000) + DEFAULT_LIFETIME_SECONDS
  return record.kind === 'attestation' ? record.expiration : Number.POSITIVE_INFINITY
}

interface Found {
  readonly body: string
  readonly untilSeconds: number
}

/** @param usableSeconds maximum validity of a signature after its claim has expired */
export const createDecisionMemory = (
  decisionsDirectory: string,
  clock: Clock,
  { node, usableSeconds }: Pick<NodeMemory, 'node' | 'usableSeconds'>,
): NodeMemory => {
  /** Answers never change, so repeated requests don't read the log again. */
  const found = new LRUCache<string, Found>({ max: FOUND_MAX })
  const take = (record: DecisionRecord | null): Found | null => {
    if (record === null) return null
    const one = { body: answerOf(record), untilSeconds: repeatedUntilSeconds(record) }
    found.set(record.uuid, one)
    return one
  }
  /** A wall-clock step doesn't make a signature expire. */
  const unusableClock = createHeldClock(clock, usableSeconds * 1_000)
  unusableClock()
  const recalled = (one: Found | null): Recalled => {
    if (one === null) return { outcome: 'nothing' }
    const leftSeconds = one.untilSeconds - unusableClock()
    if (leftSeconds + KEEP_SLACK_SECONDS <= 0) return { outcome: 'expired' }
    const keepSeconds = Math.max(0, Math.min(leftSeconds, usableSeconds))
    return { outcome: 'decided', answer: { body: one.body, keepSeconds } }
  }
  const searches = createFairSlots(SEARCHES_MAX, Number.POSITIVE_INFINITY, WAITING_PER_ORGANIZATION_MAX)
  const searching = async (
    { organizationId, ended }: SoughtDecision,
    search: () => Promise<Found | null>,
  ): Promise<Recalled> => {
    const release = await searches.acquire(organizationId, ended)
    if (release === null) throw new IdempotencyTwinInFlightError()
    try {
      return recalled(await search())
    } finally {
      release()
    }
  }
  const find = async (uuid: string, sinceSeconds: number): Promise<Found | null> =>
    // An earlier search in the queue may have found the decision.
    found.get(uuid) ?? take(await findDecision(decisionsDirectory, uuid, sinceSeconds * 1000))
  const recall = async (uuid: string, sinceSeconds: number): Promise<Found | null> =>
    (await find(uuid, sinceSeconds)) ??
    take(await recallDecision(decisionsDirectory, uuid, (sinceSeconds - SLACK_SECONDS) * 1000))
  const known = (
    sought: SoughtDecision,
    search: (uuid: string, sinceSeconds: number) => Promise<Found | null>,
  ): Promise<Recalled> => {
    const { uuid, sinceSeconds } = sought
    const one = found.get(uuid)
    return one === undefined ? searching(sought, () => search(uuid, sinceSeconds)) : Promise.resolve(recalled(one))
  }

  return {
    node,
    usableSeconds,
    keepSeconds: node === '' ? KEEP_SECONDS : Math.max(KEEP_SECONDS_OVER_NODES, usableSeconds),
    find: (sought) => known(sought, find),
    recall: (sought) => known(sought, recall),
  }
}
