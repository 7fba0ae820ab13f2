import { useEffect, useState } from 'preact/hooks'
import type { ChainView, WalletView } from '../../contract.ts'
import type { ProofCalls } from '../api.ts'
import { useMessages } from '../language.ts'
import { Icon } from '../ui/icons.tsx'
import { ConnectPanel } from './connect-panel.tsx'
import { followEvmWallets } from './evm.ts'
import { followSolanaWallets } from './solana.ts'
import type { DetectedWallet } from './wallet.ts'

/** Time without an announcement after which the browser counts as having no wallet. */
const PATIENCE_MS = 1_200

interface Discovery {
  readonly wallets: readonly DetectedWallet[]
  readonly searching: boolean
}

/** @param family null for both */
export const useWallets = (family: 'evm' | 'solana' | null): Discovery => {
  const [evm, setEvm] = useState<readonly DetectedWallet[]>([])
  const [solana, setSolana] = useState<readonly DetectedWallet[]>([])
  const [searching, setSearching] = useState(true)
  useEffect(() => {
    const stops = [followEvmWallets(setEvm), followSolanaWallets(setSolana)]
    const timer = setTimeout(() => setSearching(false), PATIENCE_MS)
    return () => {
      clearTimeout(timer)
      for (const stop of stops) stop()
    }
  }, [])
  const wallets = [...(family === 'solana' ? [] : evm), ...(family === 'evm' ? [] : solana)]
  return { wallets, searching: searching && wallets.length === 0 }
}

interface WalletListProps<Result> {
  readonly calls: ProofCalls<Result>
  readonly found: Discovery
  readonly chains: readonly ChainView[]
  readonly connected: readonly WalletView[]
  readonly lockedWallet: string | null
  readonly onDone: (result: Result, address: string) => void
}

export const WalletList = <Result,>({ found, onDone, ...rest }: WalletListProps<Result>) => {
  const { wallets: words } = useMessages()
  const { wallets, searching } = found
  const [open, setOpen] = useState<string | null>(null)
  if (wallets.length === 0) {
    return (
      <p class="none-found" role="status">
        {searching ? (
          <>
            <span class="spinner" aria-hidden="true" /> {words.searching}
          </>
        ) : (
          words.noneFound
        )}
      </p>
    )
  }
  return (
    <ul class="wallet-list">
      {wallets.map((wallet) => (
        <li key={wallet.key}>
          <button
            type="button"
            class="wallet-button"
            aria-expanded={open === wallet.key}
            onClick={() => setOpen(open === wallet.key ? null : wallet.key)}
          >
            {wallet.icon === null ? (
              <span class="tile tile-plain">
                <Icon name="wallet" size={22} />
              </span>
            ) : (
              <img class="wallet-icon" src={wallet.icon} alt="" width={40} height={40} />
            )}
            <span class="wallet-name">
              <span class="sr-only">{words.connectWith('')}</span>
              {wallet.name}
              <small class="muted">{wallet.family === 'solana' ? 'Solana' : 'Ethereum, EVM'}</small>
            </span>
            <Icon name={open === wallet.key ? 'down' : 'forward'} size={20} />
          </button>
          {open === wallet.key && (
            <ConnectPanel
              {...rest}
              wallet={wallet}
              onClose={() => setOpen(null)}
              onDone={(result, address) => {
                setOpen(null)
                onDone(result, address)
              }}
            />
          )}
        </li>
      ))}
    </ul>
  )
}
