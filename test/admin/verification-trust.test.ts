// Whose verifications an organization relies on: who may say so, what can be named, and what is on record.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Harness, type Organization, startHarness } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

let harness: Harness
let alpha: Organization
let beta: Organization

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
  beta = await harness.organization('beta')
})
afterEach(() => harness.close())

const PATH = '/organizations/alpha/verification-trust'
const read = async () => (await harness.call('GET', PATH, { key: alpha.key })).body
const put = (body: object, options: CallOptions = { key: alpha.key }) => harness.call('PUT', PATH, { body, ...options })

test('is everyone’s at first, then as an organization admin says', async () => {
  expect(await read()).toEqual({ trusts: 'all', organizations: [] })
  const listed = { trusts: 'listed', organizations: [{ id: beta.id, slug: 'beta', name: 'beta' }] }
  expect(await put({ trusts: 'listed', organizations: [beta.id] })).toEqual({ status: 200, body: listed })
  expect(await read()).toEqual(listed)
  expect((await put({ trusts: 'none' })).body).toEqual({ trusts: 'none', organizations: [] })
  expect((await put({ trusts: 'all' })).body).toEqual({ trusts: 'all', organizations: [] })
  const reviewer = await harness.person({ email: 'r@alpha.example', roles: { [alpha.id]: 'reviewer' } })
  expect((await put({ trusts: 'none' }, { cookie: reviewer.cookie })).status).toBe(403)
  expect((await put({ trusts: 'none' }, { key: beta.key })).status).toBe(404)
  const notes = await harness.audited({ organizationId: alpha.id })
  expect(notes.map(({ action }) => action)).toContain('organization.verification-trust')
  expect(JSON.stringify(notes)).toContain(beta.id)
})

test('names others by their ids, and tells nobody who else is here', async () => {
  const unknown = await put({ trusts: 'listed', organizations: ['org_AAAAAAAAAAAAAAAA'] })
  const bySlug = await put({ trusts: 'listed', organizations: ['beta'] })
  expect([unknown.status, bySlug.status]).toEqual([400, 400])
  expect(bySlug.body['detail']).toBe(unknown.body['detail'])
  // Who sees both may use the short name.
  const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  expect((await put({ trusts: 'listed', organizations: ['beta'] }, { cookie: root.cookie })).status).toBe(200)
  for (const body of [
    { trusts: 'listed' },
    { trusts: 'listed', organizations: [alpha.id] },
    { trusts: 'none', organizations: [beta.id] },
    { trusts: 'all', organizations: [beta.id] },
    { trusts: 'listed', organizations: Array.from({ length: 101 }, () => beta.id) },
    { trusts: 'some' },
  ]) {
    expect([body.trusts, (await put(body)).status]).toEqual([body.trusts, 400])
  }
  expect(await read()).toMatchObject({ trusts: 'listed' })
})
