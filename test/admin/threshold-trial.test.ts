// Trials of screening thresholds: hits by score, their decisions, and permissions.
import { expect, test } from 'bun:test'
import { replaceChecks } from '../support/replace-checks.ts'
import { harnessOfTest, type Person } from './support/harness.ts'

const harness = harnessOfTest()

const near = (sessionId: string, entry: string, score: number) => ({
  sessionId,
  entry,
  score,
  list: 'ofac-sdn',
  name: `LISTED ${entry}`,
  subject: 'person',
  isSame: false,
})
const start = ({ cookie }: Person) => harness.call('POST', '/organizations/alpha/screening/trial', { cookie, body: {} })

test('a trial counts the hits of each threshold, and shows the decisions about them', async () => {
  const alpha = await harness.organization('alpha')
  const reviewer = await harness.member(alpha, 'ada', 'reviewer')
  expect((await start(await harness.member(alpha, 'eve', 'viewer'))).status).toBe(403)
  expect((await start(reviewer)).body['detail']).toContain('no sanctions list')
  const [one, two] = [await harness.session(alpha.id), await harness.session(alpha.id)]
  const hit = { ...near(one, '1', 96), versionId: 'v1', basis: 'b', subjectBasis: 's', why: [] }
  await replaceChecks(harness.store, { organizationId: alpha.id, sessionId: one }, 'lists', [
    { name: 'lists.names', outcome: 'passed', detail: {}, version: 'k', hits: [hit] },
  ])
  const [stored] = await harness.store.screeningChecks.hits(alpha.id, one)
  await harness.store.screeningChecks.decideHit(
    { organizationId: alpha.id, sessionId: one, hitId: stored?.id ?? '' },
    { state: 'cleared', by: 'operator:ada', reason: 'another person' },
  )
  harness.near.set(alpha.id, {
    sessions: 2,
    exact: false,
    unread: 1,
    near: [near(one, '1', 96), { ...near(one, '2', 80), isSame: true }, near(two, '1', 74), near(two, '3', 70)],
  })
  const { status, body } = await start(reviewer)
  expect(status).toBe(200)
  expect(body).toMatchObject({ threshold: 75, sessions: 2, exact: false, unread: 1 })
  expect(body['counts']).toEqual([
    { threshold: 70, hits: 4, sessions: 2 },
    ...[75, 80, 85, 90, 95].map((threshold) => ({ threshold, hits: 2, sessions: 1 })),
    // An equal name is always a hit.
    { threshold: 100, hits: 1, sessions: 1 },
  ])
  const names = body['names'] as { entry: string; state: string | null; session_id: string }[]
  expect(names.map(({ entry, state }) => [entry, state])).toEqual([
    ['1', 'cleared'],
    ['2', null],
    // A hit of another session with the same entry.
    ['1', null],
    ['3', null],
  ])
  const items = await harness.audited({ action: 'screening.trial' })
  expect(items.map(({ detail }) => detail)).toEqual([{ sessions: 2 }])
})
