// Jobs before the pool: dispatches are stored before anything can be signed, limits count possible signatures, and keys
// and policies that change meanwhile are checked again.
import { describe, expect, test } from 'bun:test'
import { type CallContext, createAttest, createDecideRequest, type JobTerms } from '../../src/attestation/attest.ts'
import type { CollectJobFacts } from '../../src/attestation/job-facts.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'
import type { ApiKeyEnvironment } from '../../src/domain/api-key.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import {
  DeadlineExceededError,
  DependencyUnavailableError,
  FieldMissingError,
  QueueFullError,
} from '../../src/domain/errors.ts'
import type { OptionalField } from '../../src/domain/target.ts'
import type { ResolvedTarget } from '../../src/policy/types/source.ts'
import type { Job } from '../../src/pool/protocol.ts'
import { JobOutdatedError, type PoolAnswer } from '../../src/pool/settlement.ts'
import { KeyUnusableError } from '../../src/server/authenticate.ts'
import { targetOf } from '../pool/support/jobs.ts'
import { requestOf } from '../support/request.ts'

const ANSWER: PoolAnswer = { compliant: true, ruleId: null, body: '{}' }
const NEEDS = [{ kind: 'velocity' }] as unknown as ResolvedTarget['needs']
const NO_NEEDS: ResolvedTarget['needs'] = []
const SLOW = new Promise<void>((resolve) => setImmediate(resolve))

const setUp = (answer: () => Promise<PoolAnswer>, needs = NO_NEEDS) => {
  const state = {
    environment: 'live' as ApiKeyEnvironment,
    kind: 'attestation' as Job['kind'],
    chain: requestOf().chain,
    events: [] as string[],
    shadowLacks: [] as (string | null)[],
    target: { ...targetOf(), needs, shadowNeeds: [], shadowRequires: [] } as ResolvedTarget,
    isRevoked: false,
    isCached: true,
    loading: (): Promise<void> | undefined => undefined,
    onDispatch: (): Promise<void> | undefined => undefined,
    facts: (): Promise<void> | undefined => undefined,
    /** Confirms unchanged facts; null if they cannot change. */
    confirmFacts: null as (() => boolean | Promise<boolean>) | null,
    /** The number of known changes of keys and policies. */
    changes: 0,
    keyChecks: 0,
    confirmKey: (): Promise<void> | undefined => {
      state.keyChecks += 1
      if (state.isRevoked) throw new KeyUnusableError()
      return undefined
    },
    /** Parameters of the last submission. */
    expiration: null as Job['expiration'],
    isCurrent: (): boolean => true,
    submittedChanges: -1 as number | undefined,
  }
  const { events } = state
  const collectFacts = ((...[, , shadowLacks]: Parameters<CollectJobFacts>) => {
    state.shadowLacks.push(shadowLacks)
    const facts = {
      text: 'facts',
      confirm: state.confirmFacts,
      finishCount: (counts: boolean) => events.push(`settled ${counts}`),
    }
    return state.facts()?.then(() => facts) ?? facts
  }) as unknown as CollectJobFacts
  const found = () =>
    state.loading()?.then(() => state.target) ?? (state.isCached ? state.target : Promise.resolve(state.target))
  const decide = createDecideRequest({
    catalog: { resolveProject: found, resolveBinding: found },
    registries: { policyIdOf: () => null },
    collectFacts,
    pool: {
      changes: () => state.changes,
      submit: (job, target, changes, isCurrent = () => false) => {
        events.push(`submitted ${target.id} ${job.targetId}${job.facts}`)
        state.isCurrent = isCurrent
        state.expiration = job.expiration
        state.submittedChanges = changes
        return answer()
      },
    },
  })
  const context = {
    caller: {
      get principal() {
        return { organizationId: 'o', keyId: 'k', environment: state.environment }
      },
      requestId: 'r',
      confirmKey: () => state.confirmKey(),
    },
    uuid: 'u',
    deadlineMs: 1_000,
    onDispatch: (usableSeconds: number) => {
      events.push(`dispatched for ${usableSeconds} s`)
      return state.onDispatch()
    },
  } satisfies CallContext
  const decodedWith = (missing: readonly OptionalField[] = []): DecodedRequest => {
    const request = { ...requestOf(), chain: state.chain }
    return { request, targetBy: 'verification hash', targetText: 'x', missing }
  }
  const attest = () => createAttest(decide)(decodedWith(), context)
  const run = (missing?: readonly OptionalField[], terms?: () => Promise<JobTerms>) => {
    const termsOf = (_: unknown, { lifetimeSeconds }: ResolvedTarget): JobTerms => ({ expiration: 5, lifetimeSeconds })
    return decide(state.kind, decodedWith(missing), context, terms ?? termsOf)
  }
  const change = (changes: Partial<ResolvedTarget>): void => {
    state.target = { ...state.target, ...changes }
  }
  return { state, events, attest, run, change }
}
const accept = async (): Promise<PoolAnswer> => ANSWER

const DISPATCHED = 'dispatched for 300 s'

describe('a test key', () => {
  const chains = createChainTable([{ name: 'local', family: 'evm', chainId: 31_337 }])
  test.each(['sepolia', 'megaeth-testnet', 'local'])('gets an attestation for %s', async (name) => {
    const { state, run } = setUp(accept)
    Object.assign(state, { environment: 'test', chain: chains.byName(name) })
    expect((await run()).compliant).toBe(true)
  })

  test.each([
    ['attestation', 'ethereum'],
    ['attestation', 'solana'],
    ['task', 'sepolia'],
  ] as const)('does not get a %s for %s, because a live contract would accept it', async (kind, name) => {
    const { state, events, run } = setUp(accept)
    Object.assign(state, { environment: 'test', kind, chain: chains.byName(name) })
    await expect(run()).rejects.toMatchObject({ code: 'FORBIDDEN_SCOPE' })
    expect(events).toEqual([])
  })
})

describe('a job', () => {
  test('for an attestation expires one lifetime after the request', async () => {
    const { state, attest } = setUp(accept)
    await attest()
    expect(state.expiration).toBe(requestOf().nowSeconds + 300)
  })

  test.each([
    ['', NO_NEEDS],
    ['facts', NEEDS],
  ])('is dispatched before it is submitted, with the facts %p', async (facts, needs) => {
    const { events, run } = setUp(accept, needs)
    expect(await run()).toEqual({ body: '{}', compliant: true, lifetimeSeconds: 300 })
    expect(events.slice(0, 2)).toEqual([DISPATCHED, `submitted target_1 target_1${facts}`])
  })

  test('without an expiration counts only after it is signed', async () => {
    const { events, run } = setUp(async () => ({ compliant: true, ruleId: null, body: '' }), NEEDS)
    await run()
    expect(events.at(-1)).toBe('settled false')
  })

  test.each<[string, Error, boolean]>([
    ['at its deadline', new DeadlineExceededError(), true],
    ['at its deadline, before a worker received it', new DeadlineExceededError({ nothingSigned: true }), false],
    ['with its worker', new DependencyUnavailableError('lost'), true],
    ['before its worker signed', new DependencyUnavailableError('no policy', { nothingSigned: true }), false],
    ['at a full queue', new QueueFullError(), false],
    ['for an unknown reason', new Error('unforeseen'), true],
  ])('that fails %s counts only if it may have been signed', async (_when, error, counts) => {
    const { events, run } = setUp(() => Promise.reject(error), NEEDS)
    await expect(run()).rejects.toBe(error)
    expect(events).toEqual([DISPATCHED, 'submitted target_1 target_1facts', `settled ${counts}`])
  })

  test.each([
    ['without facts', NO_NEEDS, []],
    ['with facts', NEEDS, ['settled false']],
  ])('is not submitted and does not count if its dispatch cannot be stored, %s', async (_name, needs, settled) => {
    const { state, events, run } = setUp(accept, needs)
    state.onDispatch = () => Promise.reject(new DependencyUnavailableError('the store'))
    await expect(run()).rejects.toThrow('the store')
    expect(events).toEqual([DISPATCHED, ...settled])
  })

  test('is refused if the policy reads a missing field; if only the shadow reads it, the shadow has no verdict', async () => {
    const { state, events, run, change } = setUp(accept)
    change({ requires: ['user_ip'] })
    await expect(run(['user_ip'])).rejects.toBeInstanceOf(FieldMissingError)
    expect(events).toEqual([])
    await run(['data'])
    change({ requires: [], shadowRequires: ['user_ip'] })
    await run(['user_ip'])
    await run(['data'])
    expect(state.shadowLacks).toEqual([null, 'user_ip', null])
  })
})

type Harness = ReturnType<typeof setUp>

/** The waits of a job before its submission, with a callback during the wait. */
const WAITS: readonly [string, (harness: Harness, meanwhile: () => void) => Promise<unknown>][] = [
  [
    'facts are collected',
    ({ state, run, change }, meanwhile) => {
      change({ needs: NEEDS })
      state.facts = () => SLOW.then(meanwhile)
      return run()
    },
  ],
  [
    'a dispatch is stored',
    ({ state, run }, meanwhile) => {
      state.onDispatch = () => SLOW.then(meanwhile)
      return run()
    },
  ],
  [
    'a dispatch is stored after the facts',
    ({ state, run, change }, meanwhile) => {
      change({ needs: NEEDS })
      state.onDispatch = () => SLOW.then(meanwhile)
      return run()
    },
  ],
  [
    'a chain is queried for its block',
    ({ run }, meanwhile) => run([], () => SLOW.then(meanwhile).then(() => ({ expiration: 5, lifetimeSeconds: 300 }))),
  ],
]

describe.each(WAITS)('while %s', (_name, wait) => {
  test('a changed policy decides the job', async () => {
    const harness = setUp(accept)
    expect(await wait(harness, () => harness.change({ id: 'target_2' }))).toMatchObject({ compliant: true })
    const submitted = harness.events.filter((event) => event.startsWith('submitted'))
    expect(submitted).toEqual([expect.stringMatching(/^submitted target_2 target_2/)])
    // Each count is settled once.
    const settled = harness.events.filter((event) => event.startsWith('settled'))
    expect(settled).toEqual(harness.state.shadowLacks.map((_, index, all) => `settled ${index === all.length - 1}`))
  })

  test.each<[string, Partial<Harness['state']>, object]>([
    ['a removed policy', { target: null as unknown as ResolvedTarget }, { code: 'POLICY_NOT_FOUND' }],
    ['a revoked key', { isRevoked: true }, { code: 'UNAUTHENTICATED' }],
  ])('%s prevents the submission', async (_what, changes, error) => {
    const harness = setUp(accept)
    await expect(wait(harness, () => void Object.assign(harness.state, changes))).rejects.toMatchObject(error)
    expect(harness.events.join()).not.toMatch(/submitted|settled true/)
  })

  test('a policy that keeps changing yields 503', async () => {
    const harness = setUp(accept)
    let changes = 0
    const retried = wait(harness, () => harness.change({ id: `again ${++changes}` }))
    await expect(retried).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', nothingSigned: true })
    expect(changes).toBe(3)
    expect(harness.events.join()).not.toContain('submitted')
  })

  test('changes are numbered before the last lookups', async () => {
    const harness = setUp(accept)
    const { state } = harness
    const { confirmKey } = state
    await wait(harness, () => {
      state.changes = 5
      state.confirmKey = () => {
        state.changes += 1
        return confirmKey()
      }
    })
    expect(state.submittedChanges).toBe(5)
  })
})

test.each(['policy', 'key'])('changes are numbered before the lookup of the %s', async (what) => {
  const { state, run } = setUp(accept)
  const change = (): void => {
    state.changes += 1
  }
  const { confirmKey } = state
  if (what === 'key') state.confirmKey = () => SLOW.then(change).then(confirmKey)
  else state.loading = () => SLOW.then(change)
  await run()
  expect([state.changes, state.submittedChanges]).toEqual([1, 0])
})

describe('outdated facts', () => {
  test.each([false, true])('are collected again before the submission; asynchronous: %p', async (isAsync) => {
    const { state, events, run } = setUp(accept, NEEDS)
    let checks = 0
    state.confirmFacts = () => {
      const isSame = ++checks > 1
      return isAsync ? Promise.resolve(isSame) : isSame
    }
    expect(await run()).toMatchObject({ compliant: true })
    const submitted = [DISPATCHED, 'submitted target_1 target_1facts', 'settled true']
    expect(events).toEqual([DISPATCHED, 'settled false', ...submitted])
  })

  test('are noticed by the pool, for any number of changes', async () => {
    const { state, run } = setUp(accept, NEEDS)
    let isSame: boolean | Promise<boolean> = true
    state.confirmFacts = () => isSame
    await run()
    expect(state.submittedChanges).toBeUndefined()
    expect(state.isCurrent()).toBe(true)
    for (const other of [false, Promise.resolve(true), Promise.resolve(false)]) {
      isSame = other
      expect(state.isCurrent()).toBe(false)
    }
    isSame = true
    state.isRevoked = true
    expect(state.isCurrent()).toBe(true)
    state.changes += 1
    expect(state.isCurrent()).toBe(false)
  })
})

describe('an outdated job', () => {
  test('is submitted again under the new policy after another check of its key', async () => {
    let tries = 0
    const { state, events, run, change } = setUp(async () => {
      if (++tries === 2) return ANSWER
      change({ id: 'target_2' })
      throw new JobOutdatedError()
    })
    await run()
    expect(events).toEqual([DISPATCHED, 'submitted target_1 target_1', DISPATCHED, 'submitted target_2 target_2'])
    expect(state.keyChecks).toBe(2)
  })

  test('is refused if its key was revoked', async () => {
    const { state, run } = setUp(() => {
      state.isRevoked = true
      return Promise.reject(new JobOutdatedError())
    })
    await expect(run()).rejects.toBeInstanceOf(KeyUnusableError)
  })

  test.each<[string, boolean, Partial<Harness['state']>]>([
    ['nothing changed', true, {}],
    ['the policy changed', false, { target: { ...targetOf({ id: 'target_2' }) } as ResolvedTarget }],
    ['the policy is not cached', false, { isCached: false }],
    ['the key was revoked', false, { isRevoked: true }],
    ['the key is not cached', false, { confirmKey: () => Promise.reject(new KeyUnusableError()) }],
  ])('is detected from the caches: if %s, current is %p', async (_what, isCurrent, changes) => {
    const { state, run } = setUp(accept)
    await run()
    Object.assign(state, changes)
    expect(state.isCurrent()).toBe(isCurrent)
  })
})
