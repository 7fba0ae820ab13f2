import { serviceKey } from '../lib/service-key.ts'
import type { KeystoreReference } from './types.ts'

export interface TokenKeyReference {
  readonly kind: KeystoreReference['kind']
  /** PKCS#11 URI: see token-key.ts. */
  readonly key: string
  /** Required address of the key; null accepts any. */
  readonly address: string | null
}

/** The address, or the reason why the key cannot be used. */
export type TokenFinding =
  | { readonly ok: true; readonly address: string; readonly isExtractable: boolean }
  | { readonly ok: false; readonly name: string; readonly detail: string }

/** Makes each key sign once. Findings are in the order of the keys and include failures of the token. */
export type AskToken = (keys: readonly TokenKeyReference[]) => Promise<readonly TokenFinding[]>

/** Returns the path of the file with the hash of a PIN that the token rejected. */
export const refusedPinFile = (loginFile: string): string => `${loginFile}.refused`

export const ASK_TOKEN = serviceKey<AskToken>('hardware token')
