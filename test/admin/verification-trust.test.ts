// The organizations whose verifications an organization accepts: permissions, valid values and the audit log.
import { expect, test } from 'bun:test'
import { harnessOfTest, organizationOfTest } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const PATH = '/organizations/alpha/verification-trust'

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')
const beta = organizationOfTest(harness, 'beta')

const read = async () => (await harness.call('GET', PATH, { key: alpha.key })).body
const put = (body: object, options: CallOptions = { key: alpha.key }) => harness.call('PUT', PATH, { body, ...options })

test('all organizations are accepted until an organization admin changes the setting', async () => {
  expect(await read()).toEqual({ trusts: 'all', organizations: [] })
  const listed = { trusts: 'listed', organizations: [{ id: beta.id, slug: 'beta', name: 'beta' }] }
  expect(await put({ trusts: 'listed', organizations: [beta.id] })).toEqual({ status: 200, body: listed })
  expect(await read()).toEqual(listed)
  for (const trusts of ['none', 'all']) expect((await put({ trusts })).body).toEqual({ trusts, organizations: [] })
  expect((await put({ trusts: 'none' }, await harness.member(alpha, 'reviewer', 'reviewer'))).status).toBe(403)
  expect((await put({ trusts: 'none' }, { key: beta.key })).status).toBe(404)
  const notes = await harness.audited({ organizationId: alpha.id })
  expect(notes.map(({ action }) => action)).toContain('organization.verification-trust')
  expect(JSON.stringify(notes)).toContain(beta.id)
})

test('organizations are listed by id, and a refusal does not reveal whether a slug exists', async () => {
  const [unknown, bySlug] = [
    await put({ trusts: 'listed', organizations: ['org_AAAAAAAAAAAAAAAA'] }),
    await put({ trusts: 'listed', organizations: ['beta'] }),
  ]
  expect([unknown.status, bySlug.status, bySlug.body['detail']]).toEqual([400, 400, unknown.body['detail']])
  // A deployment admin sees both organizations.
  const root = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  expect((await put({ trusts: 'listed', organizations: ['beta'] }, root)).status).toBe(200)
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
