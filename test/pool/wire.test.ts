// The encoding of jobs and outcomes between the main thread and the workers.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Chain } from '../../src/domain/chain.ts'
import { ERRORS, type ErrorCode } from '../../src/domain/errors.ts'
import { createJobStages } from '../../src/domain/job-stages.ts'
import { SHADOW_OUTCOMES } from '../../src/domain/verdict.ts'
import type { Job, Outcome } from '../../src/pool/protocol.ts'
import { decodeJobs, decodeOutcomes, encodeJobs, encodeOutcomes, WireFormatError } from '../../src/pool/wire.ts'
import { requestOf } from '../support/request.ts'
import { jobOf } from './support/jobs.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 40 })
const sequence = fc.integer({ min: 0, max: 0x7fffffff })
const milliseconds = fc.double({ min: 0, max: 1e12, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)

const anyChain: fc.Arbitrary<Chain> = fc.oneof(
  fc.record({ name: anyText, family: fc.constant('evm' as const), chainId: fc.maxSafeNat() }),
  fc.record({ name: anyText, family: fc.constant('solana' as const) }),
)

const anyJob: fc.Arbitrary<Job> = fc.record({
  kind: fc.constantFrom('attestation', 'task'),
  uuid: fc.uuid({ version: 4 }),
  targetId: anyText,
  keyId: anyText,
  requestId: anyText,
  request: fc
    .record({
      chain: anyChain,
      from: anyText,
      onBehalf: anyText,
      to: anyText,
      value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
      data: fc.uint8Array({ maxLength: 100 }).map((bytes) => `0x${bytes.toHex()}`),
      userIp: anyText,
      nowSeconds: fc.maxSafeNat(),
    })
    .map(requestOf),
  facts: anyText,
  expiration: fc.option(fc.maxSafeNat()),
  deadlineMs: milliseconds,
  // A traced job carries a marker; the worker measures its own times.
  stages: fc.constantFrom(undefined, createJobStages()),
})

/** JSON, which has no raw line break. */
const anyBody = fc
  .record({ text: anyText, list: fc.array(anyText, { maxLength: 3 }) })
  .map((value) => JSON.stringify(value))

const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    status: fc.constant('answered' as const),
    sequence,
    compliant: fc.boolean(),
    ruleId: fc.option(anyText),
    body: anyBody,
    shadow: fc.constantFrom(undefined, ...SHADOW_OUTCOMES),
    stages: fc.constantFrom(undefined, {
      evaluatingMs: 1,
      signingMs: 2.5,
      decidedMs: 3,
      recordingMs: 4,
      recordedMs: 5,
    }),
  }),
  fc.record({
    status: fc.constant('failed' as const),
    sequence,
    code: fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[])),
    detail: anyText,
    errorClass: fc.option(anyText),
    rule: fc.option(
      fc.record({
        policy: anyText,
        revision: anyText,
        rule: anyText,
        reason: fc.constantFrom('unavailable' as const, 'absent' as const),
        subject: anyText,
      }),
      { nil: undefined },
    ),
    nothingSigned: fc.boolean(),
  }),
  fc.record({
    status: fc.constantFrom('target-not-cached' as const, 'unsigned' as const, 'lease-ended' as const),
    sequence,
  }),
)

describe('jobs', () => {
  test('are decoded as they were encoded', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(sequence, anyJob), { maxLength: 20 }), (jobs) => {
        const sent = jobs.map(([number, job]) => ({ ...job, sequence: number }))
        const pairs = jobs.map(([number, job]) => ({ sequence: number, job }))
        expect(decodeJobs(encodeJobs(pairs, 0))).toEqual(sent)
      }),
    )
  })

  test('survive postMessage with special characters', () => {
    const job = jobOf(1, { requestId: '\u0000\n"\\\ud83d\ude00\u2028' })
    expect(decodeJobs(structuredClone(encodeJobs([{ sequence: 7, job }], 0)))[0]?.requestId).toBe(job.requestId)
  })
})

describe('outcomes', () => {
  test('are decoded as they were encoded, each body verbatim with its answer', () => {
    fc.assert(
      fc.property(fc.array(anyOutcome, { maxLength: 20 }), milliseconds, (outcomes, busyMs) => {
        expect(decodeOutcomes(encodeOutcomes({ busyMs, outcomes }))).toEqual({ busyMs, outcomes })
      }),
    )
  })

  const answered = (body: string): Outcome => ({ status: 'answered', sequence: 1, compliant: true, ruleId: null, body })

  test('with a line break in a body are refused, because it would shift the following bodies', () => {
    const text = encodeOutcomes({ busyMs: 1, outcomes: [answered('{\n}'), answered('{}')] })
    expect(() => decodeOutcomes(text)).toThrow(WireFormatError)
  })

  test('without the body of an answer are refused', () => {
    const text = encodeOutcomes({ busyMs: 1, outcomes: [answered('{}')] })
    expect(() => decodeOutcomes(text.split('\n')[0] ?? '')).toThrow(WireFormatError)
  })
})
