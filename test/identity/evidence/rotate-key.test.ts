// Rotating the deployment's key: everything opens with the new one and nothing with the old one, whatever interrupts it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Session } from '../../../src/domain/session.ts'
import { EvidenceUnreadableError } from '../../../src/identity/evidence/errors.ts'
import { createEvidenceFiles } from '../../../src/identity/evidence/evidence-files.ts'
import { createOrganizationKeys, keyFingerprint } from '../../../src/identity/evidence/organization-keys.ts'
import { type KeyRotationStore, rotateDeploymentKey } from '../../../src/identity/evidence/rotate-key.ts'
import { collect } from '../../../src/identity/evidence/sealed-stream.ts'
import { createVault } from '../../../src/identity/evidence/vault.ts'
import { newWebhookEndpointId } from '../../../src/store/webhook-endpoints.ts'
import { jpeg } from './images.ts'
import { openEvidence, TEST_DEPLOYMENT_KEY } from './support.ts'

const NEW_KEY = new Uint8Array(32).fill(9)
const SECRET = new Uint8Array(24).fill(3)

let parts: Awaited<ReturnType<typeof openEvidence>>
let filled: { readonly organizationId: string; readonly session: Session; readonly endpointId: string }[]

/** An organization with fields, a document and a webhook secret. */
const fill = async (name: string) => {
  const organizationId = await parts.createOrganization(name)
  const session = await parts.session(organizationId)
  await parts.evidence.putFields(session, { fullName: `Ada of ${name}`, birthDate: '1990-01-01', country: 'DE' })
  await parts.add(session, await jpeg(), { fileName: `${name}.jpg` })
  const endpointId = newWebhookEndpointId()
  const sealedSecret = await parts.keys.seal(organizationId, 'webhook secret', endpointId, SECRET)
  await parts.store.webhookEndpoints.add({
    id: endpointId,
    organizationId,
    url: 'https://x.example/hook',
    environment: 'live',
    purpose: 'events',
    sealedSecret,
  })
  return { organizationId, session, endpointId }
}

beforeEach(async () => {
  parts = await openEvidence()
  filled = [await fill('one'), await fill('two'), await fill('three')]
})
afterEach(() => parts.remove())

/** Everything of an organization, opened from what is stored now, as a service that starts with the key would. */
const openAll = async (deploymentKey: Uint8Array, { organizationId, session, endpointId }: (typeof filled)[number]) => {
  const keys = createOrganizationKeys({ store: parts.store.organizationKeys, deploymentKey })
  const vault = createVault({ files: createEvidenceFiles(parts.folder), keys })
  const target = { organizationId, sessionId: session.id }
  const opened: string[] = []
  for (const record of await parts.store.evidence.list(target)) {
    const bytes = await collect(await vault.open(target, record))
    opened.push(record.kind === 'fields' ? JSON.parse(Buffer.from(bytes).toString()).fullName : 'document')
    opened.push(await vault.fileName(target, record))
  }
  const endpoint = await parts.store.webhookEndpoints.find(organizationId, endpointId)
  const secret = await keys.open(
    organizationId,
    'webhook secret',
    endpointId,
    endpoint?.sealedSecret ?? new Uint8Array(),
  )
  expect(secret).toEqual(SECRET)
  return opened.sort()
}

const expected = (name: string): string[] => ['', `${name}.jpg`, `Ada of ${name}`, 'document'].sort()
const NAMES = ['one', 'two', 'three']

const rotate = (store: KeyRotationStore = parts.store.organizationKeys) =>
  rotateDeploymentKey({ store, oldKey: TEST_DEPLOYMENT_KEY, newKey: NEW_KEY })

test('wraps everything of every organization anew, and leaves the files alone', async () => {
  const before = await parts.store.organizationKeys.find(filled[0]!.organizationId)
  expect(await rotate()).toEqual({ organizations: 3, secrets: 9 })
  for (const [index, organization] of filled.entries()) {
    expect(await openAll(NEW_KEY, organization)).toEqual(expected(NAMES[index]!))
    await expect(openAll(TEST_DEPLOYMENT_KEY, organization)).rejects.toBeInstanceOf(EvidenceUnreadableError)
  }
  expect(await parts.store.organizationKeys.wrappers()).toEqual([keyFingerprint(NEW_KEY)])
  expect((await parts.store.organizationKeys.find(filled[0]!.organizationId))?.wrappedKey).not.toEqual(
    before?.wrappedKey,
  )
  expect(await rotate()).toEqual({ organizations: 0, secrets: 0 })
})

test('what the old key of the organization opened is worth nothing with it afterwards', async () => {
  const [one] = filled
  const oldKeys = createOrganizationKeys({ store: parts.store.organizationKeys, deploymentKey: TEST_DEPLOYMENT_KEY })
  // A thief's copy: the organization's key is in its memory.
  await oldKeys.seal(one!.organizationId, 'webhook secret', 'x', SECRET)
  await rotate()
  const endpoint = await parts.store.webhookEndpoints.find(one!.organizationId, one!.endpointId)
  await expect(
    oldKeys.open(one!.organizationId, 'webhook secret', one!.endpointId, endpoint?.sealedSecret ?? new Uint8Array()),
  ).rejects.toBeInstanceOf(EvidenceUnreadableError)
})

test('erased evidence stays erased', async () => {
  await parts.evidence.eraseSession(filled[0]!.session, 'operator:ada')
  expect(await rotate()).toEqual({ organizations: 3, secrets: 7 })
  expect(await openAll(NEW_KEY, filled[0]!)).toEqual([])
})

describe('interrupted', () => {
  test('between two organizations, it goes on with those that are left', async () => {
    const { organizationKeys } = parts.store
    let exchanges = 0
    await expect(
      rotate({
        ...organizationKeys,
        exchange: (...call) => {
          exchanges += 1
          return exchanges === 2 ? Promise.reject(new Error('power cut')) : organizationKeys.exchange(...call)
        },
      }),
    ).rejects.toThrow('power cut')
    expect(await organizationKeys.wrappers()).toHaveLength(2)
    expect(await rotate()).toEqual({ organizations: 2, secrets: 6 })
    for (const [index, organization] of filled.entries()) {
      expect(await openAll(NEW_KEY, organization)).toEqual(expected(NAMES[index]!))
    }
  })

  test('within one, nothing of that organization has changed', async () => {
    const { organizationKeys } = parts.store
    let resealed = 0
    const failing: KeyRotationStore = {
      ...organizationKeys,
      exchange: (organizationId, wrappedBy, begin) =>
        organizationKeys.exchange(organizationId, wrappedBy, (old) => {
          const { replacement, reseal } = begin(old)
          return {
            replacement,
            reseal: (secret) => {
              resealed += 1
              if (resealed === 3) throw new Error('killed')
              return reseal(secret)
            },
          }
        }),
    }
    await expect(rotate(failing)).rejects.toThrow('killed')
    for (const [index, organization] of filled.entries()) {
      expect(await openAll(TEST_DEPLOYMENT_KEY, organization)).toEqual(expected(NAMES[index]!))
    }
  })

  test('by a row that the old key does not open: its organization stays as it was, and it is said', async () => {
    const { database, webhookEndpoints } = parts.store
    const { organizationId, endpointId } = filled[0]!
    await database.execute('UPDATE webhook_endpoints SET sealed_secret = ? WHERE id = ?', [
      new Uint8Array(60),
      endpointId,
    ])
    const before = await parts.store.organizationKeys.find(organizationId)
    // Organizations are taken by id, so some may be done before it.
    await expect(rotate()).rejects.toBeInstanceOf(EvidenceUnreadableError)
    expect(await parts.store.organizationKeys.find(organizationId)).toEqual(before!)
    await webhookEndpoints.remove(organizationId, endpointId)
    await rotate()
    expect(await parts.store.organizationKeys.wrappers()).toEqual([keyFingerprint(NEW_KEY)])
  })
})
