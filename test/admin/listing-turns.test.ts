// Many listings of one organization at once: its own are refused early, and another organization's is answered.
import { afterAll, expect, test } from 'bun:test'
import { OWN_LONG_READS_WAITING_MAX } from '../../src/store/store-turns.ts'
import { openWithLongReads } from '../store/temporary-store.ts'
import { startHarness } from './support/harness.ts'
import { toRequest } from './support/request.ts'

const harness = await startHarness(openWithLongReads)
afterAll(() => harness.close())
const alpha = await harness.organization('alpha')
const beta = await harness.organization('beta')
const { cookie } = await harness.person({
  email: 'ada@example.com',
  roles: { [alpha.id]: 'organization-admin', [beta.id]: 'organization-admin' },
})
const list = (organization: string, signal: AbortSignal | null = null) =>
  harness.api(new Request(toRequest('GET', `/organizations/${organization}/sessions`, { cookie }), { signal }))

/** More than run and wait at once. */
const MANY = OWN_LONG_READS_WAITING_MAX * 2

test('one organization’s listings beyond its limit get 503, and another’s gets its answer', async () => {
  const flood = Array.from({ length: MANY }, () => list('alpha'))
  const other = list('beta')
  const answers = await Promise.all(flood)
  const refused = answers.filter(({ status }) => status === 503)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(OWN_LONG_READS_WAITING_MAX)
  expect(refused.length).toBeGreaterThan(0)
  expect(await refused[0]?.json()).toMatchObject({ code: 'OVERLOADED' })
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect((await other).status).toBe(200)
})

test('a listing whose client has gone is not read', async () => {
  const gone = new AbortController()
  gone.abort()
  expect((await list('alpha', gone.signal)).status).toBe(408)
})
