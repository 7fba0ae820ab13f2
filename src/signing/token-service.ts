// Attester keys in a hardware token, as operations and commands use them. A module provides the service.
import { serviceKey } from '../lib/service-key.ts'
import type { KeystoreReference } from './types.ts'

export interface TokenKeyReference {
  readonly kind: KeystoreReference['kind']
  /** PKCS#11 URI: see token-key.ts. */
  readonly key: string
  /** The address that the key must have; null: any, to learn it. */
  readonly address: string | null
}

/** The result for one key: its address, or why it can't be used. */
export type TokenFinding =
  | { readonly ok: true; readonly address: string; readonly isExtractable: boolean }
  | { readonly ok: false; readonly name: string; readonly detail: string }

/** Lets each key sign once. Findings are in the order of the keys; failures of the token are findings, too. */
export type AskToken = (keys: readonly TokenKeyReference[]) => Promise<readonly TokenFinding[]>

/** Where the hash of a PIN that the token refused is kept. */
export const refusedPinFile = (loginFile: string): string => `${loginFile}.refused`

export const ASK_TOKEN = serviceKey<AskToken>('hardware token')
