// Policies are compiled before the transaction that activates them, so that it does not delay the writes of others.
import { afterAll, expect, test } from 'bun:test'
import { startHarness } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const harness = await startHarness()
afterAll(() => harness.close())
const alpha = await harness.organization('alpha')
const [ada, bob] = await Promise.all(
  ['ada', 'bob'].map((name) =>
    harness.person({ email: `${name}@example.com`, roles: { [alpha.id]: 'organization-admin' } }),
  ),
)
harness.clock.advance(1)

/** Makes a request; returns the order of its compilations and transactions. */
const stepsOf = async (method: string, path: string, body: object, options: CallOptions) => {
  const steps: string[] = []
  const { policyWork, store } = harness.services
  const [{ run }, { transaction }] = [policyWork, store].map((each) => ({ ...each })) as [
    typeof policyWork,
    typeof store,
  ]
  Object.assign(policyWork, {
    run: (...given: Parameters<typeof run>) => {
      steps.push('compile')
      return run(...given)
    },
  })
  Object.assign(store, {
    transaction: (...given: Parameters<typeof transaction>) => {
      steps.push('write')
      return transaction(...given)
    },
  })
  try {
    const answer = await harness.call(method, `/organizations/alpha${path}`, {
      ...options,
      body,
    })
    return { steps: steps.filter((step, at) => step !== steps[at - 1]), status: answer.status, body: answer.body }
  } finally {
    Object.assign(policyWork, { run })
    Object.assign(store, { transaction })
  }
}

test('activations, shadows and approvals compile first', async () => {
  const save = async (source: string) => {
    const { body } = await harness.call<{ policy: { id: string }; revision: { id: string } }>(
      'POST',
      '/organizations/alpha/policies',
      { key: alpha.key, body: { source } },
    )
    return { path: `/policies/${body.policy.id}`, body: { revision_id: body.revision.id }, id: body.policy.id }
  }
  const asKey = { key: alpha.key }
  const first = await save('name: First\nrules: []\n')
  expect(await stepsOf('PUT', `${first.path}/shadow`, first.body, asKey)).toMatchObject({
    steps: ['compile', 'write'],
    status: 200,
  })
  expect(await stepsOf('POST', `${first.path}/activate`, first.body, asKey)).toMatchObject({
    steps: ['compile', 'write'],
    status: 200,
  })
  await harness.call('PATCH', '/organizations/alpha/settings', {
    cookie: ada?.cookie ?? '',
    body: { second_person: true },
  })
  const second = await save('name: Second\nrules: []\n')
  const asked = await stepsOf('POST', `${second.path}/activate`, second.body, { cookie: ada?.cookie ?? '' })
  expect(asked).toMatchObject({ steps: ['compile', 'write'], status: 202 })
  const approval = `/approvals/${asked.body['id']}/decide`
  expect(await stepsOf('POST', approval, { approve: true }, { cookie: bob?.cookie ?? '' })).toMatchObject({
    steps: ['compile', 'write'],
    status: 200,
  })
})

test('a good revision replaces an active one that cannot be used', async () => {
  const beta = await harness.organization('beta')
  const asKey = { key: beta.key }
  const post = <Body>(path: string, body: object) =>
    harness.call<Body>('POST', `/organizations/beta/policies${path}`, { ...asKey, body })
  const made = await post<{ policy: { id: string }; revision: { id: string } }>('', { source: 'name: P\nrules: []\n' })
  const path = `/${made.body.policy.id}`
  await post(`${path}/activate`, { revision_id: made.body.revision.id })
  const broken = "UPDATE policy_revisions SET source = 'name: Broken' WHERE id = ?"
  await harness.store.database.execute(broken, [made.body.revision.id])
  const next = await post<{ id: string }>(`${path}/revisions`, { source: 'name: Q\nrules: []\n' })
  expect((await post(`${path}/activate`, { revision_id: next.body.id })).status).toBe(200)
})
