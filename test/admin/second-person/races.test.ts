// Two approvals at the same moment: what the second rests on must still be so once the first is committed.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Route } from '../../../src/admin/route.ts'
import { describeStores } from '../../store/dialects.ts'
import { interleaveWork } from '../../store/interleave.ts'
import { ADMIN_ROUTES } from '../support/all-routes.ts'
import { type Harness, type Organization, type Person, startHarness } from '../support/harness.ts'
import { toRequest } from '../support/request.ts'

describeStores((openTemporaryStore) => {
  let harness: Harness
  let alpha: Organization
  let ada: Person
  let bob: Person
  let carol: Person

  beforeEach(async () => {
    harness = await startHarness(openTemporaryStore)
    alpha = await harness.organization('alpha')
    const admin = (name: string): Promise<Person> =>
      harness.person({ email: `${name}@example.com`, roles: { [alpha.id]: 'organization-admin' } })
    ada = await admin('ada')
    bob = await admin('bob')
    carol = await admin('carol')
    await harness.store.organizationSettings.setSecondPerson(alpha.id, true)
    harness.clock.advance(1)
  })
  afterEach(() => harness.close())

  const asks = async (method: string, path: string, body: object): Promise<string> => {
    const asked = await harness.call<{ id: string }>(method, `/organizations/alpha${path}`, {
      cookie: ada.cookie,
      body,
    })
    expect(asked.status).toBe(202)
    return asked.body.id
  }

  /** Both approve, the second while the first's transaction has not committed. */
  const bothApprove = async (first: readonly [Person, string], second: readonly [Person, string]) => {
    const decide = (routes: readonly Route[], [{ cookie }, id]: readonly [Person, string]): Promise<Response> =>
      harness.apiOver(routes)(
        toRequest('POST', `/organizations/alpha/approvals/${id}/decide`, { cookie, body: { approve: true } }),
      )
    const held = (beforeCommit: () => Promise<void>): readonly Route[] =>
      ADMIN_ROUTES.map((route) => ({
        ...route,
        handle: ({ write, ...call }) =>
          route.handle({
            ...call,
            write: (work, kept) =>
              write(async (tables, note) => {
                const result = await work(tables, note)
                await beforeCommit()
                return result
              }, kept),
          }),
      }))
    const outcomes = await interleaveWork(
      harness.store,
      (beforeCommit) => decide(held(beforeCommit), first),
      () => decide(ADMIN_ROUTES, second),
    )
    return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.status : outcome.reason))
  }

  test('of two revisions that were asked for on one basis, one is activated', async () => {
    const { store } = harness
    const policy = await store.policies.create({ organizationId: alpha.id, name: 'P' })
    const revisions = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const source = `name: ${name}\nrules: []\n`
        const saved = await store.policies.saveRevision({
          organizationId: alpha.id,
          policyId: policy.id,
          source,
          quorum: 1,
        })
        return saved?.id ?? ''
      }),
    )
    const [one = '', two = ''] = revisions
    const first = await asks('POST', `/policies/${policy.id}/activate`, { revision_id: one })
    const second = await asks('POST', `/policies/${policy.id}/activate`, { revision_id: two })
    expect(await bothApprove([bob, first], [carol, second])).toEqual([200, 409])
    expect((await store.policies.find(alpha.id, policy.id))?.activeRevisionId).toBe(one)
  })

  test('two administrators are left, when two are demoted', async () => {
    const first = await asks('PATCH', `/members/${bob.id}`, { role: 'viewer' })
    const second = await asks('PATCH', `/members/${carol.id}`, { role: 'viewer' })
    const [one, two] = await bothApprove([carol, first], [bob, second])
    expect(one).toBe(200)
    expect(two).not.toBe(200)
    expect(await harness.store.accountMakers.administrators(alpha.id)).toHaveLength(2)
  })
})
