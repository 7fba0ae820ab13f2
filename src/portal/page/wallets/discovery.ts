// Detects the wallets of this browser. Extensions announce themselves late and in any order.
import { useEffect, useState } from 'preact/hooks'
import { followEvmWallets } from './evm.ts'
import { followSolanaWallets } from './solana.ts'
import type { DetectedWallet } from './wallet.ts'

/** Time without an announcement after which the browser counts as having no wallet. */
const PATIENCE_MS = 1_200

export interface Discovery {
  readonly wallets: readonly DetectedWallet[]
  /** Whether more wallets may announce themselves. */
  readonly searching: boolean
}

/** @param family only wallets of this family; null for all */
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
