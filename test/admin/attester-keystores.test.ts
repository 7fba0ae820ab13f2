// A keystore goes only when nobody can know its key: not while the commit that names it may have happened.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ConstraintViolatedError, StoreUnavailableError } from '../../src/store/errors.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { type Harness, startHarness } from './support/harness.ts'
import { toRequest } from './support/request.ts'

let harness: Harness
let cookie: string

beforeEach(async () => {
  harness = await startHarness()
  cookie = (await harness.person({ email: 'root@example.com', deploymentAdmin: true })).cookie
})
afterEach(() => harness.close())

/** Makes a key; what the transaction comes to is told to the handler by `ends`. */
const addAttester = async (ends: (commit: () => Promise<unknown>) => Promise<never>): Promise<number> => {
  const api = harness.apiOver(
    ADMIN_ROUTES.map((route) =>
      route.operationId === 'addAttester'
        ? {
            ...route,
            handle: (call) => route.handle({ ...call, write: (work, kept) => ends(() => call.write(work, kept)) }),
          }
        : route,
    ),
  )
  const request = toRequest('POST', '/attesters', { cookie, body: { kind: 'secp256k1' } })
  return (await api(request)).status
}
const UNAVAILABLE = new StoreUnavailableError(new Error('the connection is lost'))

test('a commit that happened though its outcome was lost keeps the keystore', async () => {
  for (const error of [UNAVAILABLE, new Error('something after the commit')]) {
    const status = await addAttester(async (commit) => {
      await commit()
      throw error
    })
    expect(status).toBeGreaterThanOrEqual(500)
  }
  expect(await harness.store.attesters.list()).toHaveLength(2)
  expect(harness.discardedKeystores).toEqual([])
})

test('so does a request for a second person’s approval', async () => {
  await harness.person({ email: 'second@example.com', deploymentAdmin: true })
  harness.clock.advance(1)
  await harness.store.organizationSettings.setDeploymentSecondPerson(true)
  await addAttester(async (commit) => {
    await commit().catch(() => undefined)
    throw new Error('something after the commit')
  })
  expect(await harness.store.attesters.list()).toEqual([])
  expect(harness.discardedKeystores).toEqual([])
})

test('while the store can not say how it ended, the keystore stays', async () => {
  await addAttester(() => Promise.reject(UNAVAILABLE))
  expect(harness.discardedKeystores).toEqual([])
})

test('a change that the store refused takes its keystore along', async () => {
  expect(await addAttester(() => Promise.reject(new ConstraintViolatedError('unique')))).toBe(409)
  expect(harness.discardedKeystores).toHaveLength(1)
})
