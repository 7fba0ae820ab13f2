import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'
import type { AuditHead } from '../../../store/audit.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import type { CosigningState } from './cosigning.ts'

/** Sent on stdin, because secrets must not be in arguments or the environment. */
export interface TreeInput {
  readonly directory: string
  readonly tree: StoreTarget
  readonly saltKey: string
  readonly key: string
  readonly keystorePath: string
  /** Passphrases that may decrypt the keystore, newest first. */
  readonly passphrases: readonly string[]
  /** Contains the latest head in addition to the tables. */
  readonly headFile: string
  readonly auditFile: string
  /** Heads stored elsewhere. A tree without them is an older copy. */
  readonly knownHeads: readonly string[]
  readonly ship: { readonly place: ShipPlace; readonly access: BucketAccess | null; readonly intervalMs: number } | null
  readonly witnesses: {
    readonly list: readonly { readonly key: string; readonly url: string }[]
    readonly required: number
    readonly withinMs: number
  } | null
  /** Whether to flush the log before its lines become leaves; false if responses wait for the flush anyway. */
  readonly flush: boolean
}

/** `lead`, `rest`: start and stop adding leaves. `finish`: one last pass, then exit. `audit`: sign a new audit head. */
export type TreeOrder = 'lead' | 'rest' | 'finish' | { readonly audit: AuditHead }

export interface TreeReport {
  /** Null if another node builds the tree, or the pass failed before signing. */
  readonly size: number | null
  readonly checkpoint: string | null
  /** Contains only the error's class, because its text may contain anything. Null if the pass succeeded. */
  readonly errorClass: string | null
  readonly shipErrorClass: string | null
  /** Null if there is none, or another node builds the tree. */
  readonly audit: AuditHead | null
  readonly auditErrorClass: string | null
  readonly cosigning: CosigningState | null
  /** Reason that signing is suspended until the operator acts, in one line; null if signing isn't suspended. */
  readonly refusal: string | null
}
