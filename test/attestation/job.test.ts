// On the way to the pool: dispatches are announced before anything can be signed, limits count what may have been signed,
// and nothing is decided for a key or under a policy that changed meanwhile.
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
  const world = {
    environment: 'live' as ApiKeyEnvironment,
    kind: 'attestation' as Job['kind'],
    chain: requestOf().chain,
    events: [] as string[],
    shadowLacks: [] as (string | null)[],
    /** What changes while something is awaited. */
    target: { ...targetOf(), needs, shadowNeeds: [], shadowRequires: [] } as ResolvedTarget,
    revoked: false,
    /** Null: the catalog has to load the target. */
    cached: true,
    /** While it does. */
    loading: (): Promise<void> | undefined => undefined,
    onDispatch: (): Promise<void> | undefined => undefined,
    facts: (): Promise<void> | undefined => undefined,
    /** Whether the facts are still the same; null if they can't change. */
    confirmFacts: null as (() => boolean | Promise<boolean>) | null,
    /** How many changes of keys and policies are known. */
    changes: 0,
    keyChecks: 0,
    confirmKey: (): Promise<void> | undefined => {
      world.keyChecks += 1
      if (world.revoked) throw new KeyUnusableError()
      return undefined
    },
    /** Of the job that was submitted last. */
    expiration: null as Job['expiration'],
    isCurrent: (): boolean => true,
    submittedChanges: -1 as number | undefined,
  }
  const { events } = world
  const collectFacts = ((...[, , shadowLacks]: Parameters<CollectJobFacts>) => {
    world.shadowLacks.push(shadowLacks)
    const facts = {
      text: 'facts',
      confirm: world.confirmFacts,
      finishCount: (counts: boolean) => events.push(`settled ${counts}`),
    }
    return world.facts()?.then(() => facts) ?? facts
  }) as unknown as CollectJobFacts
  const found = () =>
    world.loading()?.then(() => world.target) ?? (world.cached ? world.target : Promise.resolve(world.target))
  const decide = createDecideRequest({
    catalog: { resolveProject: found, resolveBinding: found },
    registries: { policyIdOf: () => null },
    collectFacts,
    pool: {
      changes: () => world.changes,
      submit: (job, target, changes, isCurrent = () => false) => {
        events.push(`submitted ${target.id} ${job.targetId}${job.facts}`)
        world.isCurrent = isCurrent
        world.expiration = job.expiration
        world.submittedChanges = changes
        return answer()
      },
    },
  })
  const context = {
    caller: {
      get principal() {
        return { organizationId: 'o', keyId: 'k', environment: world.environment }
      },
      requestId: 'r',
      confirmKey: () => world.confirmKey(),
    },
    uuid: 'u',
    deadlineMs: 1_000,
    onDispatch: (usableSeconds: number) => {
      events.push(`dispatched for ${usableSeconds} s`)
      return world.onDispatch()
    },
  } satisfies CallContext
  const callOf = (missing: readonly OptionalField[] = []): DecodedRequest => {
    const request = { ...requestOf(), chain: world.chain }
    return { request, targetBy: 'verification hash', targetText: 'x', missing }
  }
  const attest = () => createAttest(decide)(callOf(), context)
  const run = (missing?: readonly OptionalField[], terms?: () => Promise<JobTerms>) => {
    const termsOf = (_: unknown, { lifetimeSeconds }: ResolvedTarget): JobTerms => ({ expiration: 5, lifetimeSeconds })
    return decide(world.kind, callOf(missing), context, terms ?? termsOf)
  }
  const change = (changes: Partial<ResolvedTarget>): void => {
    world.target = { ...world.target, ...changes }
  }
  return { world, events, attest, run, change }
}

const DISPATCHED = 'dispatched for 300 s'

describe('a test key', () => {
  const chains = createChainTable([{ name: 'local', family: 'evm', chainId: 31_337 }])
  test.each(['sepolia', 'megaeth-testnet', 'local'])('gets an attestation for %s', async (name) => {
    const { world, run } = setUp(async () => ANSWER, NO_NEEDS)
    Object.assign(world, { environment: 'test', chain: chains.byName(name) })
    expect((await run()).compliant).toBe(true)
  })

  test.each([
    ['attestation', 'ethereum'],
    ['attestation', 'solana'],
    ['task', 'sepolia'],
  ] as const)('gets no %s for %s: a live contract would accept it', async (kind, name) => {
    const { world, events, run } = setUp(async () => ANSWER, NO_NEEDS)
    Object.assign(world, { environment: 'test', kind, chain: chains.byName(name) })
    await expect(run()).rejects.toMatchObject({ code: 'FORBIDDEN_SCOPE' })
    expect(events).toEqual([])
  })
})

describe('a job', () => {
  test('for an attestation expires a lifetime after the request', async () => {
    const { world, attest } = setUp(async () => ANSWER)
    await attest()
    expect(world.expiration).toBe(requestOf().nowSeconds + 300)
  })

  test('is announced before it is submitted, with facts and without', async () => {
    for (const [needs, facts] of [
      [NO_NEEDS, ''],
      [NEEDS, 'facts'],
    ] as const) {
      const { events, run } = setUp(async () => ANSWER, needs)
      expect(await run()).toEqual({ body: '{}', compliant: true, lifetimeSeconds: 300 })
      expect(events.slice(0, 2)).toEqual([DISPATCHED, `submitted target_1 target_1${facts}`])
    }
  })

  test('that has no expiration yet and is not denied counts only when it is signed', async () => {
    const { events, run } = setUp(async () => ({ compliant: true, ruleId: null, body: '' }), NEEDS)
    await run()
    expect(events.at(-1)).toBe('settled false')
  })

  test.each<[string, Error, boolean]>([
    ['at its deadline', new DeadlineExceededError(), true],
    ['at its deadline, before a worker held it', new DeadlineExceededError({ nothingSigned: true }), false],
    ['with its worker', new DependencyUnavailableError('lost'), true],
    ['before its worker signed', new DependencyUnavailableError('no policy', { nothingSigned: true }), false],
    ['at a full queue', new QueueFullError(), false],
    ['for an unknown reason', new Error('unforeseen'), true],
  ])('that fails %s counts only if it may have been signed', async (_when, error, counts) => {
    const { events, run } = setUp(() => Promise.reject(error), NEEDS)
    await expect(run()).rejects.toBe(error)
    expect(events).toEqual([DISPATCHED, 'submitted target_1 target_1facts', `settled ${counts}`])
  })

  test('whose dispatch can not be announced is not submitted, and does not count', async () => {
    for (const needs of [NO_NEEDS, NEEDS]) {
      const { world, events, run } = setUp(async () => ANSWER, needs)
      world.onDispatch = async () => {
        throw new DependencyUnavailableError('the store')
      }
      await expect(run()).rejects.toThrow('the store')
      expect(events).toEqual([DISPATCHED, ...(needs === NEEDS ? ['settled false'] : [])])
    }
  })

  test('whose request lacks a field is refused if the policy reads it; if only the shadow does, the shadow has no verdict', async () => {
    const { world, events, run, change } = setUp(async () => ANSWER)
    change({ requires: ['user_ip'] })
    await expect(run(['user_ip'])).rejects.toBeInstanceOf(FieldMissingError)
    expect(events).toEqual([])
    await run(['data'])
    change({ requires: [], shadowRequires: ['user_ip'] })
    await run(['user_ip'])
    await run(['data'])
    expect(world.shadowLacks).toEqual([null, 'user_ip', null])
  })
})

type World = ReturnType<typeof setUp>

/** Everything that a job may wait for before it is submitted: meanwhile `then` happens. */
const WAITS: readonly [string, (set: World, then: () => void) => Promise<unknown>][] = [
  [
    'facts are collected',
    ({ world, run, change }, then) => {
      change({ needs: NEEDS })
      world.facts = () => SLOW.then(then)
      return run()
    },
  ],
  [
    'a dispatch is stored',
    ({ world, run }, then) => {
      world.onDispatch = () => SLOW.then(then)
      return run()
    },
  ],
  [
    'a dispatch is stored after the facts',
    ({ world, run, change }, then) => {
      change({ needs: NEEDS })
      world.onDispatch = () => SLOW.then(then)
      return run()
    },
  ],
  [
    'a chain is asked for its block',
    ({ run }, then) => run([], () => SLOW.then(then).then(() => ({ expiration: 5, lifetimeSeconds: 300 }))),
  ],
]

describe.each(WAITS)('while %s', (_name, wait) => {
  test('a policy changes: the job is decided under the new one', async () => {
    const set = setUp(async () => ANSWER)
    expect(await wait(set, () => set.change({ id: 'target_2' }))).toMatchObject({ compliant: true })
    const submitted = set.events.filter((event) => event.startsWith('submitted'))
    expect(submitted).toHaveLength(1)
    expect(submitted[0]).toStartWith('submitted target_2 target_2')
    // Each ticket is settled once.
    const settled = set.events.filter((event) => event.startsWith('settled'))
    expect(settled).toEqual(set.world.shadowLacks.map((_, index, all) => `settled ${index === all.length - 1}`))
  })

  test('a policy is removed, or a key revoked: nothing is submitted', async () => {
    const gone = setUp(async () => ANSWER)
    const removed = wait(gone, () => {
      gone.world.target = null as unknown as ResolvedTarget
    })
    await expect(removed).rejects.toMatchObject({ code: 'POLICY_NOT_FOUND' })
    const set = setUp(async () => ANSWER)
    const revoked = wait(set, () => {
      set.world.revoked = true
    })
    await expect(revoked).rejects.toBeInstanceOf(KeyUnusableError)
    for (const { events } of [gone, set]) expect(events.join()).not.toMatch(/submitted|settled true/)
  })

  test('a policy changes again and again: the caller is asked to retry', async () => {
    const set = setUp(async () => ANSWER)
    let changes = 0
    const retried = wait(set, () => set.change({ id: `again ${++changes}` }))
    await expect(retried).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', nothingSigned: true })
    expect(changes).toBe(3)
    expect(set.events.join()).not.toContain('submitted')
  })
})

describe('the pool gets the number of changes', () => {
  test('that were known before the policy and the key were looked up', async () => {
    for (const what of ['the policy', 'the key']) {
      const { world, run } = setUp(async () => ANSWER)
      const change = (): void => {
        world.changes += 1
      }
      const { confirmKey } = world
      if (what === 'the key') world.confirmKey = () => SLOW.then(change).then(confirmKey)
      else world.loading = () => SLOW.then(change)
      await run()
      expect([what, world.changes, world.submittedChanges]).toEqual([what, 1, 0])
    }
  })

  test.each(WAITS)('that were known before the last look-ups, after a wait: %s', async (_name, wait) => {
    const set = setUp(async () => ANSWER)
    const { world } = set
    const { confirmKey } = world
    await wait(set, () => {
      world.changes = 5
      world.confirmKey = () => {
        world.changes += 1
        return confirmKey()
      }
    })
    expect(world.submittedChanges).toBe(5)
  })
})

describe('facts that a change has made outdated', () => {
  const outdated = (isLoaded: boolean) => {
    const set = setUp(async () => ANSWER, NEEDS)
    let checks = 0
    set.world.confirmFacts = () => {
      const isSame = ++checks > 1
      return isLoaded ? Promise.resolve(isSame) : isSame
    }
    return set
  }

  test.each([false, true])('are collected again before the job is submitted (loaded: %p)', async (isLoaded) => {
    const { events, run } = outdated(isLoaded)
    expect(await run()).toMatchObject({ compliant: true })
    const submitted = [DISPATCHED, 'submitted target_1 target_1facts', 'settled true']
    expect(events).toEqual([DISPATCHED, 'settled false', ...submitted])
  })

  test('are noticed by the pool, whatever number of changes it counts', async () => {
    const { world, run } = setUp(async () => ANSWER, NEEDS)
    let isSame: boolean | Promise<boolean> = true
    world.confirmFacts = () => isSame
    await run()
    expect(world.submittedChanges).toBeUndefined()
    expect(world.isCurrent()).toBe(true)
    for (const other of [false, Promise.resolve(true), Promise.resolve(false)]) {
      isSame = other
      expect(world.isCurrent()).toBe(false)
    }
    isSame = true
    world.revoked = true
    expect(world.isCurrent()).toBe(true)
    world.changes += 1
    expect(world.isCurrent()).toBe(false)
  })
})

describe('a job that the pool reports as outdated', () => {
  test('is submitted again, under the new policy, once the key was checked again', async () => {
    let tries = 0
    const { world, events, run, change } = setUp(async () => {
      if (++tries === 2) return ANSWER
      change({ id: 'target_2' })
      throw new JobOutdatedError()
    })
    await run()
    expect(events).toEqual([DISPATCHED, 'submitted target_1 target_1', DISPATCHED, 'submitted target_2 target_2'])
    expect(world.keyChecks).toBe(2)
  })

  test('is refused if its key was revoked', async () => {
    const { world, run } = setUp(() => {
      world.revoked = true
      return Promise.reject(new JobOutdatedError())
    })
    await expect(run()).rejects.toBeInstanceOf(KeyUnusableError)
  })

  test.each<[string, boolean, Partial<World['world']>]>([
    ['nothing changed', true, {}],
    ['the policy changed', false, { target: { ...targetOf({ id: 'target_2' }) } as ResolvedTarget }],
    ['the policy has to be loaded', false, { cached: false }],
    ['the key was revoked', false, { revoked: true }],
    ['the key has to be loaded', false, { confirmKey: () => Promise.reject(new KeyUnusableError()) }],
  ])('is so by the caches alone: %s', async (_what, current, changes) => {
    const { world, run } = setUp(async () => ANSWER)
    await run()
    Object.assign(world, changes)
    expect(world.isCurrent()).toBe(current)
  })
})
