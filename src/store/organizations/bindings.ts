// Maps contracts and programs to an organization's projects. Source: decisions §4, "Project".
import { newIdentifier } from '../../domain/identifier.ts'
import { integer, nullable, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { requireRoom } from './organization-limits.ts'

/** Returns the subject of a binding's change: the lookup key of caches. */
export const bindingSubject = (chainName: string, address: string): string => `${chainName}/${address}`

const BINDINGS = defineTable('bindings', {
  id: text,
  organizationId: text,
  projectId: text,
  chainName: text,
  address: text,
  label: nullable(text),
  createdAtSeconds: integer,
}).announcing('binding', ({ chainName, address }) => bindingSubject(chainName, address))

export interface Binding extends ItemOf<typeof BINDINGS> {}

export const createBindingTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError if already bound, or for another organization's project; OrganizationLimitError */
  create: (input: Omit<Binding, 'id' | 'label' | 'createdAtSeconds'> & Partial<Pick<Binding, 'label'>>) =>
    scope.write(async (own) => {
      await requireRoom(own, input.organizationId, 'bindings')
      return BINDINGS.insert(own, { ...input, id: newIdentifier('binding'), createdAtSeconds: scope.nowSeconds() })
    }),

  find: (organizationId: string, id: string) => BINDINGS.find(scope, { organizationId, id }),

  findByAddress: (organizationId: string, chainName: string, address: string) =>
    BINDINGS.find(scope, { organizationId, chainName, address }),

  page: (
    filter: { readonly organizationId: string; readonly projectId?: string; readonly chainName?: string },
    page: PageRequest,
  ) => BINDINGS.page(scope, filter, ['createdAtSeconds', 'id'], page),

  /** Announces no change, because no decision depends on the label. Returns false if there is no such binding. */
  setLabel: async (organizationId: string, id: string, label: string | null) =>
    (await BINDINGS.updateAll(scope, { organizationId, id }, { label })) === 1,

  remove: (organizationId: string, id: string) => BINDINGS.remove(scope, { organizationId, id }),
})
