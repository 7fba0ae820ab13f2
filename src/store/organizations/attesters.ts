// The deployment's attesters: which keystore file holds which address. The keys themselves are never here (invariant 5).
import { newOrderedIdentifier } from '../../domain/identifier.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'

export type AttesterKind = 'secp256k1' | 'ed25519'
/** `active` signs; `retiring` is still loaded but no longer chosen; `retired` is not loaded, for good. */
export type AttesterStatus = 'active' | 'retiring' | 'retired'

export interface Attester {
  readonly id: string
  readonly kind: AttesterKind
  /** EIP-55 checksummed EVM address or base58 public key, as derived from the key. */
  readonly address: string
  /** File name inside the keystore folder. */
  readonly keystoreFile: string
  readonly status: AttesterStatus
  readonly createdAtSeconds: number
}

type AttesterRow = RowOf<Attester>

const COLUMNS = 'id, kind, address, keystore_file, status, created_at_seconds'

/** The deployment's own administration: attesters belong to no organization. */
export const createAttesterTable = (scope: TableScope) => ({
  /** Adds an active attester. @throws ConstraintViolatedError when the address exists already */
  add: (input: {
    readonly kind: AttesterKind
    readonly address: string
    readonly keystoreFile: string
  }): Promise<Attester> =>
    scope.write(async (transaction) => {
      const attester: Attester = {
        ...input,
        id: newOrderedIdentifier('attester'),
        status: 'active',
        createdAtSeconds: scope.nowSeconds(),
      }
      await insertRow(transaction, 'attesters', attester)
      await recordChange(
        transaction,
        { topic: 'attester', subjectId: attester.id, organizationId: null },
        attester.createdAtSeconds,
      )
      return attester
    }),

  find: async (attesterId: string): Promise<Attester | null> => {
    const [row] = await scope.statements.query<AttesterRow>(`SELECT ${COLUMNS} FROM attesters WHERE id = ?`, [
      attesterId,
    ])
    return row === undefined ? null : fieldsOf(row)
  },

  /** Oldest first, retired ones included. */
  list: async (): Promise<readonly Attester[]> =>
    (await scope.statements.query<AttesterRow>(`SELECT ${COLUMNS} FROM attesters ORDER BY created_at_seconds, id`)).map(
      fieldsOf,
    ),

  /** Null when there is no such attester, or it is retired, which is final. */
  setStatus: (attesterId: string, status: AttesterStatus): Promise<Attester | null> =>
    scope.write(async (transaction) => {
      const [row] = await transaction.query<AttesterRow>(
        `UPDATE attesters SET status = ? WHERE id = ? AND status <> 'retired' RETURNING ${COLUMNS}`,
        [status, attesterId],
      )
      if (row === undefined) return null
      await recordChange(
        transaction,
        { topic: 'attester', subjectId: attesterId, organizationId: null },
        scope.nowSeconds(),
      )
      return fieldsOf(row)
    }),
})
