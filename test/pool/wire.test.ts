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

const anyRequest = fc
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
  .map(requestOf)

const anyJob: fc.Arbitrary<Job> = fc.record({
  kind: fc.constantFrom('attestation', 'task'),
  uuid: fc.uuid({ version: 4 }),
  targetId: anyText,
  keyId: anyText,
  requestId: anyText,
  request: anyRequest,
  facts: anyText,
  expiration: fc.option(fc.maxSafeNat()),
  deadlineMs: milliseconds,
  // Of a traced job the worker is told that it is one; the times are its own.
  stages: fc.constantFrom(undefined, createJobStages()),
})

/** What answer.ts makes: JSON of anything, so never a raw line break. */
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

describe('jobs on the wire', () => {
  test('arrive as they were sent', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(sequence, anyJob), { maxLength: 20 }), (jobs) => {
        const sent = jobs.map(([number, job]) => ({ ...job, sequence: number }))
        const text = encodeJobs(
          jobs.map(([number, job]) => ({ sequence: number, job })),
          0,
        )
        expect(decodeJobs(text)).toEqual(sent)
      }),
    )
  })

  test('survive the postMessage of a text with every kind of character', () => {
    const job = jobOf(1, { requestId: '\u0000\n"\\\ud83d\ude00\u2028' })
    expect(decodeJobs(structuredClone(encodeJobs([{ sequence: 7, job }], 0)))[0]?.requestId).toBe(job.requestId)
  })
})

describe('outcomes on the wire', () => {
  test('arrive as they were sent, each body verbatim with its own answer', () => {
    fc.assert(
      fc.property(fc.array(anyOutcome, { maxLength: 20 }), milliseconds, (outcomes, busyMs) => {
        expect(decodeOutcomes(encodeOutcomes({ busyMs, outcomes }))).toEqual({ busyMs, outcomes })
      }),
    )
  })

  const answered = (body: string): Outcome => ({ status: 'answered', sequence: 1, compliant: true, ruleId: null, body })

  test('a body with a line break, which would shift all that follow, is refused', () => {
    const text = encodeOutcomes({ busyMs: 1, outcomes: [answered('{\n}'), answered('{}')] })
    expect(() => decodeOutcomes(text)).toThrow(WireFormatError)
  })

  test('an answer without its body is refused', () => {
    const text = encodeOutcomes({ busyMs: 1, outcomes: [answered('{}')] })
    expect(() => decodeOutcomes(text.split('\n')[0] ?? '')).toThrow(WireFormatError)
  })
})
