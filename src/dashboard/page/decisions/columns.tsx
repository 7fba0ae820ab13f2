import type { AnswerOf } from '../api/client.ts'
import type { Decision } from '../api/types.ts'
import { shorten, shortId } from '../ui/copy.tsx'
import { zoneWord } from '../ui/relative-time.ts'
import type { Columns } from '../ui/table.tsx'
import { preciseTime, RuleOf, Verdict } from './labels.tsx'
import type { Names } from './names.ts'

export type Row = Decision & { readonly contract: string | null }

export const columnsFor = (names: Names): Columns<Row> => ({
  [`Decided (${zoneWord()})`]: { narrow: true, cell: ({ at }) => <time dateTime={at}>{preciseTime(at)}</time> },
  Verdict: { narrow: true, cell: (decision) => <Verdict decision={decision} /> },
  Wallet: { narrow: true, cell: ({ from }) => <code title={from}>{shorten(from)}</code> },
  Chain: { narrow: true, cell: ({ chain }) => chain },
  'Project and contract': ({ project_id: id, contract, to }) => (
    <>
      {names.projectName(id)}{' '}
      {contract !== null && (
        <span class="faint" title={to}>
          {contract}
        </span>
      )}
    </>
  ),
  'Decided by': ({ rule, code }) => (
    <>
      <RuleOf rule={rule} /> {code !== null && <span class="faint">{code}</span>}
    </>
  ),
  UUID: { narrow: true, wide: true, cell: ({ uuid }) => <code class="faint">{shortId(uuid)}</code> },
})

/** Adds its contract's label to each decision. */
export const rowsOf = ({ data, labels, next_cursor }: AnswerOf<'GET /organizations/{organization}/decisions'>) => ({
  next_cursor,
  data: data.map((row): Row => ({ ...row, contract: labels[`${row.chain}/${row.to}`] ?? null })),
})
