// Addresses and keystore files of the deployment's attesters. Keys are never stored here (invariant 5).
import { newOrderedIdentifier } from '../../domain/identifier.ts'
import { integer, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable, type ItemOf } from '../table.ts'

export type AttesterKind = 'secp256k1' | 'ed25519'
/** `retiring`: loaded, but no longer selected. `retired`: never loaded again. */
export type AttesterStatus = 'active' | 'retiring' | 'retired'

const ATTESTERS = defineTable('attesters', {
  id: text,
  kind: typed<AttesterKind>(),
  /** EIP-55 address or base58 public key. */
  address: text,
  keystoreFile: text,
  status: typed<AttesterStatus>(),
  createdAtSeconds: integer,
}).announcing('attester', ({ id }) => id)

export interface Attester extends ItemOf<typeof ATTESTERS> {}

export const createAttesterTable = (scope: TableScope) => ({
  /** Adds an active attester. @throws ConstraintViolatedError if the address already exists */
  add: (input: Pick<Attester, 'kind' | 'address' | 'keystoreFile'>): Promise<Attester> =>
    ATTESTERS.insert(scope, {
      ...input,
      id: newOrderedIdentifier('attester'),
      status: 'active',
      createdAtSeconds: scope.nowSeconds(),
    }),

  find: (id: string): Promise<Attester | null> => ATTESTERS.find(scope, { id }),

  list: (): Promise<readonly Attester[]> => ATTESTERS.list(scope, {}, ['createdAtSeconds', 'id']),

  /** Returns null if there is no such attester, or if it is retired, which is final. */
  setStatus: (id: string, status: AttesterStatus): Promise<Attester | null> =>
    ATTESTERS.update(scope, { id, status: sql`<> 'retired'` }, { status }),
})
