// Rotates the deployment's key while the service runs. Each organization gets a new key, and its secrets are rewrapped.
// An organization keeps both keys until the rotation ends, so that an interrupted rotation can continue. Once an
// organization has its new key, the store rejects secrets sealed with the old one.

import {
  keyFingerprint,
  openByAny,
  type SecretPurpose,
  secretContext,
  unwrapOrganizationKeys,
  type WrappedOrganizationKey,
  wrapOrganizationKeys,
} from './organization-keys.ts'
import { newKey, sealBytes } from './sealed-bytes.ts'
import { evidenceSubject } from './vault.ts'

export type WrappedSecret =
  | { readonly kind: 'evidence'; readonly sessionId: string; readonly evidenceId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'webhook'; readonly endpointId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'traces'; readonly sealed: Uint8Array }

export interface KeyRotationStore {
  find(organizationId: string): Promise<WrappedOrganizationKey | null>
  /** Returns organizations with two keys, or a key under another deployment key. */
  organizationsToRotate(wrappedBy: string): Promise<readonly string[]>
  /** Returns false if the stored key isn't `old`. */
  exchangeKey(organizationId: string, old: Uint8Array, replacement: WrappedOrganizationKey): Promise<boolean>
  secretBatches(organizationId: string): AsyncIterable<readonly WrappedSecret[]>
  exchangeSecrets(
    organizationId: string,
    exchanges: readonly { readonly secret: WrappedSecret; readonly replacement: Uint8Array }[],
  ): Promise<void>
}

export interface KeyRotation {
  readonly organizations: number
  readonly secrets: number
  /** Secrets that no key of their organization opens. */
  readonly unreadable: number
}

/** Delay before the old key is removed, so that callers that have already read a sealed secret can open it. */
const SETTLE_MS = 5_000

const subjectOf = (organizationId: string, secret: WrappedSecret): [SecretPurpose, string] => {
  if (secret.kind === 'webhook') return ['webhook secret', secret.endpointId]
  if (secret.kind === 'traces') return ['trace key', organizationId]
  return ['evidence data key', evidenceSubject({ organizationId, sessionId: secret.sessionId }, secret.evidenceId)]
}

/**
 * Rotates the key. To continue after an interruption, call it again with the same keys. @throws EvidenceUnreadableError
 * if neither deployment key wrapped an organization's key
 */
export const rotateDeploymentKey = async (input: {
  readonly store: KeyRotationStore
  readonly oldKey: Uint8Array
  readonly newKey: Uint8Array
  readonly wait: (milliseconds: number) => Promise<void>
}): Promise<KeyRotation> => {
  const { store, oldKey, newKey: deploymentKey, wait } = input
  const wrappedBy = keyFingerprint(deploymentKey)
  let [secrets, unreadable] = [0, 0]

  const read = async (organizationId: string) => {
    const row = await store.find(organizationId)
    if (row === null) throw new Error('an organization lost its key')
    const [key, ...before] = unwrapOrganizationKeys([deploymentKey, oldKey], organizationId, row)
    if (key === undefined) throw new Error('an organization has no key')
    return { row, key, before }
  }

  /** One pass over the secrets. A secret that changes meanwhile is left for the next pass. */
  const reseal = async (organizationId: string, key: Uint8Array, before: readonly Uint8Array[]) => {
    let [found, lost] = [0, 0]
    for await (const batch of store.secretBatches(organizationId)) {
      const exchanges = batch.flatMap((secret) => {
        const context = secretContext(...subjectOf(organizationId, secret))
        if (openByAny([key], secret.sealed, context) !== null) return []
        const opened = openByAny(before, secret.sealed, context)
        if (opened === null) lost += 1
        return opened === null ? [] : [{ secret, replacement: sealBytes(key, opened, context) }]
      })
      if (exchanges.length > 0) await store.exchangeSecrets(organizationId, exchanges)
      found += exchanges.length
    }
    return { found, lost }
  }

  const rotate = async (organizationId: string): Promise<void> => {
    for (;;) {
      const { row, key, before } = await read(organizationId)
      if (before.length > 0) {
        let pass = await reseal(organizationId, key, before)
        for (; pass.found > 0; pass = await reseal(organizationId, key, before)) secrets += pass.found
        unreadable += pass.lost
      }
      if (row.wrappedBy === wrappedBy) return
      // Only a rotation with the same keys can have replaced the key already.
      const both = wrapOrganizationKeys(deploymentKey, organizationId, [newKey(), key])
      await store.exchangeKey(organizationId, row.wrappedKey, both)
    }
  }

  const organizations = await store.organizationsToRotate(wrappedBy)
  for (const organizationId of organizations) await rotate(organizationId)
  if (organizations.length > 0) await wait(SETTLE_MS)
  for (const organizationId of organizations) {
    const { row, key, before } = await read(organizationId)
    if (before.length === 0) continue
    const alone = wrapOrganizationKeys(deploymentKey, organizationId, [key])
    await store.exchangeKey(organizationId, row.wrappedKey, alone)
  }
  return { organizations: organizations.length, secrets, unreadable }
}
