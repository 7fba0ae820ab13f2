// Checks that are made again, over sessions and a store of the test's own.
import { expect, test } from 'bun:test'
import type { Session } from '../../src/domain/session.ts'
import { createCheckAgain } from '../../src/identity/checks/check-again.ts'
import { partOf, type RepeatedPart } from '../../src/identity/checks/checks.ts'

test('a session whose first checks are under way is not compared with what was read before', async () => {
  const waiting = new Set(['s1'])
  const made: string[] = []
  const again = createCheckAgain(
    {
      name: 'part',
      begin: async () => ({
        key: 'a',
        keyOf: () => 'a',
        compare: async (sessions) =>
          sessions.map(() => [{ name: 'part', outcome: 'passed' as const, detail: {}, version: 'a' }]),
      }),
    },
    {
      organizations: async () => [{ id: 'org' }],
      outdated: async (_organization, status, _made, afterId) =>
        ['s1', 's2'].flatMap((id) =>
          status === 'submitted' && !made.includes(id) && id > afterId ? [{ id } as Session] : [],
        ),
      queued: async () => waiting,
      store: async (_part, _organization, stored) => {
        made.push(...stored.map(({ session }) => session.id))
        return { opened: 0, skipped: 0 }
      },
    },
  )
  for (let round = 0; round < 3; round++) await again(() => true)
  expect(made).toEqual(['s2'])
  waiting.clear()
  await again(() => true)
  expect(made).toEqual(['s2', 's1'])
})

test('what was changed and changed back before all was compared is compared with again', async () => {
  let setting = 'a'
  const madeWith = new Map(['s1', 's2'].map((id) => [id, '']))
  const again = createCheckAgain(
    {
      name: 'part',
      begin: async () => {
        const version = setting
        return {
          key: version,
          keyOf: () => version,
          compare: async (sessions) =>
            sessions.map(() => [{ name: 'part', outcome: 'passed' as const, detail: {}, version }]),
        }
      },
    },
    {
      organizations: async () => [{ id: 'org' }],
      outdated: async (_organization, status, { version }, afterId) =>
        [...madeWith].flatMap(([id, made]) =>
          status === 'completed' && made !== version && id > afterId ? [{ id } as Session] : [],
        ),
      queued: async () => new Set(),
      store: async (_part, _organization, made) => {
        for (const { session, checks } of made) madeWith.set(session.id, checks[0]?.version ?? '')
        return { opened: 0, skipped: 0 }
      },
    },
  )
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

test('what was compared with data that has changed meanwhile is not stored', async () => {
  let setting = 'a'
  let changesTo: string | null = 'b'
  const part: RepeatedPart = {
    name: 'part',
    begin: async () => {
      const version = setting
      return {
        key: version,
        keyOf: () => version,
        compare: async (sessions) => {
          setting = changesTo ?? setting
          changesTo = null
          return sessions.map(() => [{ name: 'part', outcome: 'passed' as const, detail: {}, version }])
        },
      }
    },
  }
  const stored: (string | undefined)[] = []
  const again = createCheckAgain(part, {
    organizations: async () => [{ id: 'org' }],
    outdated: async (_organization, status, { version }, afterId) =>
      status === 'submitted' && afterId === '' && stored.at(-1) !== version ? [{ id: 's' } as Session] : [],
    queued: async () => new Set(),
    store: async (_part, _organization, made) => {
      stored.push(...made.map(({ checks }) => checks[0]?.version))
      return { opened: 0, skipped: 0 }
    },
  })
  expect((await again(() => true)).sessions).toBe(0)
  expect(stored).toEqual([])
  await again(() => true)
  expect(stored).toEqual(['b'])
  changesTo = 'c'
  expect(await partOf(part).run({ organizationId: 'org' } as Session)).toMatchObject([{ version: 'c' }])
})
