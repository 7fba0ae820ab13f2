// A keystore is deleted only if no commit can contain its key.
import { expect, test } from 'bun:test'
import { ConstraintViolatedError, StoreUnavailableError } from '../../src/store/errors.ts'
import { routesWith } from './support/all-routes.ts'
import { harnessOfTest, personOfTest } from './support/harness.ts'
import { toRequest } from './support/request.ts'

const harness = harnessOfTest()
const root = personOfTest(() => harness.person({ email: 'root@example.com', deploymentAdmin: true }))

/** Creates an attester whose transaction is replaced by `end`. */
const addAttester = async (end: (commit: () => Promise<unknown>) => Promise<never>): Promise<number> => {
  const routes = routesWith(
    'addAttester',
    (handle) => (call) => handle({ ...call, write: (work, kept) => end(() => call.write(work, kept)) }),
  )
  const request = toRequest('POST', '/attesters', { ...root, body: { kind: 'secp256k1' } })
  return (await harness.apiOver(routes)(request)).status
}
const UNAVAILABLE = new StoreUnavailableError(new Error('the connection is lost'))

test('the keystore is kept if the transaction is committed but the outcome is lost', async () => {
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

test('the keystore is kept if the outcome of a request for approval is lost', async () => {
  await harness.person({ email: 'second@example.com', deploymentAdmin: true })
  harness.clock.advance(1)
  await harness.store.organizationSettings.setDeploymentSecondPerson(true)
  await addAttester(async (commit) => {
    await commit().catch(() => undefined)
    throw new Error('something after the commit')
  })
  expect([await harness.store.attesters.list(), harness.discardedKeystores]).toEqual([[], []])
})

test('the keystore is kept if the outcome is unknown', async () => {
  await addAttester(() => Promise.reject(UNAVAILABLE))
  expect(harness.discardedKeystores).toEqual([])
})

test('the keystore is deleted if the store refused the transaction', async () => {
  expect(await addAttester(() => Promise.reject(new ConstraintViolatedError('unique')))).toBe(409)
  expect(harness.discardedKeystores).toHaveLength(1)
})
