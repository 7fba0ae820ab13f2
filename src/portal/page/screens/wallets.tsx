import { useState } from 'preact/hooks'
import type { SessionView, WalletView } from '../../contract.ts'
import { shortAddress } from '../format.ts'
import { useMessages } from '../language.ts'
import { problemText } from '../problem-text.ts'
import type { StepProps } from '../steps.ts'
import { Disclosure } from '../ui/disclosure.tsx'
import { AppLinks, appsFor, PhoneCode } from '../ui/handover.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Notice, Screen } from '../ui/parts.tsx'
import { StepActions } from '../ui/step-actions.tsx'
import { isPhone } from '../wallets/apps.ts'
import type { ManualWayProps } from '../wallets/manual-way.tsx'
import { useWallets, WalletList } from '../wallets/wallet-list.tsx'
import { WalletRow } from '../wallets/wallet-row.tsx'

const ManualWay = lazy<ManualWayProps<SessionView>>(async () => (await import('../wallets/manual-way.tsx')).ManualWay)

const familyOf = (address: string | null): 'evm' | 'solana' | null =>
  address === null ? null : address.startsWith('0x') ? 'evm' : 'solana'

interface ConnectedWalletsProps {
  readonly view: SessionView
  readonly busy: boolean
  readonly onRemove: (wallet: WalletView) => void
}

const ConnectedWallets = ({ view: { wallets, walletsMax }, busy, onRemove }: ConnectedWalletsProps) => {
  const { wallets: words } = useMessages()
  return (
    <section class="card" aria-labelledby="connected-wallets">
      <div class="card-head">
        <h2 id="connected-wallets" tabIndex={-1}>
          {words.connected}
        </h2>
        <span class="badge">{words.count(wallets.length, walletsMax)}</span>
      </div>
      <ul class="wallet-rows">
        {wallets.map((wallet) => (
          <WalletRow key={wallet.id} wallet={wallet} busy={busy} onRemove={() => onRemove(wallet)} />
        ))}
      </ul>
    </section>
  )
}

export const Wallets = ({ view, calls, apply, refresh, next, back, announce }: StepProps) => {
  const messages = useMessages()
  const { wallets: words } = messages
  const { wallets, walletsMax, lockedWallet, chains, contractChains } = view
  const [problem, setProblem] = useState<string | null>(null)
  const [removing, setRemoving] = useState(false)
  const [round, setRound] = useState(0)
  const family = familyOf(lockedWallet)
  const found = useWallets(family)
  /** Without a wallet in this browser, wallet apps and the phone are offered first. */
  const alone = wallets.length === 0 && found.wallets.length === 0 && !found.searching
  const full = wallets.length >= walletsMax

  /** Keeps keyboard and screen reader users in place if the focused element was removed. */
  const keepPlace = (): void => {
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return
      const heading = document.getElementById('connected-wallets') ?? document.getElementById('add-wallet')
      heading?.focus({ preventScroll: true })
    })
  }

  const added = (after: SessionView, address: string): void => {
    apply(after)
    setProblem(null)
    setRound((now) => now + 1)
    const wallet = after.wallets.findLast((known) => known.address === address)
    announce(words.added(shortAddress(address), wallet?.chainTitle ?? ''))
    keepPlace()
  }

  const remove = async ({ id }: WalletView): Promise<void> => {
    setRemoving(true)
    setProblem(null)
    try {
      apply(await calls.removeWallet(id))
      announce(words.removed)
      keepPlace()
    } catch (error) {
      setProblem(problemText(error, messages))
      refresh()
    } finally {
      setRemoving(false)
    }
  }

  const proceed = (): void => {
    if (wallets.length > 0) next()
    else setProblem(lockedWallet === null ? words.needOne : words.needLocked)
  }

  return (
    <Screen
      title={lockedWallet === null ? words.title : words.titleLocked}
      lead={lockedWallet === null ? words.lead(walletsMax) : words.leadLocked}
      actions={<StepActions back={back} onNext={proceed} quiet={wallets.length === 0} />}
    >
      {lockedWallet !== null && (
        <Notice icon="lock" title={words.lockedWallet}>
          <p>
            <bdi class="mono wrap">{lockedWallet}</bdi>
          </p>
        </Notice>
      )}
      {wallets.length > 0 && (
        <ConnectedWallets view={view} busy={removing} onRemove={(wallet) => void remove(wallet)} />
      )}
      {problem !== null && (
        <Notice tone="warn" urgent>
          <p>{problem}</p>
        </Notice>
      )}
      {full ? (
        <Notice>
          <p>{words.full(walletsMax)}</p>
        </Notice>
      ) : (
        <section class="card" aria-labelledby="add-wallet">
          <h2 id="add-wallet" tabIndex={-1}>
            {wallets.length === 0 ? words.add : words.addAnother}
          </h2>
          <h3 class="section-label">{words.inBrowser}</h3>
          <WalletList
            key={`list-${round}`}
            calls={calls}
            found={found}
            chains={chains}
            connected={wallets}
            lockedWallet={lockedWallet}
            onDone={added}
          />
          {alone && <p class="hint">{words.noWalletConnect}</p>}
          <div class="ways">
            {isPhone() ? (
              <Disclosure key={`app-${alone}`} icon="external" title={words.openIn} startOpen={alone}>
                {() => <AppLinks calls={calls} apps={appsFor(family)} />}
              </Disclosure>
            ) : (
              <Disclosure key={`phone-${alone}`} icon="phone" title={words.onPhone} startOpen={alone}>
                {() => <PhoneCode calls={calls} />}
              </Disclosure>
            )}
            <Disclosure key={`manual-${round}`} icon="pen" title={words.byHand} text={words.byHandText}>
              {() => (
                <ManualWay
                  calls={calls}
                  chains={chains}
                  contractChains={contractChains}
                  lockedWallet={lockedWallet}
                  onDone={added}
                />
              )}
            </Disclosure>
          </div>
        </section>
      )}
    </Screen>
  )
}
