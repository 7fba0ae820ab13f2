// Checks that are made again, over sessions and a store of the test's own.
import { expect, test } from 'bun:test'
import type { Session } from '../../src/domain/session.ts'
import { createCheckAgain } from '../../src/identity/check-again.ts'

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
