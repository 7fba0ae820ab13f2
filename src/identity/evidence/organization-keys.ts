// The keys that keep organizations' evidence and secrets apart: one each, made when first needed, stored wrapped by the
// deployment's key, which is no part of the database. A copy of the database alone opens nothing. While a key is exchanged
// (rotate-key.ts) an organization has two: the newer seals, either opens.
import { createHash } from 'node:crypto'
import { EvidenceUnreadableError } from './errors.ts'
import { deriveKey, KEY_BYTES, newKey, openBytes, sealBytes } from './sealed-bytes.ts'

export interface WrappedOrganizationKey {
  /** One key, or two while they are exchanged, the newer first. */
  readonly wrappedKey: Uint8Array
  /** Fingerprint of the deployment's key. */
  readonly wrappedBy: string
}

export interface OrganizationKeyStore {
  find(organizationId: string): Promise<WrappedOrganizationKey | null>
  /**
   * Keeps the one that is there, if another was faster; answers the one that counts. Null when new keys are to be wrapped by
   * another of the deployment's keys.
   */
  add(organizationId: string, key: WrappedOrganizationKey): Promise<WrappedOrganizationKey | null>
}

export type SecretPurpose = 'evidence data key' | 'webhook secret' | 'trace key'

export interface SealedSecret {
  readonly sealed: Uint8Array
  /** The organization's wrapped key: the secret may be stored for as long as this is the one in use. */
  readonly sealedUnder: Uint8Array
}

export interface OrganizationKeys {
  /** `subject` names the one thing that the secret is for: it opens for nothing else. */
  seal(organizationId: string, purpose: SecretPurpose, subject: string, secret: Uint8Array): Promise<SealedSecret>
  /** @throws EvidenceUnreadableError */
  open(organizationId: string, purpose: SecretPurpose, subject: string, sealed: Uint8Array): Promise<Uint8Array>
}

/** The deployment's keys as they are now, the newest first: two while they are exchanged. */
export type DeploymentKeys = () => readonly [Uint8Array, ...Uint8Array[]]

/** Tells deployment keys apart without telling anything of them: 16 hex digits. */
export const keyFingerprint = (deploymentKey: Uint8Array): string =>
  createHash('sha256').update('countersign deployment key\n').update(deploymentKey).digest('hex').slice(0, 16)

/** What a secret is sealed for by its organization's key. */
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
 * An organization's keys, the newer first.
 * @throws EvidenceUnreadableError when none of the deployment's keys wrapped them, or another organization's row is shown
 */
export const unwrapOrganizationKeys = (
  deploymentKeys: readonly Uint8Array[],
  organizationId: string,
  { wrappedKey, wrappedBy }: WrappedOrganizationKey,
): readonly Uint8Array[] => {
  const deploymentKey = deploymentKeys.find((key) => keyFingerprint(key) === wrappedBy)
  if (deploymentKey === undefined) throw new EvidenceUnreadableError(new Error(`no evidence key here is ${wrappedBy}`))
  const bytes = openBytes(wrappingKeyOf(deploymentKey), wrappedKey, contextOf(organizationId))
  return Array.from({ length: bytes.length / KEY_BYTES }, (_, at) => bytes.slice(at * KEY_BYTES, (at + 1) * KEY_BYTES))
}

/** By the first of the keys that opens it; null: none does. */
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

/** Unwrapped keys kept: as secret as the deployment's key beside them. */
const CACHE_MAX = 1_000

interface HeldKeys {
  readonly keys: readonly Uint8Array[]
  readonly wrappedKey: Uint8Array
}

export const createOrganizationKeys = (input: {
  readonly store: OrganizationKeyStore
  /** Asked again for each organization's key that the ones held do not open, and for each new one. */
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
    throw new EvidenceUnreadableError(new Error('the evidence key was exchanged, and the new one is not here'))
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
    // A failed load is tried again by the next caller; this one hears of it.
    keys.catch(() => known.delete(organizationId))
    return keys
  }

  return {
    // Asks the store each time: what is sealed by a key that was exchanged meanwhile could not be stored.
    seal: async (organizationId, purpose, subject, secret) => {
      const { keys, wrappedKey } = await keysInUse(organizationId)
      const [key] = keys
      if (key === undefined) throw new EvidenceUnreadableError(new Error('an organization without a key'))
      return { sealed: sealBytes(key, secret, secretContext(purpose, subject)), sealedUnder: wrappedKey }
    },
    open: async (organizationId, purpose, subject, sealed) => {
      const context = secretContext(purpose, subject)
      const cached = await known.get(organizationId)
      const opened =
        (cached === undefined ? null : openByAny(cached.keys, sealed, context)) ??
        openByAny((await keysInUse(organizationId)).keys, sealed, context)
      if (opened === null) throw new EvidenceUnreadableError(new Error(`no key of the organization opens a ${purpose}`))
      return opened
    },
  }
}
