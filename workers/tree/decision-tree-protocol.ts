// What the service and the process that makes the decision log's tree say to each other.
import type { AuditHead } from '../../src/decisions/audit-head.ts'
import type { BucketAccess } from '../../src/decisions/ship-bucket.ts'
import type { ShipPlace } from '../../src/decisions/ship-target.ts'
import type { StoreTarget } from '../../src/store/store-address.ts'
import type { CosigningState } from './cosigning.ts'

/** Handed over on standard input: secrets belong neither in an argument nor in the environment. */
export interface TreeInput {
  /** Of the node's decision log. */
  readonly directory: string
  readonly tree: StoreTarget
  /** Hex. */
  readonly saltKey: string
  /** Verifier key of the log. */
  readonly key: string
  readonly keystorePath: string
  /** What may open the keystore, the newest first. */
  readonly passphrases: readonly string[]
  /** Where the newest head is kept beside the tables. */
  readonly headFile: string
  /** The same for the newest head of the audit log. */
  readonly auditFile: string
  /** Heads that were kept elsewhere: the tree must hold them, or it is an older copy. */
  readonly knownHeads: readonly string[]
  /** Where heads are copied to; null: nowhere. */
  readonly ship: { readonly place: ShipPlace; readonly access: BucketAccess | null; readonly intervalMs: number } | null
  /** Who has to cosign heads; null: nobody. Keys as texts. */
  readonly witnesses: {
    readonly list: readonly { readonly key: string; readonly url: string }[]
    readonly required: number
    readonly withinMs: number
  } | null
  /** False where the log itself is flushed before each answer. */
  readonly flush: boolean
}

/**
 * `lead` and `rest`: whether this process puts leaves into the tree. `finish`: takes what is left, and ends. An entry of the
 * audit log is signed, and kept as its newest head.
 */
export type TreeOrder = 'lead' | 'rest' | 'finish' | { readonly audit: AuditHead }

/** After each pass. */
export interface TreeReport {
  /** Leaves of the tree; null where another node makes it, or the pass failed before its head was signed. */
  readonly size: number | null
  /** The newest signed head, where this process has signed one. */
  readonly checkpoint: string | null
  /** Of what failed only the class: its text may hold anything. */
  readonly errorClass: string | null
  /** The same of the copy of the head, where heads are shipped. */
  readonly shipErrorClass: string | null
  /** The audit log's head that is kept; null: none yet, or another node makes the tree. */
  readonly audit: AuditHead | null
  /** The same as `errorClass`, of that head. */
  readonly auditErrorClass: string | null
  /** Null where no witness is set, or another node makes the tree. */
  readonly cosigning: CosigningState | null
  /** Why no head is signed any more, in chosen words: somebody has to look. */
  readonly refusal: string | null
}
