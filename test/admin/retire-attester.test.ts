// The retirement of an attester requires that contracts accept the next signing key.
import { expect, test } from 'bun:test'
import { routesWith } from './support/all-routes.ts'
import { harnessOfTest } from './support/harness.ts'
import { toRequest } from './support/request.ts'

const harness = harnessOfTest()

test('an attester whose successor is not registered on a chain is retired only with final', async () => {
  const { attesters } = harness.store
  for (const address of ['0x1111', '0x2222', '0x3333']) {
    await attesters.add({ kind: 'secp256k1', address, keystoreFile: `${address}.json` })
    harness.clock.advance(1)
  }
  const [first = '', second = ''] = (await attesters.list()).map(({ id }) => id)
  const { cookie } = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  let subject = '0x2222'
  const finding = { chain: 'base', check: 'attester', result: 'problem', detail: 'active but not registered' } as const
  const inspectChains = async () => [{ ...finding, subject }]
  const routes = routesWith(
    'retireAttester',
    (handle) => (call) => handle({ ...call, services: { ...call.services, inspectChains } }),
  )
  const retire = async (id: string, body: object) => {
    const answer = await harness.apiOver(routes)(toRequest('POST', `/attesters/${id}/retire`, { cookie, body }))
    return [answer.status, await answer.json()]
  }
  const detail = expect.stringContaining('0x2222, is not registered on base')
  expect(await retire(first, {})).toEqual([409, expect.objectContaining({ detail })])
  // The second key signs next. The third signs only after both.
  subject = '0x3333'
  const retiring = [200, expect.objectContaining({ status: 'retiring' })]
  expect(await retire(first, {})).toEqual(retiring)
  // A retired key has no successor.
  expect(await retire(first, {})).toEqual(retiring)
  expect((await retire(second, {}))[0]).toBe(409)
  expect(await retire(second, { final: true })).toEqual([200, expect.objectContaining({ status: 'retired' })])
})
