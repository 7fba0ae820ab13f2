// Which project a contract or program belongs to, by chain and canonical address. Two organizations may bind the same
// address; each sees its own binding only. Source: decisions §4, "Project".
import { newIdentifier } from '../../domain/identifier.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { addFilter, type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'

export interface Binding {
  readonly id: string
  readonly organizationId: string
  readonly projectId: string
  readonly chainName: string
  /** Canonical (see domain/address.ts): the caller has parsed it. */
  readonly address: string
  /** A name for people; null when none was given. */
  readonly label: string | null
  readonly createdAtSeconds: number
}

type BindingRow = RowOf<Binding>

const COLUMNS = 'id, organization_id, project_id, chain_name, address, label, created_at_seconds'

/** The subject of a binding's change, by which caches look it up. */
export const bindingSubject = (chainName: string, address: string): string => `${chainName}/${address}`

export const createBindingTable = (scope: TableScope) => {
  const announce = (transaction: Transaction, binding: Pick<Binding, 'organizationId' | 'chainName' | 'address'>) =>
    recordChange(
      transaction,
      {
        topic: 'binding',
        subjectId: bindingSubject(binding.chainName, binding.address),
        organizationId: binding.organizationId,
      },
      scope.nowSeconds(),
    )

  return {
    /**
     * @throws ConstraintViolatedError when the organization has bound the address on that chain already (remove that
     * binding first), or the project is not the organization's.
     */
    create: (
      input: Omit<Binding, 'id' | 'label' | 'createdAtSeconds'> & Partial<Pick<Binding, 'label'>>,
    ): Promise<Binding> =>
      scope.write(async (transaction) => {
        const { label = null } = input
        const binding: Binding = {
          ...input,
          label,
          id: newIdentifier('binding'),
          createdAtSeconds: scope.nowSeconds(),
        }
        await insertRow(transaction, 'bindings', binding)
        await announce(transaction, binding)
        return binding
      }),

    find: async (organizationId: string, bindingId: string): Promise<Binding | null> => {
      const [row] = await scope.statements.query<BindingRow>(
        `SELECT ${COLUMNS} FROM bindings WHERE organization_id = ? AND id = ?`,
        [organizationId, bindingId],
      )
      return row === undefined ? null : fieldsOf(row)
    },

    findByAddress: async (organizationId: string, chainName: string, address: string): Promise<Binding | null> => {
      const [row] = await scope.statements.query<BindingRow>(
        `SELECT ${COLUMNS} FROM bindings WHERE organization_id = ? AND chain_name = ? AND address = ?`,
        [organizationId, chainName, address],
      )
      return row === undefined ? null : fieldsOf(row)
    },

    /** Oldest first, of one project or of all. */
    page: (
      filter: { readonly organizationId: string; readonly projectId?: string; readonly chainName?: string },
      page: PageRequest,
    ): Promise<Page<Binding>> => {
      const where = ['organization_id = ?']
      const parameters: string[] = [filter.organizationId]
      addFilter(where, parameters, 'project_id', filter.projectId)
      addFilter(where, parameters, 'chain_name', filter.chainName)
      return queryPage<BindingRow, Binding>(
        scope.statements,
        { select: `SELECT ${COLUMNS} FROM bindings`, where, parameters, order: ['created_at_seconds', 'id'] },
        page,
        fieldsOf,
      )
    },

    /** No decision depends on the label, so no change is announced. False when the organization has no such binding. */
    setLabel: async (organizationId: string, bindingId: string, label: string | null): Promise<boolean> =>
      (await scope.execute('UPDATE bindings SET label = ? WHERE organization_id = ? AND id = ?', [
        label,
        organizationId,
        bindingId,
      ])) === 1,

    /** What was removed; null when the organization has no such binding. */
    remove: (organizationId: string, bindingId: string): Promise<Binding | null> =>
      scope.write(async (transaction) => {
        const [row] = await transaction.query<BindingRow>(
          `DELETE FROM bindings WHERE organization_id = ? AND id = ? RETURNING ${COLUMNS}`,
          [organizationId, bindingId],
        )
        if (row === undefined) return null
        const binding = fieldsOf(row)
        await announce(transaction, binding)
        return binding
      }),
  }
}
