// On the way to the pool: whoever holds an idempotency key is told before anything can be signed, and limits count what
// may have been.
import { describe, expect, test } from 'bun:test'
import { type CallContext, decideJob } from '../../src/attestation/job.ts'
import type { CollectJobFacts } from '../../src/attestation/job-facts.ts'
import {
  DeadlineExceededError,
  DependencyUnavailableError,
  FieldMissingError,
  QueueFullError,
} from '../../src/domain/errors.ts'
import type { OptionalField } from '../../src/domain/target.ts'
import type { ResolvedTarget } from '../../src/policy/types/source.ts'
import type { PoolAnswer } from '../../src/pool/entry.ts'
import { jobOf, targetOf } from '../pool/support/jobs.ts'

const ANSWER: PoolAnswer = { compliant: true, ruleId: null, body: '{}' }
const target = (needs: ResolvedTarget['needs']): ResolvedTarget =>
  ({ ...targetOf(), needs, shadowNeeds: [], shadowRequires: [], requires: [] }) as unknown as ResolvedTarget

const setUp = (
  submit: () => Promise<PoolAnswer>,
  needs: ResolvedTarget['needs'] = [],
  announce: () => Promise<void> | undefined = () => undefined,
) => {
  const events: string[] = []
  const shadowless: boolean[] = []
  const collectFacts = ((...[, , isShadowless]: Parameters<CollectJobFacts>) => {
    shadowless.push(isShadowless)
    return { text: '', settle: (compliant: boolean) => events.push(`settled ${compliant}`) }
  }) as unknown as CollectJobFacts
  const context = {
    principal: { organizationId: 'o', keyId: 'k', environment: 'live' },
    requestId: 'r',
    uuid: 'u',
    deadlineMs: 1_000,
    onDispatch: (usableSeconds: number) => {
      events.push(`dispatched for ${usableSeconds} s`)
      return announce()
    },
  } as unknown as CallContext
  const pool = {
    submit: () => {
      events.push('submitted')
      return submit()
    },
  }
  const decide = (changes: Partial<ResolvedTarget> = {}, missing: readonly OptionalField[] = []) =>
    decideJob({ pool, collectFacts }, jobOf(1), { ...target(needs), ...changes }, 300, context, missing)
  return { events, shadowless, decide }
}
const NEEDS = [{ kind: 'velocity' }] as unknown as ResolvedTarget['needs']

describe('a job', () => {
  test('is announced before it is handed over, with facts and without', async () => {
    const plain = setUp(async () => ANSWER)
    await plain.decide()
    expect(plain.events).toEqual(['dispatched for 300 s', 'submitted'])
    const withFacts = setUp(async () => ANSWER, NEEDS)
    await withFacts.decide()
    expect(withFacts.events[0]).toBe('dispatched for 300 s')
  })

  test('that has no expiration yet and is not denied counts only when it is signed', async () => {
    const unsigned = setUp(async () => ({ compliant: true, ruleId: null, body: '' }), NEEDS)
    await unsigned.decide()
    expect(unsigned.events.at(-1)).toBe('settled false')
  })

  test.each<[string, Error, boolean]>([
    ['at its deadline', new DeadlineExceededError(), true],
    ['at its deadline, before a worker held it', new DeadlineExceededError({ nothingSigned: true }), false],
    ['with its worker', new DependencyUnavailableError('lost'), true],
    ['before its worker signed', new DependencyUnavailableError('no policy', { nothingSigned: true }), false],
    ['at a full queue', new QueueFullError(), false],
    ['for an unknown reason', new Error('unforeseen'), true],
  ])('that fails %s counts only if it may have been signed', async (_when, error, counts) => {
    const { events, decide } = setUp(() => Promise.reject(error), NEEDS)
    await expect(decide()).rejects.toBe(error)
    expect(events).toEqual(['dispatched for 300 s', 'submitted', `settled ${counts}`])
  })

  test('whose dispatch can not be announced is not submitted, and does not count', async () => {
    const { events, decide } = setUp(
      async () => ANSWER,
      NEEDS,
      async () => {
        throw new DependencyUnavailableError('the store')
      },
    )
    await expect(decide()).rejects.toThrow('the store')
    expect(events).toEqual(['dispatched for 300 s', 'settled false'])
  })

  test('whose request lacks a field is refused if the policy reads it; if only the shadow does, the shadow has no verdict', async () => {
    const { events, shadowless, decide } = setUp(async () => ANSWER)
    expect(() => decide({ requires: ['user_ip'] }, ['user_ip'])).toThrow(FieldMissingError)
    expect(events).toEqual([])
    await decide({ requires: ['user_ip'] }, ['data'])
    await decide({ shadowRequires: ['user_ip'] }, ['user_ip'])
    await decide({ shadowRequires: ['user_ip'] }, ['data'])
    expect(shadowless).toEqual([false, true, false])
  })
})
