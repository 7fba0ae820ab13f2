// Takeover of a session by another browser.
import { expect, test } from 'bun:test'
import { newIdentifier, newSessionId } from '../../src/domain/identifier.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

describeStores((open) => {
  const temporary = storeOfTest(open)

  test('a decision on another session does not keep a browser from taking over evidence', async () => {
    const { store } = temporary
    const { organizationId } = await seedOrganization(store, 'demo')
    await store.organizationKeys.add(organizationId, { wrappedKey: new Uint8Array(60), wrappedBy: 'a key of tests' })
    const hashOf = (number: number): Uint8Array => new Uint8Array(32).fill(number)
    const begin = async (number: number) => {
      const link = { organizationId, sessionId: newSessionId() }
      const settings = { environment: 'live', checkType: 'kyc', provider: 'manual', actor: 'key:test' } as const
      const none = { walletAddress: null, originUrl: null }
      await store.sessions.register({ ...link, ...settings, ...none, tokenHash: hashOf(number) })
      const document = {
        id: newIdentifier('evidence'),
        kind: 'portrait',
        mediaType: 'image/jpeg',
        byteLength: 10,
        fieldNames: [],
        createdAtSeconds: 1,
        storageName: String(number).padStart(32, '0'),
        wrappedKey: new Uint8Array(60),
        sealedName: null,
        sealedUnder: new Uint8Array(60),
      }
      await store.evidence.addDocument(link, document, 1, 'person')
      await store.sessions.addLink(organizationId, link.sessionId, { hash: hashOf(number + 100), requiresProof: false })
      return { link, takeOver: () => store.portalLinks.bind(link, hashOf(number + 100), hashOf(number + 200)) }
    }
    const rejected = await begin(1)
    for (const to of ['submitted', 'rejected'] as const)
      await store.sessions.changeStatus({ ...rejected.link, to, actor: 'operator:ada' })
    const open = await begin(2)
    expect(await open.takeOver()).toBe(true)
    expect(await store.evidence.list(open.link)).toEqual([])
  })
})
