// The interface of a wallet to the page, whichever way the wallet announced itself: its accounts, and signing a text.

export interface WalletAccount {
  readonly address: string
  /** EIP-155 id of the chain that the wallet is on; null on Solana. */
  readonly chainId: number | null
}

export interface DetectedWallet {
  /** The same as long as the page lives. */
  readonly key: string
  readonly name: string
  /** A data URI, or null. Shown as a picture only. */
  readonly icon: string | null
  readonly family: 'evm' | 'solana'
  /** Asks the person which accounts this page may see. @throws WalletRefusedError, WalletFailedError */
  connect(): Promise<readonly WalletAccount[]>
  /** `0x` hex. @throws WalletRefusedError, WalletFailedError */
  sign(address: string, message: string): Promise<string>
}

/** The person refused in the wallet's own window. */
export class WalletRefusedError extends Error {
  override readonly name = 'WalletRefusedError'
}

/** The wallet is locked or busy, or its answer is malformed. Its own message is not shown. */
export class WalletFailedError extends Error {
  override readonly name = 'WalletFailedError'
}

/** EIP-1193: the user rejected the request. */
const USER_REJECTED = 4001

/** Maps a wallet's error: wallets report a refusal in different ways. */
export const walletError = (error: unknown): Error => {
  const { code, name, message } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const text = `${String(name ?? '')} ${String(message ?? '')}`.toLowerCase()
  const refused = code === USER_REJECTED || code === 'ACTION_REJECTED' || /reject|denied|declin|cancel/.test(text)
  return refused ? new WalletRefusedError('refused') : new WalletFailedError('failed')
}

export const toHex = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** Only what a picture can be: announced by someone else's script, shown by an `img` alone. */
export const pictureOf = (icon: unknown): string | null =>
  typeof icon === 'string' && icon.startsWith('data:image/') ? icon : null

const NAME_MAX = 40

export const nameOf = (name: unknown): string => {
  const text = typeof name === 'string' ? name.trim().slice(0, NAME_MAX) : ''
  return text === '' ? 'Wallet' : text
}
