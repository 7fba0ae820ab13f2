// Solana wallets of the Wallet Standard. They sign the bytes of the server's text.
import { getWallets } from '@wallet-standard/app'
import type { WalletAccount as StandardAccount, Wallet } from '@wallet-standard/base'
import { type DetectedWallet, nameOf, pictureOf, toHex, WalletFailedError, walletError } from './wallet.ts'

interface ConnectFeature {
  connect(): Promise<{ readonly accounts: readonly StandardAccount[] }>
}

interface SignMessageFeature {
  signMessage(input: {
    readonly account: StandardAccount
    readonly message: Uint8Array
  }): Promise<readonly { readonly signedMessage: Uint8Array; readonly signature: Uint8Array }[]>
}

const CONNECT = 'standard:connect'
const SIGN_MESSAGE = 'solana:signMessage'
const SIGNATURE_BYTES = 64

const featureOf = <Feature>(wallet: Wallet, name: string): Feature | null =>
  ((wallet.features as Readonly<Record<string, unknown>>)[name] as Feature | undefined) ?? null

const isSolana = (chain: string): boolean => chain.startsWith('solana:')

const same = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

const fromStandard = (wallet: Wallet, number: number): DetectedWallet | null => {
  const connecting = featureOf<ConnectFeature>(wallet, CONNECT)
  const signing = featureOf<SignMessageFeature>(wallet, SIGN_MESSAGE)
  if (connecting === null || signing === null || !wallet.chains.some(isSolana)) return null
  return {
    key: `solana:${number}`,
    name: nameOf(wallet.name),
    icon: pictureOf(wallet.icon),
    family: 'solana',
    connect: async () => {
      try {
        const { accounts } = await connecting.connect()
        return accounts.filter(({ chains }) => chains.some(isSolana)).map(({ address }) => ({ address, chainId: null }))
      } catch (error) {
        throw walletError(error)
      }
    },
    sign: async (address, message) => {
      const account = wallet.accounts.find((known) => known.address === address)
      if (account === undefined) throw new WalletFailedError('the account is gone')
      const bytes = new TextEncoder().encode(message)
      let outcome: Awaited<ReturnType<SignMessageFeature['signMessage']>>[number] | undefined
      try {
        ;[outcome] = await signing.signMessage({ account, message: bytes })
      } catch (error) {
        throw walletError(error)
      }
      // The server can't verify a signature over another text, such as one with a prefix.
      if (outcome?.signature.length !== SIGNATURE_BYTES || !same(outcome.signedMessage, bytes)) {
        throw new WalletFailedError('no signature')
      }
      return toHex(outcome.signature)
    },
  }
}

/** Reports all wallets after each change. @returns a function that stops this */
export const followSolanaWallets = (onChange: (wallets: readonly DetectedWallet[]) => void): (() => void) => {
  const { get, on } = getWallets()
  const known = new Map<Wallet, DetectedWallet | null>()
  const tell = (): void => {
    const found = get().map((wallet) => {
      if (!known.has(wallet)) known.set(wallet, fromStandard(wallet, known.size))
      return known.get(wallet) ?? null
    })
    onChange(found.filter((wallet) => wallet !== null))
  }
  const stops = [on('register', tell), on('unregister', tell)]
  tell()
  return () => {
    for (const stop of stops) stop()
  }
}
