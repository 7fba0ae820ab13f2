// Simultaneous lists of one organization: those beyond its limit are refused, and another organization is not delayed.
import { expect, test } from 'bun:test'
import { OWN_LONG_READS_WAITING_MAX } from '../../src/store/store-turns.ts'
import { openWithLongReads } from '../store/temporary-store.ts'
import { harnessOfFile } from './support/harness.ts'
import { toRequest } from './support/request.ts'

const harness = await harnessOfFile(openWithLongReads)
const alpha = await harness.organization('alpha')
const beta = await harness.organization('beta')
const { cookie } = await harness.person({
  email: 'ada@example.com',
  roles: { [alpha.id]: 'organization-admin', [beta.id]: 'organization-admin' },
})
const list = (organization: string, signal: AbortSignal | null = null) =>
  harness.api(new Request(toRequest('GET', `/organizations/${organization}/sessions`, { cookie }), { signal }))

test('list requests beyond the limit of an organization get 503, and another organization gets its list', async () => {
  const flood = Array.from({ length: OWN_LONG_READS_WAITING_MAX * 2 }, () => list('alpha'))
  const other = list('beta')
  const answers = await Promise.all(flood)
  const refused = answers.filter(({ status }) => status === 503)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(OWN_LONG_READS_WAITING_MAX)
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect(await refused[0]?.json()).toMatchObject({ code: 'OVERLOADED' })
  expect((await other).status).toBe(200)
})

test('a list whose client has disconnected is not read', async () => {
  expect((await list('alpha', AbortSignal.abort())).status).toBe(408)
})
