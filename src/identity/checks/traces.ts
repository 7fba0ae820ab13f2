// Hashes submitted evidence with a key per organization. The database alone reveals no values, and hashes of different
// organizations never match.
import { OrganizationKeyExchangedError } from '../../domain/errors.ts'
import type { OrganizationKeys } from '../evidence/organization-keys.ts'
import { newKey } from '../evidence/sealed-bytes.ts'

export interface TraceKeyStore {
  findKey(organizationId: string): Promise<Uint8Array | null>
  /**
   * @returns the stored key, which may come from another process that stored one first. @throws
   * OrganizationKeyExchangedError
   */
  addKey(organizationId: string, sealed: Uint8Array, sealedUnder: Uint8Array): Promise<Uint8Array>
}

const SEAL_ATTEMPTS = 3

export const createTraces = (input: { readonly store: TraceKeyStore; readonly keys: OrganizationKeys }) => {
  const { store, keys } = input

  const makeKey = async (organizationId: string): Promise<Uint8Array> => {
    for (let attempt = 1; ; attempt++) {
      const { sealed, sealedUnder } = await keys.seal(organizationId, 'trace key', organizationId, newKey())
      try {
        return await store.addKey(organizationId, sealed, sealedUnder)
      } catch (error) {
        if (!(error instanceof OrganizationKeyExchangedError) || attempt === SEAL_ATTEMPTS) throw error
      }
    }
  }

  const digest = async (organizationId: string, text: string): Promise<Buffer> => {
    const sealed = (await store.findKey(organizationId)) ?? (await makeKey(organizationId))
    const key = await keys.open(organizationId, 'trace key', organizationId, sealed)
    return new Bun.CryptoHasher('sha256', key).update(text).digest()
  }

  return {
    /** Returns a value of 32 hex digits. */
    valueOf: async (organizationId: string, kind: string, text: string): Promise<string> =>
      (await digest(organizationId, `${kind}\n${text}`)).toString('hex').slice(0, 32),
    /** XORs a perceptual hash (16 hex digits) with a secret, which preserves Hamming distances. */
    masked: async (organizationId: string, kind: string, hash: string): Promise<string> => {
      const mask = (await digest(organizationId, kind)).readBigUInt64BE()
      return (BigInt(`0x${hash}`) ^ mask).toString(16).padStart(16, '0')
    },
  }
}

export type Traces = ReturnType<typeof createTraces>
