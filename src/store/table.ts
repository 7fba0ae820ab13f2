// Tables declared once: the columns define the type of a row and the common statements. Access to an organization's
// rows requires its id, except through `everywhere`.
import { type ChangeTopic, recordChange } from './changes.ts'
import type { Row, Shape, Values } from './columns.ts'
import type { TableScope, TransactionScope } from './copy/table-scope.ts'
import { statementsOf, type Where } from './table-statements.ts'

/** @param toItem converts a row to an item, if the two types differ */
export const defineTable = <const Columns extends Shape, Item = Row<Columns>>(
  name: string,
  columns: Columns,
  toItem: (row: Row<Columns>) => Item = (row) => row as unknown as Item,
) => {
  const owner = 'organizationId' in columns ? 'organizationId' : null
  const table = {
    shape: columns,
    ...statementsOf<Columns, Item, Where<Columns>>(name, columns, toItem, owner),
    /** Statements for deployment-wide work, and for an unknown organization. */
    everywhere: statementsOf<Columns, Item, Values<Columns>>(name, columns, toItem, null),
  }
  return {
    ...table,
    /** Returns a table that announces each changed row to the caches; `quietly` announces nothing. */
    announcing: (
      topic: ChangeTopic,
      subjectOf: (item: Item) => string,
      ownerOf = (item: Item) => (item as { readonly organizationId?: string | null }).organizationId ?? null,
    ) => {
      const announce = (own: TransactionScope, item: Item): Promise<void> => {
        const change = { topic, subjectId: subjectOf(item), organizationId: ownerOf(item) }
        return recordChange(own, change, own.nowSeconds())
      }
      const announced = <Arguments extends readonly unknown[], Result extends Item | null>(
        change: (own: TransactionScope, ...given: Arguments) => Promise<Result>,
      ) => {
        return (scope: TableScope, ...given: Arguments): Promise<Result> =>
          scope.write(async (own) => {
            const item = await change(own, ...given)
            if (item !== null) await announce(own, item)
            return item
          })
      }
      return {
        ...table,
        quietly: table,
        announce,
        insert: announced(table.insert),
        update: announced(table.update),
        remove: announced(table.remove),
      }
    },
  }
}

export type ItemOf<Table extends { readonly find: (...given: never[]) => Promise<unknown> }> = NonNullable<
  Awaited<ReturnType<Table['find']>>
>
