// Answers from the decision log for retries: their expiration, searches, and queues of organizations.
import { afterEach, expect, test } from 'bun:test'
import { createDecisionMemory } from '../../src/attestation/recall-answers.ts'
import { answerOf } from '../../src/decision-log/answer.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { DeadlineExceededError } from '../../src/domain/errors.ts'
import type { Clock } from '../../src/lib/time.ts'
import {
  attestation,
  denial,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  START_MS,
  task,
  temporaryDirectory,
  uuidOf,
} from '../decision-log/fixtures.ts'
import { createManualClock } from '../store/temporary-store.ts'

afterEach(removeTemporaryDirectories)

const START_SECONDS = Math.floor(START_MS / 1000)
const USABLE_SECONDS = 3_660

const sought = (number: number, sinceSeconds = START_SECONDS, organizationId = 'org') => {
  return { organizationId, uuid: uuidOf(number), sinceSeconds }
}

/** Opens the memory of a log with records. */
const memoryWith = (records: readonly DecisionRecord[], clock: Clock = createManualClock()) => {
  const directory = temporaryDirectory()
  if (records.length > 0) {
    const writer = openTestSegment(directory)
    writer.append(records)
    writer.close()
  }
  return createDecisionMemory(directory, clock, { node: '', usableSeconds: USABLE_SECONDS })
}
const memoryAfter = (record: DecisionRecord, seconds: number) =>
  memoryWith([record], { ...createManualClock(), unixSeconds: () => START_SECONDS + seconds })

const outcomesAfter = async (record: DecisionRecord, seconds: number): Promise<string[]> => {
  const memory = memoryAfter(record, seconds)
  return [(await memory.find(sought(1))).outcome, (await memory.recall(sought(1))).outcome]
}

const EXPIRATION = START_SECONDS + 100

test('an attestation is repeated until one minute after its expiration, because clocks differ', async () => {
  const record = attestation(1, { expiration: EXPIRATION })
  expect(await outcomesAfter(record, 159)).toEqual(['decided', 'decided'])
  expect(await outcomesAfter(record, 160)).toEqual(['expired', 'expired'])
  const answer = { body: answerOf(record), keepSeconds: 60 }
  expect(await memoryAfter(record, 40).find(sought(1))).toEqual({ outcome: 'decided', answer })
  expect(await memoryAfter(record, 120).find(sought(1))).toMatchObject({ answer: { keepSeconds: 0 } })
})

test('an attestation does not expire early because the clock was ahead', async () => {
  const manual = createManualClock()
  const offsetSeconds = START_SECONDS - manual.unixSeconds()
  const clock = { ...manual, unixSeconds: () => manual.unixSeconds() + offsetSeconds }
  const memory = memoryWith([attestation(1, { expiration: EXPIRATION })], clock)
  manual.step(86_400)
  manual.advance(159)
  expect((await memory.recall(sought(1))).outcome).toBe('decided')
  manual.advance(1)
  expect((await memory.recall(sought(1))).outcome).toBe('expired')
})

test('a denial is repeated for six minutes', async () => {
  expect(await outcomesAfter(denial(1), 359)).toEqual(['decided', 'decided'])
  expect(await outcomesAfter(denial(1), 361)).toEqual(['expired', 'expired'])
})

test('a task, which can expire at a block, is repeated as long as its key is kept', async () => {
  const record = task(1, { expiration: 12_345 })
  const answer = { body: answerOf(record), keepSeconds: USABLE_SECONDS }
  expect(await memoryAfter(record, 86_000).find(sought(1))).toEqual({ outcome: 'decided', answer })
})

test('only the full search finds a record that is older than its claim, after the clock was set back', async () => {
  // The log is larger than the piece that every search reads.
  const memory = memoryWith(range(1, 2_000).map((number) => attestation(number)))
  const sinceSeconds = START_SECONDS + 4
  expect((await memory.find(sought(1, sinceSeconds))).outcome).toBe('nothing')
  expect((await memory.recall(sought(1, sinceSeconds))).outcome).not.toBe('nothing')
  expect((await memory.recall(sought(5_000, sinceSeconds))).outcome).toBe('nothing')
})

test('a record is read once', async () => {
  const memory = memoryAfter(attestation(1, { expiration: EXPIRATION }), 0)
  const first = await memory.find(sought(1))
  removeTemporaryDirectories()
  expect(await memory.find(sought(1))).toEqual(first)
  expect(await memory.recall(sought(1))).toEqual(first)
  expect(await memory.find(sought(2))).toEqual({ outcome: 'nothing' })
})

test('searches of organizations take turns, and an organization with too many searches is refused', async () => {
  const memory = memoryWith(range(1, 20).map((number) => attestation(number)))
  const ended: string[] = []
  const search = async (organizationId: string, number: number) => {
    await memory.find(sought(number, START_SECONDS, organizationId))
    ended.push(organizationId)
  }
  const flood = Array.from({ length: 513 }, () => search('flooding', 9_999))
  const refused = memory.find(sought(9_999, START_SECONDS, 'flooding'))
  await expect(refused).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT' })
  const other = search('other', 1)
  await other
  expect(ended.length).toBeLessThanOrEqual(3)
  await Promise.all(flood)
})

test('a claim is kept for a day if nodes share a store', () => {
  const on = (node: string) =>
    createDecisionMemory('/none', createManualClock(), { node, usableSeconds: USABLE_SECONDS })
  expect([on('').keepSeconds, on('one').keepSeconds]).toEqual([600, 86_400])
})

test('a search leaves the queue if its request ends', async () => {
  const memory = memoryWith([])
  const request = new AbortController()
  const find = (ended?: AbortSignal) => memory.find({ ...sought(1, START_SECONDS, 'org_a'), ended })
  const running = find()
  const waiting = Promise.allSettled(Array.from({ length: 512 }, () => find(request.signal)))
  const refused = find()
  const reason = new DeadlineExceededError()
  request.abort(reason)
  await expect(refused).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT' })
  for (const result of await waiting) expect(result).toEqual({ status: 'rejected', reason })
  expect(await Promise.all([running, find()])).toEqual([{ outcome: 'nothing' }, { outcome: 'nothing' }])
})
