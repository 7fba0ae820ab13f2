// The deployment's attesters: which keystore file holds which address. The keys themselves are never here (invariant 5).
import { newOrderedIdentifier } from '../../domain/identifier.ts'
import { integer, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable, type ItemOf } from '../table.ts'

export type AttesterKind = 'secp256k1' | 'ed25519'
/** `active` signs; `retiring` is still loaded but no longer chosen; `retired` is not loaded, for good. */
export type AttesterStatus = 'active' | 'retiring' | 'retired'

const ATTESTERS = defineTable('attesters', {
  id: text,
  kind: typed<AttesterKind>(),
  /** EIP-55 checksummed EVM address or base58 public key, as derived from the key. */
  address: text,
  /** File name inside the keystore folder. */
  keystoreFile: text,
  status: typed<AttesterStatus>(),
  createdAtSeconds: integer,
}).announcing('attester', ({ id }) => id)

export interface Attester extends ItemOf<typeof ATTESTERS> {}

/** The deployment's own administration: attesters belong to no organization. */
export const createAttesterTable = (scope: TableScope) => ({
  /** Adds an active attester. @throws ConstraintViolatedError when the address exists already */
  add: (input: Pick<Attester, 'kind' | 'address' | 'keystoreFile'>): Promise<Attester> =>
    ATTESTERS.insert(scope, {
      ...input,
      id: newOrderedIdentifier('attester'),
      status: 'active',
      createdAtSeconds: scope.nowSeconds(),
    }),

  find: (id: string): Promise<Attester | null> => ATTESTERS.find(scope, { id }),

  /** Oldest first, retired ones included. */
  list: (): Promise<readonly Attester[]> => ATTESTERS.list(scope, {}, ['createdAtSeconds', 'id']),

  /** Null when there is no such attester, or it is retired, which is final. */
  setStatus: (id: string, status: AttesterStatus): Promise<Attester | null> =>
    ATTESTERS.update(scope, { id, status: sql`<> 'retired'` }, { status }),
})
