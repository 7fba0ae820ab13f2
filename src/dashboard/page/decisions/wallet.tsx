import { call } from '../api/client.ts'
import { usePages } from '../data/use-pages.ts'
import { useRead } from '../data/use-query.ts'
import type { PageProps } from '../pages.ts'
import { SessionTable } from '../reviews/session-table.tsx'
import { useWorkplace } from '../shell/session.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Empty, Page } from '../ui/parts.tsx'
import { PagedTable } from '../ui/table.tsx'
import { columnsFor, type Row, rowsOf } from './columns.tsx'
import { useNames } from './names.ts'
import { searchOf } from './search.ts'

export const WalletPage = ({ params: { wallet = '' } }: PageProps) => {
  const { params, path, may } = useWorkplace()
  const { Wallet: _wallet, ...columns } = columnsFor(useNames())
  const decisions = usePages<Row>(
    async (cursor, signal) =>
      rowsOf(
        await call('GET /organizations/{organization}/decisions', {
          params,
          query: { wallet, cursor, limit: 20 },
          signal,
        }),
      ),
    [params.organization, wallet],
  )
  const lists = useRead('GET /organizations/{organization}/wallets/{wallet}/lists', { params: { ...params, wallet } })
  return (
    <Page
      title="Wallet"
      crumbs={[{ label: 'Decisions', href: path('/decisions') }]}
      lead={<Copyable text={wallet} label="wallet" />}
    >
      <Card title="Lists">
        <Loaded query={lists}>
          {({ data }) =>
            data.length === 0 ? (
              <p class="soft">No list contains this wallet.</p>
            ) : (
              <ul>
                {data.map(({ name, shared }) => (
                  <li key={`${name} ${shared}`}>
                    {shared ? (
                      <>
                        <code>{name}</code> <span class="faint">shared</span>
                      </>
                    ) : (
                      <a href={path(`/lists/${name}`)}>
                        <code>{name}</code>
                      </a>
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
      <Card
        flush
        title="Decisions"
        actions={
          <ButtonLink small href={path('/decisions') + searchOf({ wallet })}>
            Search decisions
          </ButtonLink>
        }
      >
        <PagedTable<Row>
          caption="Decisions, newest first"
          pages={decisions}
          rowKey={({ uuid }) => uuid}
          href={({ uuid }) => path(`/decisions/${uuid}`)}
          columns={columns}
          empty={
            <Empty icon="decisions" title="No decisions">
              <p>No request with this wallet was decided.</p>
            </Empty>
          }
        />
      </Card>
      {may('reviewer') && <SessionTable query={{ wallet }} />}
    </Page>
  )
}
