// The database of a trial restore, which signs with live keys: API keys that were revoked after the backup stay invalid.
import { expect, test } from 'bun:test'
import { revokeKeys } from '../../src/store/copy/trial-database.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore, seedOrganization } from '../store/temporary-store.ts'

const temporary = storeOfTest(openTemporaryStore)

test('all API keys of the backup are revoked', async () => {
  const { store, path } = temporary
  const { organizationId } = await seedOrganization(store, 'demo')
  const { record: key } = await store.apiKeys.issue({
    organizationId,
    kind: 'attestation',
    environment: 'live',
    expiresAtSeconds: null,
    rateLimit: null,
    name: 'backend',
  })
  expect((await store.apiKeys.find(organizationId, key.keyId))?.revokedAtSeconds).toBeNull()
  revokeKeys(path)
  expect((await store.apiKeys.find(organizationId, key.keyId))?.revokedAtSeconds).not.toBeNull()
})
