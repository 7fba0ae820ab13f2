// Another deployment key, while the service runs: every organization gets a new key of its own, wrapped by the new one, and
// everything that its old key had wrapped is wrapped anew. Documents stay as they are: their own keys do not change. Until
// everything is done the organization keeps both keys, so what was interrupted goes on where it stopped and never leaves a
// secret that nothing opens. From the moment an organization has its new key the store takes nothing that the old one sealed.

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

/** One secret that an organization's key wraps. */
export type WrappedSecret =
  | { readonly kind: 'evidence'; readonly sessionId: string; readonly evidenceId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'webhook'; readonly endpointId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'traces'; readonly sealed: Uint8Array }

export interface KeyRotationStore {
  find(organizationId: string): Promise<WrappedOrganizationKey | null>
  /** Organizations whose key is wrapped by another deployment key, or that have two. */
  organizationsToRotate(wrappedBy: string): Promise<readonly string[]>
  /** False when it is not the key that is there. */
  exchangeKey(organizationId: string, old: Uint8Array, replacement: WrappedOrganizationKey): Promise<boolean>
  /** All that an organization's key wraps, a batch at a time. */
  secretBatches(organizationId: string): AsyncIterable<readonly WrappedSecret[]>
  /** Each whose sealed bytes are still the old ones; the others have changed meanwhile. */
  exchangeSecrets(
    organizationId: string,
    exchanges: readonly { readonly secret: WrappedSecret; readonly replacement: Uint8Array }[],
  ): Promise<void>
}

export interface KeyRotation {
  readonly organizations: number
  /** Keys of documents and fields, and webhook secrets. */
  readonly secrets: number
  /** Secrets that no key of their organization opens: they were so before. */
  readonly unreadable: number
}

/** For whoever has read a row with a secret and asks for the key after its organization's old one is gone. */
const SETTLE_MS = 5_000

const subjectOf = (organizationId: string, secret: WrappedSecret): [SecretPurpose, string] => {
  if (secret.kind === 'webhook') return ['webhook secret', secret.endpointId]
  if (secret.kind === 'traces') return ['trace key', organizationId]
  return ['evidence data key', evidenceSubject({ organizationId, sessionId: secret.sessionId }, secret.evidenceId)]
}

/**
 * May be interrupted at any point: called again with the same keys, it goes on.
 * @param wait resolves after that many milliseconds
 * @throws EvidenceUnreadableError when neither deployment key wrapped an organization's
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
    if (key === undefined) throw new Error('an organization without a key')
    return { row, key, before }
  }

  /** One pass. A secret that changes meanwhile is left to the next. */
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
      // One that is not exchanged any more was by another rotation with the same keys.
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
