export interface WalletAccount {
  readonly address: string
  /** EIP-155 id of the current chain; null on Solana. */
  readonly chainId: number | null
}

export interface DetectedWallet {
  /** Stable until the page is closed. */
  readonly key: string
  readonly name: string
  /** Data URI, or null. Shown only as an image. */
  readonly icon: string | null
  readonly family: 'evm' | 'solana'
  /** Requests access to the accounts. @throws WalletRefusedError, WalletFailedError */
  connect(): Promise<readonly WalletAccount[]>
  /** Returns the signature as `0x` hex. @throws WalletRefusedError, WalletFailedError */
  sign(address: string, message: string): Promise<string>
}

/** The person refused the request in the wallet. */
export class WalletRefusedError extends Error {
  override readonly name = 'WalletRefusedError'
}

/** The wallet is locked or busy, or its response is malformed. The wallet's own message isn't shown. */
export class WalletFailedError extends Error {
  override readonly name = 'WalletFailedError'
}

const USER_REJECTED = 4001

/** Wallets report a refusal in different ways. */
export const walletError = (error: unknown): Error => {
  const { code, name, message } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const text = `${String(name ?? '')} ${String(message ?? '')}`.toLowerCase()
  const refused = code === USER_REJECTED || code === 'ACTION_REJECTED' || /reject|denied|declin|cancel/.test(text)
  return refused ? new WalletRefusedError('refused') : new WalletFailedError('failed')
}

export const toHex = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** Accepts only image data URIs, because any script can announce a wallet. Icons are shown only in an `img`. */
export const pictureOf = (icon: unknown): string | null =>
  typeof icon === 'string' && icon.startsWith('data:image/') ? icon : null

const NAME_MAX = 40

export const nameOf = (name: unknown): string => {
  const text = typeof name === 'string' ? name.trim().slice(0, NAME_MAX) : ''
  return text === '' ? 'Wallet' : text
}
