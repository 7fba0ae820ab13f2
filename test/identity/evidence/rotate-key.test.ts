// Rotation of the deployment key beside a running service: all secrets open at any time, even after an interruption,
// and with only the new key at the end.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { OrganizationKeyExchangedError } from '../../../src/domain/errors.ts'
import type { Session } from '../../../src/domain/session.ts'
import { createTraces } from '../../../src/identity/checks/traces.ts'
import { EvidenceUnreadableError } from '../../../src/identity/evidence/errors.ts'
import { createEvidence } from '../../../src/identity/evidence/evidence.ts'
import { createEvidenceFiles } from '../../../src/identity/evidence/evidence-files.ts'
import { createOrganizationKeys, keyFingerprint } from '../../../src/identity/evidence/organization-keys.ts'
import { checkPdf } from '../../../src/identity/evidence/pdf-check.ts'
import { type KeyRotationStore, rotateDeploymentKey } from '../../../src/identity/evidence/rotate-key.ts'
import { collect } from '../../../src/identity/evidence/sealed-stream.ts'
import { createVault } from '../../../src/identity/evidence/vault.ts'
import { newWebhookEndpointId } from '../../../src/store/webhooks/webhook-endpoints.ts'
import { jpeg, streamOf } from './images.ts'
import { openEvidence, TEST_DEPLOYMENT_KEY, UNCHANGED } from './support.ts'

const NEW_KEY = new Uint8Array(32).fill(9)
const SECRET = new Uint8Array(24).fill(3)
const BOTH = [NEW_KEY, TEST_DEPLOYMENT_KEY] as const

interface Filled {
  readonly name: string
  readonly organizationId: string
  readonly session: Session
  readonly endpointId: string
}

let parts: Awaited<ReturnType<typeof openEvidence>>
let filled: Filled[]

/** Creates an organization with fields, a document and a webhook secret, all sealed with the old key. */
const fill = async (name: string): Promise<Filled> => {
  const organizationId = await parts.createOrganization(name)
  const session = await parts.session(organizationId)
  await parts.evidence.putFields(session, { fullName: `Ada of ${name}`, birthDate: '1990-01-01', country: 'DE' })
  await parts.add(session, await jpeg(), { fileName: `${name}.jpg` })
  const endpointId = newWebhookEndpointId()
  const { sealed } = await parts.keys.seal(organizationId, 'webhook secret', endpointId, SECRET)
  await parts.store.webhookEndpoints.add({
    id: endpointId,
    organizationId,
    url: 'https://x.example/hook',
    environment: 'live',
    purpose: 'events',
    sealedSecret: sealed,
  })
  return { name, organizationId, session, endpointId }
}

beforeEach(async () => {
  parts = await openEvidence()
  filled = [await fill('one'), await fill('two'), await fill('three')]
})
afterEach(() => parts.remove())

const keysWith = (...deploymentKeys: readonly [Uint8Array, ...Uint8Array[]]) =>
  createOrganizationKeys({ store: parts.store.organizationKeys, deploymentKeys: () => deploymentKeys })

/** A service that uses the stored data. */
const serviceWith = (keys: ReturnType<typeof keysWith>, store = parts.store.evidence) =>
  createEvidence({
    store,
    findSession: parts.store.sessions.find,
    reencoder: UNCHANGED,
    pdfChecker: { check: (pdf) => checkPdf(pdf) },
    clock: parts.clock,
    changed: () => undefined,
    onError: () => undefined,
    vault: createVault({ files: createEvidenceFiles(parts.folder), keys }),
  })

/** Opens all secrets of an organization from the store. */
const openAll = async (keys: ReturnType<typeof keysWith>, { organizationId, session, endpointId }: Filled) => {
  const vault = createVault({ files: createEvidenceFiles(parts.folder), keys })
  const target = { organizationId, sessionId: session.id }
  const opened: string[] = []
  for (const record of await parts.store.evidence.list(target)) {
    const bytes = await collect(await vault.open(target, record))
    opened.push(record.kind === 'fields' ? JSON.parse(Buffer.from(bytes).toString()).fullName : 'document')
    opened.push(await vault.fileName(target, record))
  }
  const endpoint = await parts.store.webhookEndpoints.find(organizationId, endpointId)
  const sealed = endpoint?.sealedSecret ?? new Uint8Array()
  expect(await keys.open(organizationId, 'webhook secret', endpointId, sealed)).toEqual(SECRET)
  return opened.sort()
}

const expectAllOpen = async (keys: ReturnType<typeof keysWith>, fullName = 'Ada'): Promise<void> => {
  for (const organization of filled) {
    const { name } = organization
    const expected = ['', `${name}.jpg`, `${fullName} of ${name}`, 'document'].sort()
    expect(await openAll(keys, organization)).toEqual(expected)
  }
}

const exchange = (
  oldKey: Uint8Array,
  newKey: Uint8Array,
  store: KeyRotationStore = parts.store.organizationKeys,
  wait = async () => undefined,
) => rotateDeploymentKey({ store, oldKey, newKey, wait })
const rotate = (store?: KeyRotationStore, wait?: () => Promise<undefined>) =>
  exchange(TEST_DEPLOYMENT_KEY, NEW_KEY, store, wait)

test('wraps all secrets of all organizations again, and the old key opens none', async () => {
  // A copy of the old keys, with the organization's key in memory.
  const oldKeys = keysWith(TEST_DEPLOYMENT_KEY)
  await oldKeys.seal(filled[0]!.organizationId, 'webhook secret', 'x', SECRET)
  const before = await parts.store.organizationKeys.find(filled[0]!.organizationId)
  expect(await rotate()).toEqual({ organizations: 3, secrets: 9, unreadable: 0 })
  await expectAllOpen(keysWith(NEW_KEY))
  await expect(openAll(oldKeys, filled[0]!)).rejects.toBeInstanceOf(EvidenceUnreadableError)
  for (const organization of filled) {
    await expect(openAll(keysWith(TEST_DEPLOYMENT_KEY), organization)).rejects.toBeInstanceOf(EvidenceUnreadableError)
    const row = await parts.store.organizationKeys.find(organization.organizationId)
    expect([row?.wrappedBy, row?.wrappedKey.length]).toEqual([keyFingerprint(NEW_KEY), before?.wrappedKey.length])
  }
  expect(await rotate()).toEqual({ organizations: 0, secrets: 0, unreadable: 0 })
})

test('keeps the values of traces', async () => {
  const tracesWith = (keys: ReturnType<typeof keysWith>) => createTraces({ keys, store: parts.store.sessionTraces })
  const { organizationId } = filled[0]!
  const before = await tracesWith(parts.keys).valueOf(organizationId, 'document.number', 'L898902C3')
  expect(await rotate()).toMatchObject({ organizations: 3, secrets: 10, unreadable: 0 })
  expect(await tracesWith(keysWith(NEW_KEY)).valueOf(organizationId, 'document.number', 'L898902C3')).toBe(before)
  expect(await tracesWith(keysWith(NEW_KEY)).valueOf(organizationId, 'person.name', 'L898902C3')).not.toBe(before)
})

test('keeps erased evidence erased', async () => {
  await parts.evidence.eraseSession(filled[0]!.session, 'operator:ada')
  expect(await rotate()).toMatchObject({ organizations: 3, secrets: 7 })
  expect(await openAll(keysWith(NEW_KEY), filled[0]!)).toEqual([])
})

test('wraps more documents than one batch', async () => {
  const { organizationId, session } = filled[0]!
  const { sealed } = await parts.keys.seal(organizationId, 'evidence data key', 'any', new Uint8Array(32))
  for (let at = 0; at < 450; at++) {
    await parts.store.database.execute(
      `INSERT INTO session_evidence (organization_id, session_id, id, kind, media_type, byte_length, created_at_seconds,
         storage_name, wrapped_key, field_names) VALUES (?, ?, ?, 'portrait', 'image/jpeg', 1, 1, ?, ?, '')`,
      [organizationId, session.id, `evidence_${String(at).padStart(4, '0')}`, `${at}`, sealed],
    )
  }
  // Sealed for another purpose, so each is counted as unreadable.
  expect(await rotate()).toEqual({ organizations: 3, secrets: 9, unreadable: 450 })
})

describe('beside a running service', () => {
  test('evidence that was sealed with the old key is sealed again before it is stored', async () => {
    const { organizationId, session } = filled[0]!
    const keys = keysWith(...BOTH)
    const vault = createVault({ files: createEvidenceFiles(parts.folder), keys })
    const target = { organizationId, sessionId: session.id }
    const record = await vault.put(target, {
      kind: 'portrait',
      mediaType: 'image/jpeg',
      bytes: await jpeg(),
      fileName: 'late.jpg',
      fieldNames: [],
      createdAtSeconds: 1,
    })
    await rotate()
    await expect(parts.store.evidence.addDocument(target, record, 3, 'person')).rejects.toBeInstanceOf(
      OrganizationKeyExchangedError,
    )

    // A whole rotation happens between sealing and storing.
    let exchanged = false
    const evidence = serviceWith(keys, {
      ...parts.store.evidence,
      addDocument: async (...call) => {
        if (!exchanged) {
          exchanged = true
          await exchange(NEW_KEY, TEST_DEPLOYMENT_KEY)
        }
        return parts.store.evidence.addDocument(...call)
      },
    })
    const upload = { kind: 'portrait', fileName: 'late.jpg', declaredType: '', address: '' } as const
    await evidence.addDocument(session, { ...upload, stream: streamOf(await jpeg()) })
    expect(exchanged).toBe(true)
    expect(await openAll(keysWith(TEST_DEPLOYMENT_KEY), filled[0]!)).toContain('late.jpg')
    // Fields and a document of each organization, the record above, and this upload; the refused one left no file.
    expect(parts.fileNames()).toHaveLength(8)
  })

  test('a row that was read before the exchange opens until the organization has only one key again', async () => {
    const { organizationId, endpointId } = filled[0]!
    const stale = await parts.store.webhookEndpoints.find(organizationId, endpointId)
    const open = (keys: ReturnType<typeof keysWith>) =>
      keys.open(organizationId, 'webhook secret', endpointId, stale?.sealedSecret ?? new Uint8Array())
    let opened: Uint8Array | undefined
    await rotate(parts.store.organizationKeys, async () => {
      opened = await open(keysWith(...BOTH))
    })
    expect(opened).toEqual(SECRET)
    await expect(open(keysWith(...BOTH))).rejects.toBeInstanceOf(EvidenceUnreadableError)
  })

  test('a webhook secret that is replaced during the rotation is kept', async () => {
    const { organizationId, endpointId } = filled[0]!
    const keys = keysWith(...BOTH)
    const { organizationKeys, webhookEndpoints } = parts.store
    const newer = new Uint8Array(24).fill(4)
    let done = false
    await rotate({
      ...organizationKeys,
      exchangeSecrets: async (organization, exchanges) => {
        // Between the read and the write of the rotation.
        if (organization === organizationId && !done) {
          done = true
          const { sealed } = await keys.seal(organizationId, 'webhook secret', endpointId, newer)
          await webhookEndpoints.rotateSecret({
            organizationId,
            id: endpointId,
            sealedSecret: sealed,
            previousUntilSeconds: 9_999_999_999,
          })
        }
        await organizationKeys.exchangeSecrets(organization, exchanges)
      },
    })
    expect(done).toBe(true)
    const endpoint = await webhookEndpoints.find(organizationId, endpointId)
    const secrets = [endpoint?.sealedSecret, endpoint?.previousSealedSecret].map((sealed) =>
      keysWith(NEW_KEY).open(organizationId, 'webhook secret', endpointId, sealed ?? new Uint8Array()),
    )
    expect(await Promise.all(secrets)).toEqual([newer, SECRET])
  })
})

describe('a rotation that is interrupted', () => {
  /** The store, whose write number `at` fails: before or after it. */
  const failingAt = (at: number, after: boolean): KeyRotationStore & { readonly writes: () => number } => {
    const { organizationKeys } = parts.store
    let writes = 0
    const guarded = async <Result>(write: () => Promise<Result>): Promise<Result> => {
      writes += 1
      if (writes !== at) return write()
      if (after) await write()
      throw new Error('power cut')
    }
    return {
      ...organizationKeys,
      exchangeKey: (...call) => guarded(() => organizationKeys.exchangeKey(...call)),
      exchangeSecrets: (...call) => guarded(() => organizationKeys.exchangeSecrets(...call)),
      writes: () => writes,
    }
  }

  // For each of three organizations: the exchange of the key, webhooks, documents and fields, and the end of the old
  // key.
  const WRITES = 3 * 4

  test(`makes ${WRITES} writes`, async () => {
    const store = failingAt(0, false)
    await rotate(store)
    expect(store.writes()).toBe(WRITES)
  })

  const writes = Array.from({ length: WRITES }, (_, index) => index + 1)
  test.each(writes.flatMap((at) => [['before', at] as const, ['after', at] as const]))(
    '%s write %d leaves all secrets readable, accepts new ones, and can be resumed',
    async (when, at) => {
      const running = keysWith(...BOTH)
      await expectAllOpen(running)
      await expect(rotate(failingAt(at, when === 'after'))).rejects.toThrow('power cut')
      await expectAllOpen(running)
      await expectAllOpen(keysWith(...BOTH))
      for (const { name, session } of filled) {
        await serviceWith(running).putFields(session, { fullName: `Grace of ${name}` })
      }
      await rotate()
      for (const keys of [running, keysWith(NEW_KEY)]) await expectAllOpen(keys, 'Grace')
      expect(await parts.store.organizationKeys.organizationsToRotate(keyFingerprint(NEW_KEY))).toEqual([])
    },
  )

  test('and followed by a third key loses nothing', async () => {
    await expect(rotate(failingAt(3, false))).rejects.toThrow('power cut')
    const third = new Uint8Array(32).fill(5)
    // Neither key of the second rotation wrapped the finished organizations.
    await expect(exchange(TEST_DEPLOYMENT_KEY, third)).rejects.toBeInstanceOf(EvidenceUnreadableError)
    await expectAllOpen(keysWith(third, ...BOTH))
  })
})

test('counts a row that no key opens, and continues', async () => {
  await parts.store.database.execute('UPDATE webhook_endpoints SET sealed_secret = ? WHERE id = ?', [
    new Uint8Array(60),
    filled[0]!.endpointId,
  ])
  expect(await rotate()).toEqual({ organizations: 3, secrets: 8, unreadable: 1 })
})
