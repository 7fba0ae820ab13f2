// Organization keys for evidence and secrets, created on first use and wrapped with the deployment's key, which
// isn't in the database. During a rotation (rotate-key.ts), an organization has two keys: the newer encrypts, either
// decrypts.
import { createHash } from 'node:crypto'
import { EvidenceUnreadableError } from './errors.ts'
import { deriveKey, KEY_BYTES, newKey, openBytes, sealBytes } from './sealed-bytes.ts'

export interface WrappedOrganizationKey {
  readonly wrappedKey: Uint8Array
  /** Fingerprint of the deployment's key. */
  readonly wrappedBy: string
}

export interface OrganizationKeyStore {
  find(organizationId: string): Promise<WrappedOrganizationKey | null>
  /** Adds a key if there is none. Returns the stored key; null if new keys require another deployment key. */
  add(organizationId: string, key: WrappedOrganizationKey): Promise<WrappedOrganizationKey | null>
}

export type SecretPurpose = 'evidence data key' | 'webhook secret' | 'trace key'

export interface SealedSecret {
  readonly sealed: Uint8Array
  /** Wrapped key of the organization. The secret can be stored only while this key is in use. */
  readonly sealedUnder: Uint8Array
}

export interface OrganizationKeys {
  /** @param subject owner of the secret; `open` requires the same subject */
  seal(organizationId: string, purpose: SecretPurpose, subject: string, secret: Uint8Array): Promise<SealedSecret>
  /** @throws EvidenceUnreadableError */
  open(organizationId: string, purpose: SecretPurpose, subject: string, sealed: Uint8Array): Promise<Uint8Array>
}

export type DeploymentKeys = () => readonly [Uint8Array, ...Uint8Array[]]

/** Identifies a deployment key by 16 hex digits, which reveal nothing about it. */
export const keyFingerprint = (deploymentKey: Uint8Array): string =>
  createHash('sha256').update('countersign deployment key\n').update(deploymentKey).digest('hex').slice(0, 16)

export const secretContext = (purpose: SecretPurpose, subject: string): string => `countersign ${purpose}\n${subject}`

const contextOf = (organizationId: string): string => `countersign organization key\n${organizationId}`
const wrappingKeyOf = (deploymentKey: Uint8Array): Uint8Array =>
  deriveKey(deploymentKey, 'countersign organization keys')

export const wrapOrganizationKeys = (
  deploymentKey: Uint8Array,
  organizationId: string,
  keys: readonly Uint8Array[],
): WrappedOrganizationKey => ({
  wrappedKey: sealBytes(wrappingKeyOf(deploymentKey), Buffer.concat(keys), contextOf(organizationId)),
  wrappedBy: keyFingerprint(deploymentKey),
})

/**
 * Returns the keys, newer key first. @throws EvidenceUnreadableError if no deployment key unwraps them, or the
 * organization differs
 */
export const unwrapOrganizationKeys = (
  deploymentKeys: readonly Uint8Array[],
  organizationId: string,
  { wrappedKey, wrappedBy }: WrappedOrganizationKey,
): readonly Uint8Array[] => {
  const deploymentKey = deploymentKeys.find((key) => keyFingerprint(key) === wrappedBy)
  if (deploymentKey === undefined)
    throw new EvidenceUnreadableError(new Error(`evidence key ${wrappedBy} is not available on this node`))
  const bytes = openBytes(wrappingKeyOf(deploymentKey), wrappedKey, contextOf(organizationId))
  return Array.from({ length: bytes.length / KEY_BYTES }, (_, at) => bytes.slice(at * KEY_BYTES, (at + 1) * KEY_BYTES))
}

export const openByAny = (keys: readonly Uint8Array[], sealed: Uint8Array, context: string): Uint8Array | null => {
  for (const key of keys) {
    try {
      return openBytes(key, sealed, context)
    } catch (error) {
      if (!(error instanceof EvidenceUnreadableError)) throw error
    }
  }
  return null
}

/** Maximum cached keys. Cached keys need no more protection than the deployment's key, which is also in memory. */
const CACHE_MAX = 1_000

interface HeldKeys {
  readonly keys: readonly Uint8Array[]
  readonly wrappedKey: Uint8Array
}

export const createOrganizationKeys = (input: {
  readonly store: OrganizationKeyStore
  /** Read again for each new organization key, and for keys that no known deployment key unwraps. */
  readonly deploymentKeys: DeploymentKeys
}): OrganizationKeys => {
  const { store, deploymentKeys } = input
  let held = deploymentKeys()
  const known = new Map<string, Promise<HeldKeys>>()

  const add = async (organizationId: string): Promise<WrappedOrganizationKey> => {
    held = deploymentKeys()
    for (const deploymentKey of held) {
      const added = await store.add(organizationId, wrapOrganizationKeys(deploymentKey, organizationId, [newKey()]))
      if (added !== null) return added
    }
    throw new EvidenceUnreadableError(
      new Error('the evidence key was rotated, and the new key is not available on this node'),
    )
  }

  const load = async (organizationId: string): Promise<HeldKeys> => {
    const row = (await store.find(organizationId)) ?? (await add(organizationId))
    if (!held.some((key) => keyFingerprint(key) === row.wrappedBy)) held = deploymentKeys()
    return { keys: unwrapOrganizationKeys(held, organizationId, row), wrappedKey: row.wrappedKey }
  }

  const keysInUse = (organizationId: string): Promise<HeldKeys> => {
    const keys = load(organizationId)
    if (known.size >= CACHE_MAX) known.clear()
    known.set(organizationId, keys)
    // After a failed load, the next caller tries again.
    keys.catch(() => known.delete(organizationId))
    return keys
  }

  return {
    // Reads the key each time, because a secret sealed with a replaced key can't be stored.
    seal: async (organizationId, purpose, subject, secret) => {
      const { keys, wrappedKey } = await keysInUse(organizationId)
      const [key] = keys
      if (key === undefined) throw new EvidenceUnreadableError(new Error('an organization has no key'))
      return { sealed: sealBytes(key, secret, secretContext(purpose, subject)), sealedUnder: wrappedKey }
    },
    open: async (organizationId, purpose, subject, sealed) => {
      const context = secretContext(purpose, subject)
      const cached = await known.get(organizationId)
      const opened =
        (cached === undefined ? null : openByAny(cached.keys, sealed, context)) ??
        openByAny((await keysInUse(organizationId)).keys, sealed, context)
      if (opened === null)
        throw new EvidenceUnreadableError(new Error(`no key of the organization decrypts a ${purpose}`))
      return opened
    },
  }
}
