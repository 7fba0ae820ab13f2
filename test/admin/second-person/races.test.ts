// Two approvals at the same time: the second is checked against the changes of the first.
import { beforeEach, expect, test } from 'bun:test'
import type { Route } from '../../../src/admin/route.ts'
import { describeStores } from '../../store/dialects.ts'
import { interleaveWork } from '../../store/interleave.ts'
import { ADMIN_ROUTES } from '../support/all-routes.ts'
import { harnessOfTest, organizationOfTest, type Person, personOfTest } from '../support/harness.ts'
import { toRequest } from '../support/request.ts'

describeStores((open) => {
  const harness = harnessOfTest(open)
  const alpha = organizationOfTest(harness, 'alpha')
  const ada = personOfTest(() => harness.member(alpha, 'ada'))
  const bob = personOfTest(() => harness.member(alpha, 'bob'))
  const carol = personOfTest(() => harness.member(alpha, 'carol'))

  beforeEach(async () => {
    await harness.store.organizationSettings.setSecondPerson(alpha.id, true)
    harness.clock.advance(1)
  })

  const request = async (method: string, path: string, body: object): Promise<string> => {
    const options = { cookie: ada.cookie, body }
    const requested = await harness.call<{ id: string }>(method, `/organizations/alpha${path}`, options)
    expect(requested.status).toBe(202)
    return requested.body.id
  }

  /** Statuses of two approvals; the second starts before the first commits. */
  const approveBoth = async (first: readonly [Person, string], second: readonly [Person, string]) => {
    const approve = (routes: readonly Route[], [{ cookie }, id]: readonly [Person, string]): Promise<Response> =>
      harness.apiOver(routes)(
        toRequest('POST', `/organizations/alpha/approvals/${id}/decide`, { cookie, body: { approve: true } }),
      )
    const delayed = (beforeCommit: () => Promise<void>): readonly Route[] =>
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
      (beforeCommit) => approve(delayed(beforeCommit), first),
      () => approve(ADMIN_ROUTES, second),
    )
    return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.status : outcome.reason))
  }

  test('only one of two revisions that were requested on the same basis is activated', async () => {
    const { policies } = harness.store
    const policy = {
      organizationId: alpha.id,
      policyId: (await policies.create({ organizationId: alpha.id, name: 'P' })).id,
    }
    const requestActivation = async (name: string) => {
      const saved = await policies.saveRevision({ ...policy, source: `name: ${name}\nrules: []\n`, quorum: 1 })
      const revision_id = saved?.id ?? ''
      return { revision_id, id: await request('POST', `/policies/${policy.policyId}/activate`, { revision_id }) }
    }
    const [one, two] = [await requestActivation('one'), await requestActivation('two')]
    expect(await approveBoth([bob, one.id], [carol, two.id])).toEqual([200, 409])
    expect((await policies.find(alpha.id, policy.policyId))?.activeRevisionId).toBe(one.revision_id)
  })

  test('two administrators remain if the demotions of two others are approved at the same time', async () => {
    const first = await request('PATCH', `/members/${bob.id}`, { role: 'viewer' })
    const second = await request('PATCH', `/members/${carol.id}`, { role: 'viewer' })
    const [one, two] = await approveBoth([carol, first], [bob, second])
    expect(one).toBe(200)
    expect(two).not.toBe(200)
    expect(await harness.store.accountMakers.administrators(alpha.id)).toHaveLength(2)
  })
})
