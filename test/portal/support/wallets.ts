// Wallets for a browser under test, announced like real wallets. They sign with keys derived from public texts.
import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import type { BrowserContext } from 'playwright-core'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

const seedOf = (name: string): Buffer => createHash('sha256').update(`countersign test key ${name}`).digest()

export const evmAccount = (name: string): PrivateKeyAccount => privateKeyToAccount(`0x${seedOf(name).toString('hex')}`)

interface SolanaKey {
  readonly address: string
  sign(message: Uint8Array): Uint8Array
}

export const solanaKey = (name: string): SolanaKey => {
  const seed = seedOf(name)
  return { address: bs58.encode(ed25519.getPublicKey(seed)), sign: (message) => ed25519.sign(message, seed) }
}

interface InjectedEvm {
  readonly kind: 'evm'
  readonly name: string
  readonly accounts: readonly PrivateKeyAccount[]
  readonly chainId?: number
}

interface InjectedSolana {
  readonly kind: 'solana'
  readonly name: string
  readonly key: SolanaKey
}

export type Injected = InjectedEvm | InjectedSolana

/** Behavior of a wallet that receives a request to sign. */
export interface WalletBehaviour {
  /** Refuses to sign. */
  refuse: boolean
  /** Signs with another key. */
  forge: boolean
  /** Waits for its password, and shares no account. */
  locked: boolean
}

const picture = (color: string): string =>
  `data:image/svg+xml;base64,${Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="${color}"/><path d="M9 15h19a3 3 0 0 1 3 3v9a3 3 0 0 1-3 3H12a3 3 0 0 1-3-3zM9 15a3 3 0 0 1 3-3h13v3" fill="none" stroke="#fff" stroke-width="2.4" stroke-linejoin="round"/><circle cx="26" cy="22.5" r="1.8" fill="#fff"/></svg>`,
  ).toString('base64')}`

const COLORS = ['#e2761b', '#2c5ff6', '#7c4dff', '#0aa57f', '#111827', '#d1345b']

interface Described {
  readonly kind: 'evm' | 'solana'
  readonly name: string
  readonly icon: string
  readonly addresses: readonly string[]
  readonly chainId: number
}

/** Runs in the page before its scripts. */
const announce = (wallets: readonly Described[]): void => {
  const signer = window as unknown as Record<string, (address: string, hex: string) => Promise<string>>
  const { __locked: isLocked } = window as unknown as { __locked: () => Promise<boolean> }
  const unlocked = async (): Promise<void> => {
    // The error of MetaMask while its window is open.
    if (await isLocked()) throw Object.assign(new Error('Already processing eth_requestAccounts.'), { code: -32002 })
  }
  const sign = async (kind: string, address: string, hex: string): Promise<string> => {
    const signature = await signer[`__sign_${kind}`]?.(address, hex)
    if (signature === undefined || signature === '') {
      throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
    }
    return signature
  }
  const fromHex = (hex: string): Uint8Array =>
    Uint8Array.from(hex.replace(/^0x/, '').match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

  for (const [index, wallet] of wallets.entries()) {
    if (wallet.kind === 'evm') {
      const provider = {
        request: async ({ method, params }: { method: string; params?: readonly string[] }) => {
          if (method === 'eth_requestAccounts') await unlocked()
          if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [...wallet.addresses]
          if (method === 'eth_chainId') return `0x${wallet.chainId.toString(16)}`
          if (method === 'personal_sign') return sign('evm', params?.[1] ?? '', params?.[0] ?? '')
          throw Object.assign(new Error('unsupported'), { code: 4200 })
        },
        on: () => undefined,
        removeListener: () => undefined,
      }
      const detail = Object.freeze({
        info: {
          uuid: `00000000-0000-4000-8000-00000000000${index}`,
          name: wallet.name,
          icon: wallet.icon,
          rdns: `test.wallet${index}`,
        },
        provider,
      })
      const announceProvider = (): void => {
        window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
      }
      window.addEventListener('eip6963:requestProvider', announceProvider)
      announceProvider()
      continue
    }
    const [address = ''] = wallet.addresses
    const account = {
      address,
      publicKey: new Uint8Array(32),
      chains: ['solana:mainnet'],
      features: ['solana:signMessage'],
    }
    const standard = {
      version: '1.0.0',
      name: wallet.name,
      icon: wallet.icon,
      chains: ['solana:mainnet'],
      accounts: [account],
      features: {
        'standard:connect': {
          version: '1.0.0',
          // A locked Solana wallet connects without an account.
          connect: async () => ({ accounts: (await isLocked()) ? [] : [account] }),
        },
        'standard:events': { version: '1.0.0', on: () => () => undefined },
        'solana:signMessage': {
          version: '1.0.0',
          signMessage: async ({ message }: { message: Uint8Array }) => {
            const hex = Array.from(message, (byte) => byte.toString(16).padStart(2, '0')).join('')
            return [{ signedMessage: message, signature: fromHex(await sign('solana', address, hex)) }]
          },
        },
      },
    }
    const register = ({ register: add }: { register: (wallet: unknown) => void }): void => add(standard)
    window.addEventListener('wallet-standard:app-ready', (event) => register((event as CustomEvent).detail))
    window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
  }
}

/** Injects wallets into every page of a browser profile. @returns their behavior, which can be changed */
export const injectWallets = async (
  context: BrowserContext,
  wallets: readonly Injected[],
): Promise<WalletBehaviour> => {
  const behaviour: WalletBehaviour = { refuse: false, forge: false, locked: false }
  const accounts = wallets.flatMap((wallet) => (wallet.kind === 'evm' ? wallet.accounts : []))
  const keys = wallets.flatMap((wallet) => (wallet.kind === 'solana' ? [wallet.key] : []))
  await context.exposeFunction('__sign_evm', async (address: string, hex: string) => {
    if (behaviour.refuse) return ''
    const own = accounts.find((account) => account.address.toLowerCase() === address.toLowerCase())
    const account = behaviour.forge ? evmAccount('forger') : own
    if (account === undefined) return ''
    return account.signMessage({ message: { raw: hex as `0x${string}` } })
  })
  await context.exposeFunction('__locked', () => behaviour.locked)
  await context.exposeFunction('__sign_solana', (address: string, hex: string) => {
    if (behaviour.refuse) return ''
    const key = behaviour.forge ? solanaKey('forger') : keys.find((known) => known.address === address)
    return key === undefined ? '' : Buffer.from(key.sign(Buffer.from(hex, 'hex'))).toString('hex')
  })
  await context.addInitScript(
    announce,
    wallets.map(
      (wallet, index): Described => ({
        kind: wallet.kind,
        name: wallet.name,
        icon: picture(COLORS[index % COLORS.length] ?? '#000'),
        addresses: wallet.kind === 'evm' ? wallet.accounts.map(({ address }) => address) : [wallet.key.address],
        chainId: wallet.kind === 'evm' ? (wallet.chainId ?? 1) : 0,
      }),
    ),
  )
  return behaviour
}
