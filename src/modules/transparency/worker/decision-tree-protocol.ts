// Messages between the service and the process that builds the decision log's tree.

import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'
import type { AuditHead } from '../../../store/audit.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import type { CosigningState } from './cosigning.ts'

/** Sent on standard input, because secrets must not be in arguments or the environment. */
export interface TreeInput {
  /** Folder of the node's decision log. */
  readonly directory: string
  readonly tree: StoreTarget
  /** Hex. */
  readonly saltKey: string
  /** Verifier key of the log. */
  readonly key: string
  readonly keystorePath: string
  /** Passphrases that may decrypt the keystore, newest first. */
  readonly passphrases: readonly string[]
  /** Path of the file that holds the latest head in addition to the tables. */
  readonly headFile: string
  /** Path of the file with the latest head of the audit log. */
  readonly auditFile: string
  /** Heads that are stored elsewhere. If the tree doesn't contain them, it is an older copy. */
  readonly knownHeads: readonly string[]
  /** Shipping target of heads. Null: heads are not shipped. */
  readonly ship: { readonly place: ShipPlace; readonly access: BucketAccess | null; readonly intervalMs: number } | null
  /** The witnesses that cosign heads, with their verifier keys. Null if there are none. */
  readonly witnesses: {
    readonly list: readonly { readonly key: string; readonly url: string }[]
    readonly required: number
    readonly withinMs: number
  } | null
  /** Whether to flush the log before its lines become leaves. False if each response already waits for the flush. */
  readonly flush: boolean
}

/**
 * `lead` and `rest`: whether this process adds leaves to the tree. `finish`: one last pass, then exit. `audit`: a new
 * head of the audit log, to be signed and stored.
 */
export type TreeOrder = 'lead' | 'rest' | 'finish' | { readonly audit: AuditHead }

/** Sent after each pass. */
export interface TreeReport {
  /** Number of leaves. Null if another node builds the tree, or if the pass failed before its head was signed. */
  readonly size: number | null
  /** The latest signed head. Null if this process has not signed any. */
  readonly checkpoint: string | null
  /** Class of the pass's error, because its text may contain anything. Null if the pass succeeded. */
  readonly errorClass: string | null
  /** Class of the error of the last attempt to ship a head. Null if it succeeded. */
  readonly shipErrorClass: string | null
  /** The stored head of the audit log. Null if there is none yet or another node builds the tree. */
  readonly audit: AuditHead | null
  /** Class of the error of storing that head. Null if it succeeded. */
  readonly auditErrorClass: string | null
  /** Null if there are no witnesses or another node builds the tree. */
  readonly cosigning: CosigningState | null
  /** Reason why no heads are signed until the operator acts, in one line. Null otherwise. */
  readonly refusal: string | null
}
