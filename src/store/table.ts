// Tables declared once: the columns give the type of a row, the list of a SELECT and the usual statements. The names in a
// statement come from the declaration, other text from literals of this program (`sql`), and all values are parameters.
// Rows with an `organizationId` are reached only by naming it, unless the caller asks for `everywhere`.
import { type ChangeTopic, recordChange } from './changes.ts'
import type { Row, Shape, Values } from './columns.ts'
import type { TableScope, TransactionScope } from './copy/table-scope.ts'
import { statementsOf, type Where } from './table-statements.ts'

/**
 * @param name of the table in the database
 * @param toItem what a row stands for, if that is not the row itself
 */
export const defineTable = <const Columns extends Shape, Item = Row<Columns>>(
  name: string,
  columns: Columns,
  toItem: (row: Row<Columns>) => Item = (row) => row as unknown as Item,
) => {
  const owner = 'organizationId' in columns ? 'organizationId' : null
  const table = {
    shape: columns,
    ...statementsOf<Columns, Item, Where<Columns>>(name, columns, toItem, owner),
    /** Without naming an owner: for the deployment's own work, and where the owner is not known before. */
    everywhere: statementsOf<Columns, Item, Values<Columns>>(name, columns, toItem, null),
  }
  return {
    ...table,
    /** The same table, each of whose changed rows is announced to the caches; `quietly` announces nothing. */
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

/** What a table's rows stand for. */
export type ItemOf<Table extends { readonly find: (...given: never[]) => Promise<unknown> }> = NonNullable<
  Awaited<ReturnType<Table['find']>>
>
