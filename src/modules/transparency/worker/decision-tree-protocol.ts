// The messages between the service and the process that makes the decision log's tree.

import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'
import type { AuditHead } from '../../../store/audit.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import type { CosigningState } from './cosigning.ts'

/** The input on standard input: secrets belong neither in an argument nor in the environment. */
export interface TreeInput {
  /** Folder of the node's decision log. */
  readonly directory: string
  readonly tree: StoreTarget
  /** Hex. */
  readonly saltKey: string
  /** Verifier key of the log. */
  readonly key: string
  readonly keystorePath: string
  /** Passphrases that may open the keystore, the newest first. */
  readonly passphrases: readonly string[]
  /** File that holds the newest head in addition to the tables. */
  readonly headFile: string
  /** The same for the newest head of the audit log. */
  readonly auditFile: string
  /** Heads that are stored elsewhere. If the tree does not contain them, it is an older copy. */
  readonly knownHeads: readonly string[]
  /** Where heads are copied to; null: nowhere. */
  readonly ship: { readonly place: ShipPlace; readonly access: BucketAccess | null; readonly intervalMs: number } | null
  /** The witnesses that cosign heads, with their verifier keys; null: none. */
  readonly witnesses: {
    readonly list: readonly { readonly key: string; readonly url: string }[]
    readonly required: number
    readonly withinMs: number
  } | null
  /** Whether to flush the log before its lines become leaves. False when each answer already waits for the disk. */
  readonly flush: boolean
}

/**
 * `lead` and `rest`: whether this process puts leaves into the tree. `finish`: makes one last pass, and ends. `audit`:
 * a new head of the audit log, to be signed and stored.
 */
export type TreeOrder = 'lead' | 'rest' | 'finish' | { readonly audit: AuditHead }

/** Sent after each pass. */
export interface TreeReport {
  /** Number of leaves; null when another node makes the tree, or the pass failed before its head was signed. */
  readonly size: number | null
  /** The newest signed head; null when this process has signed none. */
  readonly checkpoint: string | null
  /** Class of the pass's error, whose text may hold anything; null when the pass succeeded. */
  readonly errorClass: string | null
  /** The same for the last attempt to ship a head. */
  readonly shipErrorClass: string | null
  /** The stored head of the audit log; null when there is none yet, or another node makes the tree. */
  readonly audit: AuditHead | null
  /** Like `errorClass`, for storing that head. */
  readonly auditErrorClass: string | null
  /** Null when there are no witnesses, or another node makes the tree. */
  readonly cosigning: CosigningState | null
  /** Why no head is signed any more, in one line for the operator, who has to act; null otherwise. */
  readonly refusal: string | null
}
