// What another threshold would have caught, through the API: counts by score, what was decided about each, and who may ask.
import { afterAll, expect, test } from 'bun:test'
import { replaceChecks } from '../support/replace-checks.ts'
import { startHarness } from './support/harness.ts'

const harness = await startHarness()
afterAll(() => harness.close())
const alpha = await harness.organization('alpha')

const near = (sessionId: string, entry: string, score: number) => ({
  sessionId,
  entry,
  score,
  list: 'ofac-sdn',
  name: `LISTED ${entry}`,
  subject: 'person',
  isSame: false,
})
const ask = (cookie: string) => harness.call('POST', '/organizations/alpha/screening/trial', { cookie, body: {} })

test('is counted from each score on, with what was decided about those that are hits', async () => {
  const reviewer = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'reviewer' } })
  const viewer = await harness.person({ email: 'eve@example.com', roles: { [alpha.id]: 'viewer' } })
  expect((await ask(viewer.cookie)).status).toBe(403)
  expect((await ask(reviewer.cookie)).body['detail']).toContain('no sanctions list')
  const [one, two] = [await harness.session(alpha.id), await harness.session(alpha.id)]
  const hit = { ...near(one, '1', 96), versionId: 'v1', basis: 'b', subjectBasis: 's', why: [] }
  await replaceChecks(harness.store, { organizationId: alpha.id, sessionId: one }, 'lists', [
    { name: 'lists.names', outcome: 'passed', detail: {}, version: 'k', hits: [hit] },
  ])
  const [stored] = await harness.store.screeningChecks.hits(alpha.id, one)
  await harness.store.screeningChecks.decideHit(
    { organizationId: alpha.id, sessionId: one, hitId: stored?.id ?? '' },
    { state: 'cleared', by: 'operator:ada', reason: 'somebody else' },
  )
  harness.near.set(alpha.id, {
    sessions: 2,
    exact: false,
    unread: 1,
    near: [near(one, '1', 96), { ...near(one, '2', 80), isSame: true }, near(two, '1', 74), near(two, '3', 70)],
  })
  const { status, body } = await ask(reviewer.cookie)
  expect(status).toBe(200)
  expect(body).toMatchObject({ threshold: 75, sessions: 2, exact: false, unread: 1 })
  expect(body['counts']).toEqual([
    { threshold: 70, hits: 4, sessions: 2 },
    { threshold: 75, hits: 2, sessions: 1 },
    { threshold: 80, hits: 2, sessions: 1 },
    { threshold: 85, hits: 2, sessions: 1 },
    { threshold: 90, hits: 2, sessions: 1 },
    { threshold: 95, hits: 2, sessions: 1 },
    // The same name is a hit whatever its score.
    { threshold: 100, hits: 1, sessions: 1 },
  ])
  const names = body['names'] as { entry: string; state: string | null; session_id: string }[]
  expect(names.map(({ entry, state }) => [entry, state])).toEqual([
    ['1', 'cleared'],
    ['2', null],
    // The same entry is another hit for another session.
    ['1', null],
    ['3', null],
  ])
  const items = await harness.audited({ action: 'screening.trial' })
  expect(items.map(({ detail }) => detail)).toEqual([{ sessions: 2 }])
})
