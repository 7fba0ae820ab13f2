// Rotation of the deployment key while secrets are sealed and stored, in both databases.
import { expect, test } from 'bun:test'
import { OrganizationKeyExchangedError } from '../../src/domain/errors.ts'
import { createOrganizationKeys, keyFingerprint } from '../../src/identity/evidence/organization-keys.ts'
import { rotateDeploymentKey } from '../../src/identity/evidence/rotate-key.ts'
import { EVIDENCE_KEY_CLAIM } from '../../src/store/organizations/organization-keys.ts'
import { newWebhookEndpointId } from '../../src/store/webhooks/webhook-endpoints.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'

const [OLD, NEW] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const SECRET = new Uint8Array(24).fill(3)

describeStores((open) => {
  const temporary = storeOfTest(open)

  test('a rotation keeps every secret that is stored while it runs', async () => {
    const { store } = temporary
    const { id: organizationId } = await store.organizations.create({ slug: 'acme', name: 'Acme' })
    const keys = createOrganizationKeys({ store: store.organizationKeys, deploymentKeys: () => [NEW, OLD] })
    const withOldKey = createOrganizationKeys({ store: store.organizationKeys, deploymentKeys: () => [OLD] })
    let refused = 0
    const add = async (by = keys): Promise<void> => {
      const id = newWebhookEndpointId()
      const { sealed, sealedUnder } = await by.seal(organizationId, 'webhook secret', id, SECRET)
      try {
        await store.transaction(async (tables) => {
          await tables.organizationKeys.requireInUse(organizationId, sealedUnder)
          await tables.webhookEndpoints.add({
            id,
            organizationId,
            url: 'https://x.example/',
            environment: 'live',
            purpose: 'events',
            sealedSecret: sealed,
          })
        })
      } catch (error) {
        if (!(error instanceof OrganizationKeyExchangedError)) throw error
        refused += 1
        await add(by)
      }
    }
    for (let at = 0; at < 5; at++) await add(withOldKey)
    // The current and the previous secret of a verification service.
    const [decider] = await store.webhookEndpoints.list(organizationId)
    const deciderId = decider?.id ?? ''
    await store.database.execute("UPDATE webhook_endpoints SET purpose = 'decisions' WHERE id = ?", [deciderId])
    for (let at = 0; at < 2; at++) {
      const { sealed: sealedSecret } = await withOldKey.seal(organizationId, 'webhook secret', deciderId, SECRET)
      const service = { organizationId, id: deciderId, service: 'veriff', sealedSecret, previousUntilSeconds: 9 }
      expect(await store.webhookEndpoints.setService(service)).toBe(true)
    }
    let rotating = true
    const adding = (async () => {
      // An organization has at most 20 endpoints.
      for (let at = 0; at < 15 && (rotating || at < 5); at++) await add()
    })()
    await rotateDeploymentKey({ store: store.organizationKeys, oldKey: OLD, newKey: NEW, wait: async () => undefined })
    rotating = false
    await adding
    expect(refused).toBeLessThanOrEqual(2)
    expect(await store.organizationKeys.wrappers()).toEqual([keyFingerprint(NEW)])
    const alone = createOrganizationKeys({ store: store.organizationKeys, deploymentKeys: () => [NEW] })
    const endpoints = await store.webhookEndpoints.list(organizationId)
    expect(endpoints.length).toBeGreaterThanOrEqual(10)
    for (const { id, sealedSecret } of endpoints) {
      expect(await alone.open(organizationId, 'webhook secret', id, sealedSecret)).toEqual(SECRET)
    }
    const kept = await store.webhookEndpoints.find(organizationId, deciderId)
    for (const sealed of [kept?.sealedServiceSecret, kept?.previousSealedServiceSecret]) {
      expect(await alone.open(organizationId, 'webhook secret', deciderId, sealed ?? new Uint8Array())).toEqual(SECRET)
    }
  })

  test('the key of a new organization is wrapped only with the next deployment key', async () => {
    const { store } = temporary
    const { id } = await store.organizations.create({ slug: 'acme', name: 'Acme' })
    await store.deployment.replace(EVIDENCE_KEY_CLAIM, keyFingerprint(NEW))
    const late = createOrganizationKeys({ store: store.organizationKeys, deploymentKeys: () => [OLD] })
    await expect(late.seal(id, 'webhook secret', 'x', SECRET)).rejects.toThrow('could not read')
    // After a restart, the process has both keys and uses the next one.
    const both = createOrganizationKeys({ store: store.organizationKeys, deploymentKeys: () => [OLD, NEW] })
    await both.seal(id, 'webhook secret', 'x', SECRET)
    expect(await store.organizationKeys.wrappers()).toEqual([keyFingerprint(NEW)])
  })
})
