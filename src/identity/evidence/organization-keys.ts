// The keys that keep organizations' evidence and secrets apart: one each, made when first needed, stored wrapped by the
// deployment's key, which is no part of the database. A copy of the database alone opens nothing.
import { createHash } from 'node:crypto'
import { deriveKey, newKey, openBytes, sealBytes } from './sealed-bytes.ts'

export interface WrappedOrganizationKey {
  readonly wrappedKey: Uint8Array
  /** Fingerprint of the deployment's key. */
  readonly wrappedBy: string
}

export interface OrganizationKeyStore {
  find(organizationId: string): Promise<WrappedOrganizationKey | null>
  /** Keeps the one that is there, if another was faster; answers the one that counts. */
  add(organizationId: string, key: WrappedOrganizationKey): Promise<WrappedOrganizationKey>
}

export type SecretPurpose = 'evidence data key' | 'webhook secret'

export interface OrganizationKeys {
  /** `subject` names the one thing that the secret is for: it opens for nothing else. */
  seal(organizationId: string, purpose: SecretPurpose, subject: string, secret: Uint8Array): Promise<Uint8Array>
  /** @throws EvidenceUnreadableError */
  open(organizationId: string, purpose: SecretPurpose, subject: string, sealed: Uint8Array): Promise<Uint8Array>
}

/** Tells deployment keys apart without telling anything of them: 16 hex digits. */
export const keyFingerprint = (deploymentKey: Uint8Array): string =>
  createHash('sha256').update('countersign deployment key\n').update(deploymentKey).digest('hex').slice(0, 16)

/** What an organization's key is sealed for. */
export const organizationKeyContext = (organizationId: string): string =>
  `countersign organization key\n${organizationId}`

/** What a secret is sealed for by its organization's key. */
export const secretContext = (purpose: SecretPurpose, subject: string): string => `countersign ${purpose}\n${subject}`

/** Wraps organizations' keys. */
export const wrappingKeyOf = (deploymentKey: Uint8Array): Uint8Array =>
  deriveKey(deploymentKey, 'countersign organization keys')

/** Unwrapped keys kept: as secret as the deployment's key beside them. */
const CACHE_MAX = 1_000

export const createOrganizationKeys = (input: {
  readonly store: OrganizationKeyStore
  /** 32 bytes. */
  readonly deploymentKey: Uint8Array
}): OrganizationKeys => {
  const { store, deploymentKey } = input
  const wrappingKey = wrappingKeyOf(deploymentKey)
  const wrappedBy = keyFingerprint(deploymentKey)
  const known = new Map<string, Promise<Uint8Array>>()

  const load = async (organizationId: string): Promise<Uint8Array> => {
    const found =
      (await store.find(organizationId)) ??
      (await store.add(organizationId, {
        wrappedKey: sealBytes(wrappingKey, newKey(), organizationKeyContext(organizationId)),
        wrappedBy,
      }))
    return openBytes(wrappingKey, found.wrappedKey, organizationKeyContext(organizationId))
  }

  const keyOf = (organizationId: string): Promise<Uint8Array> => {
    let key = known.get(organizationId)
    if (key === undefined) {
      key = load(organizationId)
      if (known.size >= CACHE_MAX) known.clear()
      known.set(organizationId, key)
      // A failed load is tried again by the next caller; this one hears of it.
      key.catch(() => known.delete(organizationId))
    }
    return key
  }

  return {
    seal: async (organizationId, purpose, subject, secret) =>
      sealBytes(await keyOf(organizationId), secret, secretContext(purpose, subject)),
    open: async (organizationId, purpose, subject, sealed) =>
      openBytes(await keyOf(organizationId), sealed, secretContext(purpose, subject)),
  }
}
