// The catalog under every order of loads and changes: a stale target left in a cache would stay live for ever.

import { describe, expect, test } from 'bun:test'
import type { PolicyRevision, Target } from '../../src/domain/target.ts'
import { type Catalog, type CatalogDependencies, createCatalog } from '../../src/policy/catalog.ts'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import { PolicyUnusableError } from '../../src/policy/errors.ts'
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

describe('a change', () => {
  test('makes the next request load again', async () => {
    const { catalog, next } = await setUpLoaded()
    catalog.invalidate(change('org_a'))
    const found = resolve(catalog)
    expect(found).toBeInstanceOf(Promise)
    await next().answer(record('two'))
    expect(((await found) as Target).id).toBe('two')
  })

  test('makes what was missing be looked for again', async () => {
    const { catalog, next } = setUp()
    void resolve(catalog)
    await next().answer(null)
    catalog.invalidate(change('org_a', 'binding'))
    expect(resolve(catalog)).toBeInstanceOf(Promise)
  })

  test('leaves other organizations alone', async () => {
    const { catalog, first } = await setUpLoaded()
    catalog.invalidate(change('org_b'))
    expect(resolve(catalog)).toBe(first)
  })

  test('of keys and attesters leaves targets alone', async () => {
    const { catalog, first } = await setUpLoaded()
    catalog.invalidate(change('org_a', 'api-key'))
    catalog.invalidate(change(null, 'attester'))
    expect(resolve(catalog)).toBe(first)
  })

  test('of the deployment concerns everyone, and so does a missed one', async () => {
    for (const forget of [
      (catalog: Catalog) => catalog.invalidate(change(null)),
      (catalog: Catalog) => catalog.clear(),
    ]) {
      const { catalog } = await setUpLoaded()
      forget(catalog)
      expect(resolve(catalog)).toBeInstanceOf(Promise)
    }
  })

  test('while a target is being loaded: the result is answered and not kept', async () => {
    const { catalog, loads, next } = await setUpLoaded()
    catalog.invalidate(change('org_a'))
    const overlapped = resolve(catalog)
    catalog.invalidate(change('org_a'))
    // Read before the second change was committed.
    await next().answer(record('stale'))
    expect(((await overlapped) as Target).id).toBe('stale')
    const found = resolve(catalog)
    expect(found).toBeInstanceOf(Promise)
    await loads.at(-1)?.answer(record('fresh'))
    expect(((await found) as Target).id).toBe('fresh')
    expect((resolve(catalog) as Target).id).toBe('fresh')
  })

  test('while a revision is being loaded: the same', async () => {
    const { catalog, next } = setUp()
    const overlapped = resolve(catalog)
    await next().answer(record('stale'))
    catalog.invalidate(change('org_a'))
    await next().answer(revision('revision_a'))
    expect(((await overlapped) as Target).id).toBe('stale')
    expect(resolve(catalog)).toBeInstanceOf(Promise)
  })

  test('while nothing was found: a project made meanwhile is found', async () => {
    const { catalog, next } = setUp()
    const overlapped = resolve(catalog)
    catalog.invalidate(change('org_a', 'project'))
    await next().answer(null)
    expect(await overlapped).toBeNull()
    expect(resolve(catalog)).toBeInstanceOf(Promise)
  })

  test('keeps later requests from joining a load that was begun before it', async () => {
    const { catalog, loads } = setUp()
    const before = resolve(catalog)
    catalog.invalidate(change('org_a'))
    const after = resolve(catalog)
    expect(loads).toHaveLength(2)
    // The older load ends last and must not take the place of the newer one.
    await loads[1]?.answer(record('fresh'))
    await loads[2]?.answer(revision('revision_a'))
    expect(((await after) as Target).id).toBe('fresh')
    await loads[0]?.answer(record('stale'))
    expect(((await before) as Target).id).toBe('stale')
    expect((resolve(catalog) as Target).id).toBe('fresh')
  })

  test('keeps the older load from letting go of the newer one', async () => {
    const { catalog, loads } = setUp()
    void resolve(catalog)
    catalog.invalidate(change('org_a'))
    void resolve(catalog)
    await loads[0]?.answer(null)
    void resolve(catalog)
    expect(loads).toHaveLength(2)
  })

  test('of everything, while loading: not kept either', async () => {
    for (const forget of [
      (catalog: Catalog) => catalog.invalidate(change(null)),
      (catalog: Catalog) => catalog.clear(),
    ]) {
      const { catalog, next } = setUp()
      const overlapped = resolve(catalog)
      forget(catalog)
      await next().answer(null)
      await overlapped
      expect(resolve(catalog)).toBeInstanceOf(Promise)
    }
  })

  test('of more organizations than are tracked forgets too much rather than too little', async () => {
    const { catalog, next } = setUp({ maxEntries: 3 })
    const overlapped = resolve(catalog)
    catalog.invalidate(change('org_a'))
    for (let i = 0; i < 10; i++) catalog.invalidate(change(`org_${i}`))
    await next().answer(null)
    await overlapped
    expect(resolve(catalog)).toBeInstanceOf(Promise)
  })
})

test('no order of loads, changes and answers leaves an old target behind', async () => {
  // A store of one project whose version rises with each change; loads answer with the version of the moment they began
  // or ended. After the last change is announced, what the catalog answers is the newest.
  let state = 12345
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state % below
  }
  for (let round = 0; round < 200; round++) {
    const { catalog, loads } = setUp()
    const open: { load: Load; version: number }[] = []
    let version = 0
    let seen = 0
    const collect = (): void => {
      for (; seen < loads.length; seen++) open.push({ load: loads[seen]!, version })
    }
    const answerOne = async (): Promise<void> => {
      const [{ load, version: begun } = { load: undefined, version: 0 }] = open.splice(random(open.length), 1)
      const isRevision = load?.what.startsWith('revision')
      await load?.answer(isRevision ? revision('revision_a') : record(`v${random(2) === 0 ? begun : version}`))
      collect()
    }
    for (let step = 0; step < 12; step++) {
      const action = random(3)
      if (action === 0) void resolve(catalog)
      else if (action === 1) {
        version++
        catalog.invalidate(change('org_a'))
      } else if (open.length > 0) await answerOne()
      collect()
    }
    while (open.length > 0) await answerOne()
    const last = resolve(catalog)
    collect()
    while (open.length > 0) await answerOne()
    expect((await last)?.id).toBe(`v${version}`)
  }
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
