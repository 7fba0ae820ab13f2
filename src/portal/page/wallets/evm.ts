// EVM wallets announced by EIP-6963, or `window.ethereum`. They sign the server's text with `personal_sign` (EIP-191).
import { createStore, type EIP6963ProviderDetail } from 'mipd'
import {
  type DetectedWallet,
  nameOf,
  pictureOf,
  toHex,
  type WalletAccount,
  WalletFailedError,
  walletError,
} from './wallet.ts'

/** The part of EIP-1193 that the page uses. */
interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const SIGNATURE = /^0x[0-9a-fA-F]+$/

const ask = async (provider: Provider, method: string, params?: readonly unknown[]): Promise<unknown> => {
  try {
    return await provider.request(params === undefined ? { method } : { method, params })
  } catch (error) {
    throw walletError(error)
  }
}

const readChainId = (value: unknown): number => {
  const chainId = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  return Number.isSafeInteger(chainId) && chainId > 0 ? chainId : 1
}

const evmWallet = (key: string, name: unknown, icon: unknown, provider: Provider): DetectedWallet => ({
  key,
  name: nameOf(name),
  icon: pictureOf(icon),
  family: 'evm',
  connect: async () => {
    const accounts = await ask(provider, 'eth_requestAccounts')
    const chainId = readChainId(await ask(provider, 'eth_chainId'))
    const addresses = Array.isArray(accounts) ? accounts.filter((account) => ADDRESS.test(String(account))) : []
    return addresses.map((address): WalletAccount => ({ address: String(address), chainId }))
  },
  sign: async (address, message) => {
    const signature = await ask(provider, 'personal_sign', [toHex(new TextEncoder().encode(message)), address])
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) throw new WalletFailedError('no signature')
    return signature
  },
})

const fromDetail = ({ info, provider }: EIP6963ProviderDetail): DetectedWallet =>
  evmWallet(`evm:${info.uuid}`, info.name, info.icon, provider as unknown as Provider)

/** Reports all wallets after each announcement. @returns a function that stops this */
export const followEvmWallets = (onChange: (wallets: readonly DetectedWallet[]) => void): (() => void) => {
  const store = createStore()
  const known = new Map<string, DetectedWallet>()
  const tell = (): void => {
    for (const detail of store.getProviders()) {
      if (!known.has(detail.info.uuid)) known.set(detail.info.uuid, fromDetail(detail))
    }
    if (known.size > 0) {
      onChange([...known.values()])
      return
    }
    // Finds in-app browsers of wallets without EIP-6963.
    const injected = (window as { readonly ethereum?: Partial<Provider> }).ethereum
    onChange(
      typeof injected?.request === 'function'
        ? [evmWallet('evm:injected', injectedName(injected), null, injected as Provider)]
        : [],
    )
  }
  const stop = store.subscribe(tell)
  tell()
  return () => {
    stop()
    store.destroy()
  }
}

const injectedName = (injected: object): string => {
  const flags = injected as Readonly<Record<string, unknown>>
  if (flags['isTrust'] === true || flags['isTrustWallet'] === true) return 'Trust Wallet'
  if (flags['isCoinbaseWallet'] === true) return 'Coinbase Wallet'
  return flags['isMetaMask'] === true ? 'MetaMask' : 'Browser wallet'
}
