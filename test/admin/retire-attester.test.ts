// A key retires only if contracts accept the key that signs next.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { type Harness, startHarness } from './support/harness.ts'
import { toRequest } from './support/request.ts'

interface Key {
  readonly id: string
  readonly address: string
}

let harness: Harness
beforeEach(async () => {
  harness = await startHarness()
})
afterEach(() => harness.close())

test('a successor that is not registered on a chain is refused, except with final', async () => {
  const { attesters } = harness.store
  for (const address of ['0x1111', '0x2222', '0x3333']) {
    await attesters.add({ kind: 'secp256k1', address, keystoreFile: `${address}.json` })
    harness.clock.advance(1)
  }
  const [first, second, third] = (await attesters.list()).map(({ id, address }) => ({ id, address })) as [Key, Key, Key]
  const { cookie } = await harness.person({ email: 'root@example.com', deploymentAdmin: true })
  let unregistered = second.address
  const finding = { chain: 'base', check: 'attester', result: 'problem', detail: 'active but not registered' } as const
  const inspectChains = async () => [{ ...finding, subject: unregistered }]
  const api = harness.apiOver(
    ADMIN_ROUTES.map((route) => ({
      ...route,
      handle: (call) => route.handle({ ...call, services: { ...call.services, inspectChains } }),
    })),
  )
  const retire = async (id: string, body: object) => {
    const answer = await api(toRequest('POST', `/attesters/${id}/retire`, { cookie, body }))
    return [answer.status, await answer.json()]
  }
  expect(await retire(first.id, {})).toEqual([
    409,
    expect.objectContaining({ detail: expect.stringContaining('0x2222, is not registered on base') }),
  ])
  // The second key never signs while the first is active; the third signs only after both.
  unregistered = third.address
  expect(await retire(first.id, {})).toEqual([200, expect.objectContaining({ status: 'retiring' })])
  // A key that no longer signs has no successor.
  expect(await retire(first.id, {})).toEqual([200, expect.objectContaining({ status: 'retiring' })])
  expect((await retire(second.id, {}))[0]).toBe(409)
  expect(await retire(second.id, { final: true })).toEqual([200, expect.objectContaining({ status: 'retired' })])
})
