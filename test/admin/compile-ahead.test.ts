// Policies are compiled before the transaction that activates them, so that compilation delays no other transaction.
import { expect, test } from 'bun:test'
import { harnessOfFile } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const harness = await harnessOfFile()
const alpha = await harness.organization('alpha')
const [ada, bob] = [await harness.member(alpha, 'ada'), await harness.member(alpha, 'bob')]
harness.clock.advance(1)

interface Saved {
  readonly policy: { readonly id: string }
  readonly revision: { readonly id: string }
}

/** Sends a request; returns the order of its compilations and transactions. */
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
    const answer = await harness.call(method, `/organizations/alpha${path}`, { ...options, body })
    return { ...answer, steps: steps.filter((step, at) => step !== steps[at - 1]) }
  } finally {
    Object.assign(policyWork, { run })
    Object.assign(store, { transaction })
  }
}

test('activations, shadows and approvals compile before the transaction', async () => {
  const save = async (name: string) => {
    const options = { key: alpha.key, body: { source: `name: ${name}\nrules: []\n` } }
    const { policy, revision } = (await harness.call<Saved>('POST', '/organizations/alpha/policies', options)).body
    return { path: `/policies/${policy.id}`, body: { revision_id: revision.id } }
  }
  const expected = { steps: ['compile', 'write'], status: 200 }
  const first = await save('First')
  expect(await stepsOf('PUT', `${first.path}/shadow`, first.body, { key: alpha.key })).toMatchObject(expected)
  expect(await stepsOf('POST', `${first.path}/activate`, first.body, { key: alpha.key })).toMatchObject(expected)
  await harness.call('PATCH', '/organizations/alpha/settings', { ...ada, body: { second_person: true } })
  const second = await save('Second')
  const requested = await stepsOf('POST', `${second.path}/activate`, second.body, ada)
  expect(requested).toMatchObject({ ...expected, status: 202 })
  const approval = `/approvals/${requested.body['id']}/decide`
  expect(await stepsOf('POST', approval, { approve: true }, bob)).toMatchObject(expected)
})

test('a valid revision replaces an active revision that cannot be compiled', async () => {
  const beta = await harness.organization('beta')
  const post = <Body>(path: string, body: object) =>
    harness.call<Body>('POST', `/organizations/beta/policies${path}`, { key: beta.key, body })
  const { policy, revision } = (await post<Saved>('', { source: 'name: P\nrules: []\n' })).body
  await post(`/${policy.id}/activate`, { revision_id: revision.id })
  const broken = "UPDATE policy_revisions SET source = 'name: Broken' WHERE id = ?"
  await harness.store.database.execute(broken, [revision.id])
  const next = await post<{ id: string }>(`/${policy.id}/revisions`, { source: 'name: Q\nrules: []\n' })
  expect((await post(`/${policy.id}/activate`, { revision_id: next.body.id })).status).toBe(200)
})
