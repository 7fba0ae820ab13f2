// Another deployment key: every organization gets a new key of its own, wrapped by the new one, and everything that its old
// key had wrapped is wrapped anew. Documents stay as they are: their own keys do not change. One organization is one
// transaction, so what was interrupted goes on where it stopped, and never leaves a key that nothing opens.

import type { SecretPurpose, WrappedOrganizationKey } from './organization-keys.ts'
import { keyFingerprint, organizationKeyContext, secretContext, wrappingKeyOf } from './organization-keys.ts'
import { newKey, openBytes, sealBytes } from './sealed-bytes.ts'
import { evidenceSubject } from './vault.ts'

/** One secret that an organization's key wraps. */
export type WrappedSecret =
  | { readonly kind: 'evidence'; readonly sessionId: string; readonly evidenceId: string; readonly sealed: Uint8Array }
  | { readonly kind: 'webhook'; readonly endpointId: string; readonly sealed: Uint8Array }

export interface KeyRotationStore {
  /** Organizations whose key is wrapped by the deployment key with this fingerprint. */
  organizationsOf(wrappedBy: string): Promise<readonly string[]>
  /** Fingerprints of all deployment keys in use. */
  wrappers(): Promise<readonly string[]>
  /**
   * Exchanges the organization's key and all that it wraps, or nothing. Answers how many secrets were wrapped anew; null
   * when the organization's key is not wrapped by `wrappedBy` any more.
   */
  exchange(
    organizationId: string,
    wrappedBy: string,
    begin: (old: WrappedOrganizationKey) => {
      readonly replacement: WrappedOrganizationKey
      readonly reseal: (secret: WrappedSecret) => Uint8Array
    },
  ): Promise<number | null>
}

export interface KeyRotation {
  readonly organizations: number
  /** Keys of documents and fields, and webhook secrets. */
  readonly secrets: number
}

const subjectOf = (organizationId: string, secret: WrappedSecret): [SecretPurpose, string] =>
  secret.kind === 'webhook'
    ? ['webhook secret', secret.endpointId]
    : ['evidence data key', evidenceSubject({ organizationId, sessionId: secret.sessionId }, secret.evidenceId)]

/**
 * @param progress told after each organization.
 * @throws EvidenceUnreadableError when something stored is not what the old key wrapped: its organization stays as it was.
 */
export const rotateDeploymentKey = async (input: {
  readonly store: KeyRotationStore
  readonly oldKey: Uint8Array
  readonly newKey: Uint8Array
  readonly progress?: (done: KeyRotation) => void
}): Promise<KeyRotation> => {
  const { store, progress = () => undefined } = input
  const oldWrapping = wrappingKeyOf(input.oldKey)
  const newWrapping = wrappingKeyOf(input.newKey)
  const wrappedBy = keyFingerprint(input.newKey)
  let done: KeyRotation = { organizations: 0, secrets: 0 }
  for (const organizationId of await store.organizationsOf(keyFingerprint(input.oldKey))) {
    const secrets = await store.exchange(organizationId, keyFingerprint(input.oldKey), (old) => {
      const context = organizationKeyContext(organizationId)
      const oldOrganizationKey = openBytes(oldWrapping, old.wrappedKey, context)
      const newOrganizationKey = newKey()
      return {
        replacement: { wrappedKey: sealBytes(newWrapping, newOrganizationKey, context), wrappedBy },
        reseal: (secret) => {
          const secretFor = secretContext(...subjectOf(organizationId, secret))
          return sealBytes(newOrganizationKey, openBytes(oldOrganizationKey, secret.sealed, secretFor), secretFor)
        },
      }
    })
    if (secrets === null) continue
    done = { organizations: done.organizations + 1, secrets: done.secrets + secrets }
    progress(done)
  }
  return done
}
