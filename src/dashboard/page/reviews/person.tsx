import { call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import type { PageProps } from '../pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { Copyable } from '../ui/copy.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Empty, Page } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { SessionTable } from './session-table.tsx'

const SESSIONS_READ = 10

interface Wallet {
  readonly address: string
  readonly lists: readonly string[]
}

const readWallets = async (organization: string, user: string, signal: AbortSignal): Promise<readonly Wallet[]> => {
  const { data } = await call('GET /organizations/{organization}/sessions', {
    params: { organization },
    query: { user_id: user, limit: SESSIONS_READ },
    signal,
  })
  const sessions = await Promise.all(
    data.map(({ id: session }) =>
      call('GET /organizations/{organization}/sessions/{session}', { params: { organization, session }, signal }),
    ),
  )
  const addresses = new Set(sessions.flatMap(({ wallets }) => wallets.map(({ address }) => address)))
  return Promise.all(
    [...addresses].map(async (address) => {
      const lists = await call('GET /organizations/{organization}/wallets/{wallet}/lists', {
        params: { organization, wallet: address },
        signal,
      })
      return { address, lists: lists.data.map(({ name }) => name) }
    }),
  )
}

export const PersonPage = ({ params: { user = '' } }: PageProps) => {
  const { params, path } = useWorkplace()
  const wallets = useQuery((signal) => readWallets(params.organization, user, signal), [params.organization, user])
  return (
    <Page
      title="Person or business"
      crumbs={[{ label: 'Reviews', href: path('/reviews') }]}
      lead={<Copyable text={user} label="user ID" />}
    >
      <SessionTable query={{ user_id: user }} />
      <Card flush title="Wallets" text="Wallets of the newest sessions. Select a wallet to see its decisions.">
        <Loaded query={wallets}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty icon="key" title="No wallets">
                <p>The newest sessions have no connected wallet.</p>
              </Empty>
            ) : (
              <Table<Wallet>
                caption="Wallets"
                rows={rows}
                rowKey={({ address }) => address}
                href={({ address }) => path(`/decisions/wallets/${address}`)}
                columns={{
                  Wallet: ({ address }) => <code>{address}</code>,
                  Lists: ({ lists }) => (lists.length === 0 ? <span class="faint">none</span> : lists.join(', ')),
                }}
              />
            )
          }
        </Loaded>
      </Card>
    </Page>
  )
}
