// The session belongs to another browser, but the person can continue here with one of the session's wallets.

import { useMemo } from 'preact/hooks'
import type { ChainView, EntryAnswer } from '../../contract.ts'
import { continueCalls } from '../api.ts'
import { useMessages } from '../language.ts'
import { Disclosure } from '../ui/disclosure.tsx'
import { ItemWithIcon } from '../ui/icons.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Screen } from '../ui/parts.tsx'
import type { ManualWayProps } from '../wallets/manual-way.tsx'
import { useWallets, WalletList } from '../wallets/wallet-list.tsx'

const ManualWay = lazy<ManualWayProps<EntryAnswer>>(async () => (await import('../wallets/manual-way.tsx')).ManualWay)

export interface ElsewhereProps {
  readonly token: string
  readonly organizationName: string
  readonly chains: readonly ChainView[]
  readonly contractChains: readonly string[]
  readonly onEntered: (sessionId: string) => void
}

export const Elsewhere = ({ token, organizationName, chains, contractChains, onEntered }: ElsewhereProps) => {
  const { elsewhere, wallets } = useMessages()
  const calls = useMemo(() => continueCalls(token), [token])
  const found = useWallets(null)
  const done = (answer: EntryAnswer): void => {
    if (answer.kind === 'entered') onEntered(answer.sessionId)
  }
  const shared = { calls, lockedWallet: null, onDone: done }
  return (
    <Screen title={elsewhere.title} lead={elsewhere.text(organizationName)}>
      <section class="card">
        <ul class="items">
          <ItemWithIcon icon="person" title={elsewhere.first}>
            {elsewhere.firstText}
          </ItemWithIcon>
          <ItemWithIcon icon="shield" title={elsewhere.notYou}>
            {elsewhere.notYouText(organizationName)}
          </ItemWithIcon>
        </ul>
      </section>
      <section class="card" aria-labelledby="with-wallet">
        <h2 id="with-wallet">{elsewhere.wallet}</h2>
        <p>{elsewhere.walletText}</p>
        {/* Any chain of the wallet is accepted. */}
        <WalletList {...shared} chains={[]} found={found} connected={[]} />
        <div class="ways">
          <Disclosure icon="pen" title={wallets.byHand} text={wallets.byHandText}>
            {() => <ManualWay {...shared} chains={chains} contractChains={contractChains} />}
          </Disclosure>
        </div>
      </section>
    </Screen>
  )
}
