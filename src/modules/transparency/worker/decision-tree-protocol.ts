// Messages between the service and the process that builds the decision log's tree.

import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'
import type { AuditHead } from '../../../store/audit.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import type { CosigningState } from './cosigning.ts'

/** Sent over stdin, because secrets must not be in arguments or the environment. */
export interface TreeInput {
  readonly directory: string
  readonly tree: StoreTarget
  /** Hex. */
  readonly saltKey: string
  /** Verifier key of the log. */
  readonly key: string
  readonly keystorePath: string
  /** Passphrases that may decrypt the keystore, newest first. */
  readonly passphrases: readonly string[]
  /** File that contains the latest head in addition to the tables. */
  readonly headFile: string
  readonly auditFile: string
  /** Heads stored elsewhere. A tree that doesn't contain them is an older copy. */
  readonly knownHeads: readonly string[]
  readonly ship: { readonly place: ShipPlace; readonly access: BucketAccess | null; readonly intervalMs: number } | null
  readonly witnesses: {
    readonly list: readonly { readonly key: string; readonly url: string }[]
    readonly required: number
    readonly withinMs: number
  } | null
  /** Whether to flush the log before its lines become leaves. False if responses already wait for the flush. */
  readonly flush: boolean
}

/**
 * `lead`, `rest`: start and stop adding leaves. `finish`: one last pass, then exit. `audit`: sign a new head of the
 * audit log.
 */
export type TreeOrder = 'lead' | 'rest' | 'finish' | { readonly audit: AuditHead }

export interface TreeReport {
  /** Number of leaves; null if another node builds the tree or the pass failed before signing its head. */
  readonly size: number | null
  /** Latest signed head; null if this process has signed none. */
  readonly checkpoint: string | null
  /** Class of the pass's error, because the text may contain anything; null if the pass succeeded. */
  readonly errorClass: string | null
  readonly shipErrorClass: string | null
  /** Stored head of the audit log; null if there is none or another node builds the tree. */
  readonly audit: AuditHead | null
  /** Class of the error from storing it; null if it was stored. */
  readonly auditErrorClass: string | null
  readonly cosigning: CosigningState | null
  /** Reason that signing is suspended until the operator acts, in one line; otherwise null. */
  readonly refusal: string | null
}
