// Repeated checks, with test sessions and a test store.
import { expect, test } from 'bun:test'
import type { Session } from '../../src/domain/session.ts'
import { createCheckAgain } from '../../src/identity/checks/check-again.ts'
import { type Comparison, type RepeatedPart, SubjectsFailedError } from '../../src/identity/checks/checks.ts'

type Source = Parameters<typeof createCheckAgain>[1]

/** Repeats the checks of one organization. */
const checksAgain = (begin: RepeatedPart['begin'], source: Pick<Source, 'outdated' | 'store'> & Partial<Source>) =>
  createCheckAgain(
    { name: 'part', begin },
    {
      organizations: async () => [{ id: 'org' }],
      queued: async () => new Set(),
      clock: { monotonicMs: () => 0 },
      onError: (error) => {
        throw error
      },
      ...source,
    },
  )

/** A comparison that every session passes. */
const passing = (version: string): Comparison => ({
  key: version,
  keyOf: () => version,
  compare: async (sessions) => sessions.map(() => [{ name: 'part', outcome: 'passed', detail: {}, version }]),
})
const STORED = { opened: 0, skipped: 0 }

test('a session whose first checks are running is not compared', async () => {
  const waiting = new Set(['s1'])
  const made: string[] = []
  const again = checksAgain(async () => passing('a'), {
    outdated: async (_organization, status, _made, afterId) =>
      ['s1', 's2'].flatMap((id) =>
        status === 'submitted' && !made.includes(id) && id > afterId ? [{ id } as Session] : [],
      ),
    queued: async () => waiting,
    store: async (_part, _organization, stored) => {
      made.push(...stored.map(({ session }) => session.id))
      return STORED
    },
  })
  for (let round = 0; round < 3; round++) await again(() => true)
  expect(made).toEqual(['s2'])
  waiting.clear()
  await again(() => true)
  expect(made).toEqual(['s2', 's1'])
})

test('a setting that changes and changes back before all sessions are compared is compared again', async () => {
  let setting = 'a'
  const madeWith = new Map(['s1', 's2'].map((id) => [id, '']))
  const again = checksAgain(async () => passing(setting), {
    outdated: async (_organization, status, { version }, afterId) =>
      [...madeWith].flatMap(([id, made]) =>
        status === 'completed' && made !== version && id > afterId ? [{ id } as Session] : [],
      ),
    store: async (_part, _organization, made) => {
      for (const { session, checks } of made) madeWith.set(session.id, checks[0]?.version ?? '')
      return STORED
    },
  })
  const makeAll = async () => {
    while ((await again(() => true)).sessions > 0);
  }
  await makeAll()
  setting = 'b'
  await again(() => true)
  setting = 'a'
  await makeAll()
  expect([...madeWith.values()]).toEqual(['a', 'a'])
})

test('results of a comparison whose data changed meanwhile are not stored', async () => {
  let setting = 'a'
  let changesTo: string | null = 'b'
  const begin = async (): Promise<Comparison> => {
    const comparison = passing(setting)
    return {
      ...comparison,
      compare: (sessions) => {
        setting = changesTo ?? setting
        changesTo = null
        return comparison.compare(sessions)
      },
    }
  }
  const stored: (string | undefined)[] = []
  const again = checksAgain(begin, {
    outdated: async (_organization, status, { version }, afterId) =>
      status === 'submitted' && afterId === '' && stored.at(-1) !== version ? [{ id: 's' } as Session] : [],
    store: async (_part, _organization, made) => {
      stored.push(...made.map(({ checks }) => checks[0]?.version))
      return STORED
    },
  })
  expect((await again(() => true)).sessions).toBe(0)
  expect(stored).toEqual([])
  await again(() => true)
  expect(stored).toEqual(['b'])
})

test('a session or organization that cannot be compared does not affect others', async () => {
  const outcomes = new Map<string, string>()
  const errors: unknown[] = []
  const sessions = ['down', 'org'].flatMap((organizationId) =>
    ['s1', 's2', 's3'].map((id) => ({ id: `${organizationId} ${id}`, organizationId }) as Session),
  )
  const again = checksAgain(
    async () => ({
      ...passing('a'),
      compare: async (batch) => {
        if (batch.some(({ organizationId }) => organizationId === 'down')) throw new Error('down')
        if (batch.some(({ id }) => id === 'org s2')) throw new SubjectsFailedError('s2')
        return batch.map(() => [{ name: 'part.one', outcome: 'passed' as const, detail: {}, version: 'a' }])
      },
    }),
    {
      organizations: async () => [{ id: 'down' }, { id: 'org' }],
      outdated: async (organization, status, _made, afterId) =>
        sessions.filter(
          ({ id, organizationId }) =>
            organizationId === organization && status === 'completed' && !outcomes.has(id) && id > afterId,
        ),
      onError: (_error, failed) => errors.push(failed),
      store: async (_part, _organization, made) => {
        for (const { session, checks } of made)
          for (const { name, outcome, version } of checks) outcomes.set(session.id, `${name} ${outcome} ${version}`)
        return STORED
      },
    },
  )
  await again(() => true)
  expect(Object.fromEntries(outcomes)).toEqual({
    'org s1': 'part.one passed a',
    'org s2': 'part not-done a',
    'org s3': 'part.one passed a',
  })
  expect(errors).toEqual([{ organization: 'down' }, { session: 'org s2' }])
  // The failed organization is retried; the failed session is not done.
  await again(() => true)
  expect(errors).toEqual([{ organization: 'down' }, { session: 'org s2' }, { organization: 'down' }])
})

test('an organization with many expensive sessions delays the others by at most two seconds', async () => {
  let nowMs = 0
  const settings = { large: 'a', small: 'a' }
  const sessions = [...Array(400).keys()]
    .map((at) => ({ id: `s${1000 + at}`, organizationId: at === 399 ? 'small' : 'large', version: '' }))
    .map((session) => session as typeof session & Session & { organizationId: keyof typeof settings })
  const versionOf = (id: string) => settings[id as keyof typeof settings]
  const storedMs: number[] = []
  const again = checksAgain(
    async () => ({
      key: JSON.stringify(settings),
      keyOf: versionOf,
      compare: async (batch) => {
        for (const { organizationId } of batch) nowMs += organizationId === 'large' ? 300 : 1
        return batch.map(({ organizationId }) => [
          { name: 'part', outcome: 'passed' as const, detail: {}, version: versionOf(organizationId) },
        ])
      },
    }),
    {
      organizations: async () => [{ id: 'large' }, { id: 'small' }],
      clock: { monotonicMs: () => nowMs },
      outdated: async (organization, status, { version }, afterId, limit) =>
        sessions
          .filter((session) => status === 'retry' && session.organizationId === organization)
          .filter((session) => session.version !== version && session.id > afterId)
          .slice(0, limit),
      store: async (_part, organization, made) => {
        for (const { session } of made) Object.assign(session, { version: versionOf(organization) })
        if (organization !== 'small') return STORED
        storedMs.push(nowMs)
        if (storedMs.length < 4) settings.small = `b${storedMs.length}`
        return STORED
      },
    },
  )
  expect((await again(() => true)).sessions).toBe(403)
  expect(storedMs).toHaveLength(4)
  for (const [at, ms] of storedMs.entries()) expect(ms - (storedMs[at - 1] ?? 0)).toBeLessThanOrEqual(2_000)
  expect(nowMs).toBeGreaterThan(100_000)
})

test('a batch whose sessions take a long time to store is followed by a smaller batch', async () => {
  let nowMs = 0
  const sizes: number[] = []
  const ids = Array.from({ length: 40 }, (_, at) => `s${100 + at}`)
  const again = checksAgain(async () => passing('a'), {
    clock: { monotonicMs: () => nowMs },
    outdated: async (_organization, status, _made, afterId, limit) =>
      ids
        .filter((id) => status === 'submitted' && id > afterId)
        .slice(0, limit)
        .map((id) => ({ id }) as Session),
    store: async (_part, _organization, made) => {
      sizes.push(made.length)
      nowMs += 10 * made.length
      return STORED
    },
  })
  await again(() => true)
  expect(Math.max(...sizes.slice(0, -1))).toBeLessThanOrEqual(8)
  expect(sizes.slice(3, 6)).toEqual([5, 5, 5])
})
