// The catalog under every order of loads and changes. A stale target in a cache would remain in use forever.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PolicyRevision, Target } from '../../src/domain/target.ts'
import { type Catalog, type CatalogDependencies, createCatalog } from '../../src/policy/catalog.ts'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import { PolicyUnusableError } from '../../src/policy/evaluation-errors.ts'
import { contentHashOf } from '../../src/policy/revision.ts'
import type { ResolvedTarget, TargetRecord } from '../../src/policy/types/source.ts'

const POLICY = 'name: P\nrules: [{id: a, deny: \'client.ip == ""\'}]\n'
const ADDRESS = '0xabababababababababababababababababababab'

const record = (id: string, changes: Partial<TargetRecord> = {}): TargetRecord => ({
  id,
  organizationId: 'org_a',
  projectId: 'project_a',
  verificationHash: 'x-0123456789abcdef',
  policyId: 'policy_a',
  policyName: 'P',
  revisionId: 'revision_a',
  shadowRevisionId: null,
  quorum: 1,
  lifetimeSeconds: 300,
  ...changes,
})

const revision = (id: string, source = POLICY): PolicyRevision => ({
  id,
  policyId: 'policy_a',
  number: 1,
  source,
  contentHash: contentHashOf(source),
})

interface Load {
  readonly query: string
  answer(value: TargetRecord | PolicyRevision | null): Promise<void>
  fail(error: Error): Promise<void>
}

/** Runs continuations of resolved promises, including chains of them. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

/** A source whose loads wait for the test to answer them. */
const createControlledSource = () => {
  const loads: Load[] = []
  const start = (query: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<never>()
    loads.push({
      query,
      answer: (value) => {
        resolve(value as never)
        return settle()
      },
      fail: (error) => {
        reject(error)
        return settle()
      },
    })
    return promise
  }
  return {
    loads,
    queries: () => loads.map(({ query }) => query),
    last: (): Load => loads.at(-1)!,
    source: {
      loadProjectTarget: (organizationId: string, hash: string) => start(`project ${organizationId} ${hash}`),
      loadBindingTarget: (organizationId: string, chain: string, address: string) =>
        start(`binding ${organizationId} ${chain} ${address}`),
      loadRevision: (id: string) => start(`revision ${id}`),
    },
  }
}

const setUp = (settings: Partial<CatalogDependencies> = {}) => {
  const controlled = createControlledSource()
  const time = { nowMs: 0 }
  const clock = { monotonicMs: () => time.nowMs, unixSeconds: () => 0 }
  const after: CatalogDependencies['after'] = (_delayMs, callback) => {
    queueMicrotask(callback)
    return () => undefined
  }
  const catalog = createCatalog({ source: controlled.source, clock, after, maxEntries: 10, ...settings })
  return { ...controlled, catalog, time }
}

const resolve = (catalog: Catalog, organizationId = 'org_a', hash = 'x-1') =>
  catalog.resolveProject(organizationId, hash)

const failureOf = (found: ReturnType<typeof resolve>) => Promise.resolve(found).catch((error: unknown) => error)

/** A catalog with a loaded project and its revision. */
const setUpLoaded = async (settings: Partial<CatalogDependencies> = {}) => {
  const harness = setUp(settings)
  const first = resolve(harness.catalog)
  await harness.last().answer(record('one'))
  await harness.last().answer(revision('revision_a'))
  return { ...harness, first: (await first) as ResolvedTarget }
}

const change = (organizationId: string | null, topic = 'policy') => ({ topic, organizationId })

describe('a target', () => {
  test('is loaded with its revision, and then returned synchronously', async () => {
    const { catalog, queries, first } = await setUpLoaded()
    expect(first).toEqual({ ...record('one'), requires: ['user_ip'], needs: [], shadowNeeds: [], shadowRequires: [] })
    expect(resolve(catalog)).toBe(first)
    const document = JSON.stringify(parsePolicyDocument(POLICY))
    expect(catalog.cachedRevision('revision_a')).toEqual({ id: 'revision_a', document, size: POLICY.length })
    expect(queries()).toEqual(['project org_a x-1', 'revision revision_a'])
  })

  test('of a contract is found by chain and address', async () => {
    const { catalog, last, queries } = await setUpLoaded()
    const found = catalog.resolveBinding('org_a', 'base', ADDRESS)
    expect(found).toBeInstanceOf(Promise)
    await last().answer(record('two'))
    expect((await found)?.id).toBe('two')
    expect((catalog.resolveBinding('org_a', 'base', ADDRESS) as Target).id).toBe('two')
    expect(catalog.resolveBinding('org_a', 'bsc', ADDRESS)).toBeInstanceOf(Promise)
    expect(queries().slice(2)).toEqual([`binding org_a base ${ADDRESS}`, `binding org_a bsc ${ADDRESS}`])
  })

  test('of one organization is not visible to another', async () => {
    const { catalog, last } = await setUpLoaded()
    const other = resolve(catalog, 'org_b')
    expect(other).toBeInstanceOf(Promise)
    await last().answer(null)
    expect(await other).toBeNull()
    expect(resolve(catalog)).not.toBeNull()
  })

  test('of another organization is refused', async () => {
    const { catalog, last } = setUp()
    const failure = failureOf(resolve(catalog))
    await last().answer(record('one', { organizationId: 'org_b' }))
    expect(await failure).toBeInstanceOf(PolicyUnusableError)
  })

  test('that is missing is cached', async () => {
    const { catalog, last, queries } = setUp()
    const found = resolve(catalog)
    await last().answer(null)
    expect([await found, resolve(catalog), queries().length]).toEqual([null, null, 1])
  })

  test('with an impossible hash is not loaded', () => {
    const { catalog, queries } = setUp()
    expect(catalog.resolveProject('org_a', 'x'.repeat(65))).toBeNull()
    expect(queries()).toEqual([])
  })

  test('is loaded again after a failure', async () => {
    const { catalog, last } = setUp()
    const failure = new Error('the store is locked')
    const outcome = failureOf(resolve(catalog))
    await last().fail(failure)
    expect(await outcome).toBe(failure)
    const again = resolve(catalog)
    await last().answer(null)
    expect(await again).toBeNull()
  })

  test('is evicted if it is the least recently used, but not by missing targets', async () => {
    const { catalog, loads } = await setUpLoaded({ maxEntries: 2 })
    for (let i = 0; i < 50; i++) {
      const missing = resolve(catalog, 'org_a', `missing-${i}`)
      await loads.at(-1)?.answer(null)
      await missing
    }
    expect((resolve(catalog) as Target).id).toBe('one')
    for (const hash of ['x-2', 'x-3']) {
      const found = resolve(catalog, 'org_a', hash)
      await loads.at(-1)?.answer(record(hash))
      await found
    }
    expect(resolve(catalog)).toBeInstanceOf(Promise)
  })
})

describe('a revision', () => {
  test('is loaded once for all projects with it, also concurrently', async () => {
    const { catalog, loads, queries } = setUp()
    const found = [resolve(catalog, 'org_a', 'x-1'), resolve(catalog, 'org_a', 'x-2')]
    await loads[0]?.answer(record('one'))
    await loads[1]?.answer(record('two'))
    expect(queries().slice(2)).toEqual(['revision revision_a'])
    await loads[2]?.answer(revision('revision_a'))
    expect((await Promise.all(found)).map((target) => target?.id)).toEqual(['one', 'two'])
  })

  test.each([
    ['is missing', null],
    ['was altered', { ...revision('revision_a'), source: `${POLICY}# more\n` }],
    ['does not compile', revision('revision_a', 'name: P\nrules: [{id: a, deny: nope}]\n')],
  ] as const)('that %s fails its targets', async (_name, stored) => {
    const { catalog, last } = setUp()
    const failure = failureOf(resolve(catalog))
    await last().answer(record('one'))
    await last().answer(stored)
    const error = (await failure) as PolicyUnusableError
    expect(error).toBeInstanceOf(PolicyUnusableError)
    expect(error.code).toBe('DEPENDENCY_UNAVAILABLE')
    expect(error.detail).not.toContain('nope')
    // The next request retries a missing revision. An unusable revision is not loaded and compiled again.
    const again = failureOf(resolve(catalog))
    await last().answer(record('one'))
    if (stored === null) await last().answer(revision('revision_a'))
    expect((await again) instanceof PolicyUnusableError).toBe(stored !== null)
  })

  test('that was evicted is loaded again before its target is returned', async () => {
    const { catalog, last, queries } = await setUpLoaded({ maxRevisionCharacters: 1500 })
    const other = resolve(catalog, 'org_a', 'x-2')
    await last().answer(record('two', { revisionId: 'revision_b' }))
    await last().answer(revision('revision_b'))
    await other
    expect(catalog.cachedRevision('revision_a')).toBeUndefined()
    const again = resolve(catalog)
    expect(again).toBeInstanceOf(Promise)
    await last().answer(record('one'))
    expect(queries().at(-1)).toBe('revision revision_a')
    await last().answer(revision('revision_a'))
    await again
    expect(catalog.cachedRevision('revision_a')).toBeDefined()
  })
})

describe('concurrent misses', () => {
  test('share one load', async () => {
    const { catalog, last, queries } = setUp()
    const found = [resolve(catalog), resolve(catalog), resolve(catalog)]
    await last().answer(null)
    expect(await Promise.all(found)).toEqual([null, null, null])
    expect(queries()).toEqual(['project org_a x-1'])
  })

  test('share its failure', async () => {
    const { catalog, last } = setUp()
    const outcomes = Promise.allSettled([resolve(catalog), resolve(catalog)])
    await last().fail(new Error('down'))
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  test('do not wait for a load that hangs', async () => {
    const { catalog, loads, time } = setUp({ joinWithinMs: 1000 })
    const hanging = resolve(catalog)
    time.nowMs = 999
    void resolve(catalog)
    expect(loads).toHaveLength(1)
    time.nowMs = 1000
    const second = resolve(catalog)
    expect(loads).toHaveLength(2)
    await loads[1]?.answer(null)
    expect(await second).toBeNull()
    // The first load may still end. Both results are correct, because the store did not change in between.
    await loads[0]?.answer(null)
    expect(await hanging).toBeNull()
    expect(resolve(catalog)).toBeNull()
  })
})

/** Changes that can replace or remove a target. */
const CHANGES: readonly ((catalog: Catalog) => void)[] = [
  (catalog) => catalog.invalidate(change('org_a')),
  (catalog) => catalog.invalidate(change('org_a', 'binding')),
  (catalog) => catalog.invalidate(change(null)),
  (catalog) => catalog.clear(),
]
const UNRELATED = [change('org_b'), change('org_a', 'api-key'), change(null, 'attester')]

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('resolve' as const), isBinding: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('answer' as const), at: fc.nat(9), isOld: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change' as const), by: fc.constantFrom(...CHANGES) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unrelated' as const), by: fc.constantFrom(...UNRELATED) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'many' } as const) },
)

/** The target of each version of the store; every third version has none. */
const recordAt = (version: number): TargetRecord | null => (version % 3 === 2 ? null : record(`v${version}`))

test('never returns a target from before a change, and keeps targets without a change, in every order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { catalog, loads } = setUp()
      const open: { load: Load; begun: number }[] = []
      let version = 0
      let isCrowded = false
      let seen = 0
      const resolveIn = (isBinding: boolean) =>
        isBinding ? catalog.resolveBinding('org_a', 'base', ADDRESS) : resolve(catalog)
      /** The result must have a version from after the last change before the request. */
      const check = (found: ResolvedTarget | null, since: number): void => {
        const allowed = Array.from({ length: version - since + 1 }, (_, offset) => recordAt(since + offset)?.id ?? null)
        expect(allowed).toContain(found?.id ?? null)
      }
      const request = (isBinding: boolean): void => {
        const since = version
        const found = resolveIn(isBinding)
        if (found instanceof Promise) checks.push(found.then((target) => check(target, since)))
        else check(found, since)
      }
      const checks: Promise<void>[] = []
      const collect = (): void => {
        for (; seen < loads.length; seen++) open.push({ load: loads[seen]!, begun: version })
      }
      /** A load reads the store when it starts or when it ends. */
      const answer = async (at: number, isOld: boolean): Promise<void> => {
        const [pending] = open.splice(at % Math.max(open.length, 1), 1)
        if (pending === undefined) return
        const { load, begun } = pending
        await load.answer(
          load.query.startsWith('revision') ? revision('revision_a') : recordAt(isOld ? begun : version),
        )
      }
      for (const action of steps) {
        if (action.kind === 'resolve') request(action.isBinding)
        else if (action.kind === 'answer') await answer(action.at, action.isOld)
        else if (action.kind === 'change') {
          version++
          action.by(catalog)
        } else if (action.kind === 'many') {
          // More organizations than the catalog tracks: it may drop all entries.
          isCrowded = true
          for (let number = 0; number < 12; number++) catalog.invalidate(change(`org_${number}`))
        } else {
          const before = resolveIn(false)
          catalog.invalidate(action.by)
          if (!(before instanceof Promise || isCrowded)) expect(resolveIn(false)).toBe(before)
        }
        collect()
      }
      const answerAll = async (): Promise<void> => {
        for (; open.length > 0; collect()) await answer(0, true)
      }
      for (const isBinding of [false, true]) {
        await answerAll()
        request(isBinding)
        collect()
        await answerAll()
        expect((await resolveIn(isBinding))?.id ?? null).toBe(recordAt(version)?.id ?? null)
      }
      await Promise.all(checks)
    }),
    { numRuns: 300 },
  )
})

describe('a shadow revision', () => {
  const ACTIVE = `name: P\nrules: [{id: a, deny: 'in_list(wallet.address, "a") || client.located'}]\n`
  const SHADOW = `name: P\nrules: [{id: a, deny: 'in_list(wallet.address, "a") || identity.verified || tx.value > 1'}]\n`

  const resolved = async (shadow: PolicyRevision | null): Promise<ResolvedTarget> => {
    const { catalog, last } = setUp()
    const found = resolve(catalog)
    await last().answer(record('one', { shadowRevisionId: 'revision_b' }))
    await last().answer(shadow)
    await last().answer(revision('revision_a', ACTIVE))
    return (await found) as ResolvedTarget
  }

  test('adds its own needs separately from those of the active revision', async () => {
    const target = await resolved(revision('revision_b', SHADOW))
    expect(target).toMatchObject({
      shadowRevisionId: 'revision_b',
      requires: ['user_ip'],
      needs: [{ kind: 'list', list: 'a' }, { kind: 'geography' }],
      shadowNeeds: [{ kind: 'identity' }],
      shadowRequires: ['msg_value'],
    })
  })

  test('that is missing or does not compile does not fail the target', async () => {
    const broken = await resolved(revision('revision_b', 'name: P\nrules: [{id: a, deny: nonsense}]\n'))
    expect(broken).toMatchObject({ shadowRevisionId: 'revision_b', shadowNeeds: [], shadowRequires: [] })
    expect(await resolved(null)).toMatchObject({ shadowRevisionId: null, shadowNeeds: [], shadowRequires: [] })
  })

  test('is cached for as long as its target', async () => {
    const { catalog, last } = setUp()
    void resolve(catalog)
    await last().answer(record('one', { shadowRevisionId: 'revision_b' }))
    await last().answer(revision('revision_b', SHADOW))
    await last().answer(revision('revision_a', ACTIVE))
    expect(resolve(catalog)).not.toBeInstanceOf(Promise)
    expect(catalog.cachedRevision('revision_b')?.document).toBe(JSON.stringify(parsePolicyDocument(SHADOW)))
  })
})
