// Which project a contract or program belongs to, by chain and canonical address. Two organizations may bind the same
// address; each sees its own binding only. Source: decisions §4, "Project".
import { newIdentifier } from '../../domain/identifier.ts'
import { integer, nullable, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'

/** The subject of a binding's change, by which caches look it up. */
export const bindingSubject = (chainName: string, address: string): string => `${chainName}/${address}`

const BINDINGS = defineTable('bindings', {
  id: text,
  organizationId: text,
  projectId: text,
  chainName: text,
  /** Canonical (see domain/address.ts): the caller has parsed it. */
  address: text,
  /** A name for people; null when none was given. */
  label: nullable(text),
  createdAtSeconds: integer,
}).announcing('binding', ({ chainName, address }) => bindingSubject(chainName, address))

export interface Binding extends ItemOf<typeof BINDINGS> {}

export const createBindingTable = (scope: TableScope) => ({
  /**
   * @throws ConstraintViolatedError when the organization has bound the address on that chain already (remove that
   * binding first), or the project is not the organization's.
   */
  create: (input: Omit<Binding, 'id' | 'label' | 'createdAtSeconds'> & Partial<Pick<Binding, 'label'>>) =>
    BINDINGS.insert(scope, { ...input, id: newIdentifier('binding'), createdAtSeconds: scope.nowSeconds() }),

  find: (organizationId: string, id: string) => BINDINGS.find(scope, { organizationId, id }),

  findByAddress: (organizationId: string, chainName: string, address: string) =>
    BINDINGS.find(scope, { organizationId, chainName, address }),

  /** Oldest first, of one project or of all. */
  page: (
    filter: { readonly organizationId: string; readonly projectId?: string; readonly chainName?: string },
    page: PageRequest,
  ) => BINDINGS.page(scope, filter, ['createdAtSeconds', 'id'], page),

  /** No decision depends on the label, so no change is announced. False when the organization has no such binding. */
  setLabel: async (organizationId: string, id: string, label: string | null) =>
    (await BINDINGS.updateAll(scope, { organizationId, id }, { label })) === 1,

  /** What was removed; null when the organization has no such binding. */
  remove: (organizationId: string, id: string) => BINDINGS.remove(scope, { organizationId, id }),
})
