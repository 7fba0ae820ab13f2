// What the decision log makes of a request that comes again: until when its answer is repeated.
import { afterEach, expect, test } from 'bun:test'
import { createDecisionMemory } from '../../src/attestation/recall-answers.ts'
import { answerOf } from '../../src/decision-log/answer.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { DeadlineExceededError } from '../../src/domain/errors.ts'
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

const sought = (number: number, sinceSeconds = START_SECONDS, organizationId = 'org') => ({
  organizationId,
  uuid: uuidOf(number),
  sinceSeconds,
})

const memoryWith = (record: DecisionRecord, secondsLater: number) => {
  const directory = temporaryDirectory()
  const writer = openTestSegment(directory)
  writer.append([record])
  writer.close()
  const clock = { ...createManualClock(), unixSeconds: () => START_SECONDS + secondsLater }
  return createDecisionMemory(directory, clock, { node: '', usableSeconds: USABLE_SECONDS })
}

const outcomes = async (record: DecisionRecord, secondsLater: number): Promise<string[]> => {
  const memory = memoryWith(record, secondsLater)
  return [(await memory.find(sought(1))).outcome, (await memory.recall(sought(1))).outcome]
}

const LIVES = START_SECONDS + 100

test('an attestation is repeated as long as it lives and a minute, because clocks differ', async () => {
  const record = attestation(1, { expiration: LIVES })
  expect(await outcomes(record, 159)).toEqual(['decided', 'decided'])
  expect(await outcomes(record, 160)).toEqual(['expired', 'expired'])
  expect(await memoryWith(record, 40).find(sought(1))).toEqual({
    outcome: 'decided',
    answer: { body: answerOf(record), keepSeconds: 60 },
  })
  expect(await memoryWith(record, 120).find(sought(1))).toMatchObject({ answer: { keepSeconds: 0 } })
})

test('an attestation does not expire early because the clock was set ahead', async () => {
  const directory = temporaryDirectory()
  const writer = openTestSegment(directory)
  writer.append([attestation(1, { expiration: LIVES })])
  writer.close()
  const manual = createManualClock()
  const offsetSeconds = START_SECONDS - manual.unixSeconds()
  const clock = { ...manual, unixSeconds: () => manual.unixSeconds() + offsetSeconds }
  const memory = createDecisionMemory(directory, clock, { node: '', usableSeconds: USABLE_SECONDS })
  manual.step(86_400)
  manual.advance(159)
  expect((await memory.recall(sought(1))).outcome).toBe('decided')
  manual.advance(1)
  expect((await memory.recall(sought(1))).outcome).toBe('expired')
})

test('a denial is repeated for five minutes and one', async () => {
  expect(await outcomes(denial(1), 359)).toEqual(['decided', 'decided'])
  expect(await outcomes(denial(1), 361)).toEqual(['expired', 'expired'])
})

test('a task, which may expire at a block, as long as its key is kept', async () => {
  const record = task(1, { expiration: 12_345 })
  expect(await memoryWith(record, 86_000).find(sought(1))).toEqual({
    outcome: 'decided',
    answer: { body: answerOf(record), keepSeconds: USABLE_SECONDS },
  })
})

test('what was recorded some seconds before its claim, by a clock that was set back, is found by the long search', async () => {
  // More than a piece of the file that is read in any case.
  const directory = temporaryDirectory()
  const writer = openTestSegment(directory)
  writer.append(range(1, 2_000).map((number) => attestation(number)))
  writer.close()
  const memory = createDecisionMemory(directory, createManualClock(), { node: '', usableSeconds: USABLE_SECONDS })
  const sinceSeconds = START_SECONDS + 4
  expect((await memory.find(sought(1, sinceSeconds))).outcome).toBe('nothing')
  expect((await memory.recall(sought(1, sinceSeconds))).outcome).not.toBe('nothing')
  expect((await memory.recall(sought(5_000, sinceSeconds))).outcome).toBe('nothing')
})

test('what was found once is not read again', async () => {
  const directory = temporaryDirectory()
  const writer = openTestSegment(directory)
  writer.append([attestation(1, { expiration: LIVES })])
  writer.close()
  const clock = { ...createManualClock(), unixSeconds: () => START_SECONDS }
  const memory = createDecisionMemory(directory, clock, { node: '', usableSeconds: USABLE_SECONDS })
  const first = await memory.find(sought(1))
  removeTemporaryDirectories()
  expect(await memory.find(sought(1))).toEqual(first)
  expect(await memory.recall(sought(1))).toEqual(first)
  expect(await memory.find(sought(2))).toEqual({ outcome: 'nothing' })
})

test('searches of organizations take turns, one at a time, and an organization with too many is refused', async () => {
  const directory = temporaryDirectory()
  const writer = openTestSegment(directory)
  writer.append(range(1, 20).map((number) => attestation(number)))
  writer.close()
  const memory = createDecisionMemory(directory, createManualClock(), { node: '', usableSeconds: USABLE_SECONDS })
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

test('where nodes share a store, a claim is kept for a day', () => {
  const on = (node: string) =>
    createDecisionMemory('/none', createManualClock(), { node, usableSeconds: USABLE_SECONDS })
  expect([on('').keepSeconds, on('one').keepSeconds]).toEqual([600, 86_400])
})

test('a search whose request has ended leaves the queue', async () => {
  const directory = temporaryDirectory()
  const memory = createDecisionMemory(directory, createManualClock(), { node: '', usableSeconds: USABLE_SECONDS })
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
