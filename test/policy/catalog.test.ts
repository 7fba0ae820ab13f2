// The catalog under every order of loads and changes: a stale target left in a cache would stay live for ever.

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
  readonly what: string
  answer(value: TargetRecord | PolicyRevision | null): Promise<void>
  fail(error: Error): Promise<void>
}

/** Lets what was resolved run its continuations, however many there are in a row. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

/** A source whose every load waits for the test to answer it. */
const createControlledSource = () => {
  const loads: Load[] = []
  const start = (what: string) =>
    new Promise<never>((resolve, reject) => {
      loads.push({
        what,
        answer: (value) => {
          resolve(value as never)
          return settle()
        },
        fail: (error) => {
          reject(error)
          return settle()
        },
      })
    })
  return {
    loads,
    /** What was asked for, in order. */
    asked: () => loads.map(({ what }) => what),
    next: (): Load => {
      const load = loads.at(-1)
      if (load === undefined) throw new Error('nothing is being loaded')
      return load
    },
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

/** The state after one project was loaded, its revision too. */
const setUpLoaded = async (settings: Partial<CatalogDependencies> = {}) => {
  const world = setUp(settings)
  const first = resolve(world.catalog)
  await world.next().answer(record('one'))
  await world.next().answer(revision('revision_a'))
  return { ...world, first: (await first) as ResolvedTarget }
}

const change = (organizationId: string | null, topic = 'policy') => ({ topic, organizationId })

describe('resolving', () => {
  test('loads a project, then its revision, and then answers at once', async () => {
    const { catalog, asked, first } = await setUpLoaded()
    expect(first).toEqual({
      ...record('one'),
      requires: ['user_ip'],
      needs: [],
      shadowNeeds: [],
      shadowRequires: [],
    })
    expect(asked()).toEqual(['project org_a x-1', 'revision revision_a'])
    expect(resolve(catalog)).toBe(first)
    const { source } = revision('revision_a')
    expect(catalog.cachedRevision('revision_a')).toEqual({
      id: 'revision_a',
      document: JSON.stringify(parsePolicyDocument(source)),
      size: source.length,
    })
    expect(asked()).toHaveLength(2)
  })

  test('finds contracts by chain and address, apart from projects and other chains', async () => {
    const { catalog, next, asked } = await setUpLoaded()
    const found = catalog.resolveBinding('org_a', 'base', ADDRESS)
    expect(found).toBeInstanceOf(Promise)
    await next().answer(record('two'))
    expect(((await found) as Target).id).toBe('two')
    expect((catalog.resolveBinding('org_a', 'base', ADDRESS) as Target).id).toBe('two')
    expect(catalog.resolveBinding('org_a', 'bsc', ADDRESS)).toBeInstanceOf(Promise)
    expect(asked().slice(2)).toEqual([`binding org_a base ${ADDRESS}`, `binding org_a bsc ${ADDRESS}`])
  })

  test('keeps organizations apart', async () => {
    const { catalog, next } = await setUpLoaded()
    const other = resolve(catalog, 'org_b')
    expect(other).toBeInstanceOf(Promise)
    await next().answer(null)
    expect(await other).toBeNull()
    expect(resolve(catalog)).not.toBeNull()
  })

  test('refuses a target of another organization', async () => {
    const { catalog, next } = setUp()
    const outcome = (resolve(catalog) as Promise<Target>).catch((error: unknown) => error)
    await next().answer(record('one', { organizationId: 'org_b' }))
    expect(await outcome).toBeInstanceOf(PolicyUnusableError)
  })

  test('remembers that there is nothing', async () => {
    const { catalog, next, asked } = setUp()
    const found = resolve(catalog)
    await next().answer(null)
    expect(await found).toBeNull()
    expect(resolve(catalog)).toBeNull()
    expect(asked()).toHaveLength(1)
  })

  test('asks nobody for a hash that no project can have', () => {
    const { catalog, asked } = setUp()
    expect(catalog.resolveProject('org_a', 'x'.repeat(65))).toBeNull()
    expect(asked()).toEqual([])
  })

  test('does not remember a failure, and does not take it for nothing', async () => {
    const { catalog, next } = setUp()
    const found = resolve(catalog) as Promise<Target>
    const failure = new Error('the store is locked')
    const outcome = found.catch((error: unknown) => error)
    await next().fail(failure)
    expect(await outcome).toBe(failure)
    const again = resolve(catalog)
    await next().answer(null)
    expect(await again).toBeNull()
  })

  test('forgets the least used first, and what is missing can not push out what is there', async () => {
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

describe('revisions', () => {
  test('are loaded once for all projects that share them, also at the same time', async () => {
    const { catalog, loads, asked } = setUp()
    const found = [resolve(catalog, 'org_a', 'x-1'), resolve(catalog, 'org_a', 'x-2')]
    await loads[0]?.answer(record('one'))
    await loads[1]?.answer(record('two'))
    expect(asked().slice(2)).toEqual(['revision revision_a'])
    await loads[2]?.answer(revision('revision_a'))
    expect((await Promise.all(found)).map((target) => target?.id)).toEqual(['one', 'two'])
  })

  test.each([
    ['missing', null],
    ['altered', { ...revision('revision_a'), source: `${POLICY}# more\n` }],
    ['not compiling', revision('revision_a', 'name: P\nrules: [{id: a, deny: nope}]\n')],
  ] as const)('%s: no target, no verdict', async (_name, stored) => {
    const { catalog, next } = setUp()
    const outcome = (resolve(catalog) as Promise<Target>).catch((error: unknown) => error)
    await next().answer(record('one'))
    await next().answer(stored)
    const error = await outcome
    expect(error).toBeInstanceOf(PolicyUnusableError)
    expect((error as PolicyUnusableError).code).toBe('DEPENDENCY_UNAVAILABLE')
    expect((error as PolicyUnusableError).detail).not.toContain('nope')
    // The next request tries again; a revision that does not compile is not loaded and compiled again for it.
    const again = (resolve(catalog) as Promise<Target>).catch((failure: unknown) => failure)
    await next().answer(record('one'))
    if (stored === null) await next().answer(revision('revision_a'))
    expect((await again) instanceof PolicyUnusableError).toBe(stored !== null)
  })

  test('pushed out by others are loaded again before their target is answered', async () => {
    const { catalog, next, asked } = await setUpLoaded({ maxRevisionCharacters: 1500 })
    const other = resolve(catalog, 'org_a', 'x-2')
    await next().answer(record('two', { revisionId: 'revision_b' }))
    await next().answer(revision('revision_b'))
    await other
    expect(catalog.cachedRevision('revision_a')).toBeUndefined()
    const again = resolve(catalog)
    expect(again).toBeInstanceOf(Promise)
    await next().answer(record('one'))
    expect(asked().at(-1)).toBe('revision revision_a')
    await next().answer(revision('revision_a'))
    await again
    expect(catalog.cachedRevision('revision_a')).toBeDefined()
  })
})

describe('concurrent misses', () => {
  test('share one load', async () => {
    const { catalog, next, asked } = setUp()
    const found = [resolve(catalog), resolve(catalog), resolve(catalog)]
    expect(asked()).toEqual(['project org_a x-1'])
    await next().answer(null)
    expect(await Promise.all(found)).toEqual([null, null, null])
  })

  test('share its failure', async () => {
    const { catalog, next } = setUp()
    const found = [resolve(catalog), resolve(catalog)] as Promise<Target>[]
    const outcomes = Promise.allSettled(found)
    await next().fail(new Error('down'))
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
    // The first may still end; both told the truth, since nothing changed in between.
    await loads[0]?.answer(null)
    expect(await hanging).toBeNull()
    expect(resolve(catalog)).toBeNull()
  })
})

/** Changes after which a target may be another one, or be missing. */
const CHANGES: readonly ((catalog: Catalog) => void)[] = [
  (catalog) => catalog.invalidate(change('org_a')),
  (catalog) => catalog.invalidate(change('org_a', 'binding')),
  (catalog) => catalog.invalidate(change(null)),
  (catalog) => catalog.clear(),
]
const UNRELATED = [change('org_b'), change('org_a', 'api-key'), change(null, 'attester')]

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('resolve' as const), isBinding: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('answer' as const), at: fc.nat(9), isOld: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change' as const), by: fc.constantFrom(...CHANGES) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unrelated' as const), by: fc.constantFrom(...UNRELATED) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'many' } as const) },
)

/** In the test below, each third version of the store has no target. */
const recordAt = (version: number): TargetRecord | null => (version % 3 === 2 ? null : record(`v${version}`))

test('no order of loads, changes and answers yields a target from before a change, or forgets it without one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { catalog, loads } = setUp()
      const open: { load: Load; begun: number }[] = []
      let version = 0
      let isCrowded = false
      let seen = 0
      const resolveIn = (isBinding: boolean) =>
        isBinding ? catalog.resolveBinding('org_a', 'base', ADDRESS) : resolve(catalog)
      /** The answer must be one of the store's since the last change before the request. */
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
      /** A load reads the store at its begin or at its end. */
      const answer = async (at: number, isOld: boolean): Promise<void> => {
        const [pending] = open.splice(at % Math.max(open.length, 1), 1)
        if (pending === undefined) return
        const { load, begun } = pending
        await load.answer(load.what.startsWith('revision') ? revision('revision_a') : recordAt(isOld ? begun : version))
      }
      for (const action of steps) {
        if (action.kind === 'resolve') request(action.isBinding)
        else if (action.kind === 'answer') await answer(action.at, action.isOld)
        else if (action.kind === 'change') {
          version++
          action.by(catalog)
        } else if (action.kind === 'many') {
          // More organizations than are tracked: everything may be forgotten.
          isCrowded = true
          for (let number = 0; number < 12; number++) catalog.invalidate(change(`org_${number}`))
        } else {
          const before = resolveIn(false)
          catalog.invalidate(action.by)
          if (!(before instanceof Promise || isCrowded)) expect(resolveIn(false)).toBe(before)
        }
        collect()
      }
      for (const isBinding of [false, true]) {
        while (open.length > 0) {
          await answer(0, true)
          collect()
        }
        request(isBinding)
        collect()
        while (open.length > 0) {
          await answer(0, true)
          collect()
        }
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
    const { catalog, next } = setUp()
    const found = resolve(catalog)
    await next().answer(record('one', { shadowRevisionId: 'revision_b' }))
    await next().answer(shadow)
    await next().answer(revision('revision_a', ACTIVE))
    return (await found) as ResolvedTarget
  }

  test('adds what only it needs, apart from what an answer waits for', async () => {
    const target = await resolved(revision('revision_b', SHADOW))
    expect(target).toMatchObject({
      shadowRevisionId: 'revision_b',
      requires: ['user_ip'],
      needs: [{ kind: 'list', list: 'a' }, { kind: 'geography' }],
      shadowNeeds: [{ kind: 'identity' }],
      shadowRequires: ['msg_value'],
    })
  })

  test('that does not compile, or is not there, keeps nobody from an answer', async () => {
    const broken = await resolved(revision('revision_b', 'name: P\nrules: [{id: a, deny: nonsense}]\n'))
    expect(broken).toMatchObject({ shadowRevisionId: 'revision_b', shadowNeeds: [], shadowRequires: [] })
    expect(await resolved(null)).toMatchObject({ shadowRevisionId: null, shadowNeeds: [], shadowRequires: [] })
  })

  test('is at hand as long as the target is', async () => {
    const { catalog, next } = setUp()
    void resolve(catalog)
    await next().answer(record('one', { shadowRevisionId: 'revision_b' }))
    await next().answer(revision('revision_b', SHADOW))
    await next().answer(revision('revision_a', ACTIVE))
    expect(resolve(catalog)).not.toBeInstanceOf(Promise)
    expect(catalog.cachedRevision('revision_b')?.document).toBe(JSON.stringify(parsePolicyDocument(SHADOW)))
  })
})
