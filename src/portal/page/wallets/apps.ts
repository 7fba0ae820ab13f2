// Links that open a page in a wallet app. Sources: docs.metamask.io "Use deeplinks", docs.phantom.com "Browse",
// developer.trustwallet.com "Deep Linking", web3.okx.com "App Universal Link", documentation of Coinbase and Solflare.

export interface WalletApp {
  readonly name: string
  readonly families: readonly ('evm' | 'solana')[]
  /** @param url absolute https URL */
  readonly link: (url: string) => string
}

const encode = encodeURIComponent

export const WALLET_APPS: readonly WalletApp[] = [
  {
    name: 'MetaMask',
    families: ['evm', 'solana'],
    // MetaMask expects an unencoded URL without its scheme.
    link: (url) => `https://link.metamask.io/dapp/${url.replace(/^https?:\/\//, '')}`,
  },
  {
    name: 'Coinbase Wallet',
    families: ['evm', 'solana'],
    link: (url) => `https://go.cb-w.com/dapp?cb_url=${encode(url)}`,
  },
  {
    name: 'Trust Wallet',
    families: ['evm', 'solana'],
    link: (url) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encode(url)}`,
  },
  {
    name: 'Phantom',
    families: ['evm', 'solana'],
    link: (url) => `https://phantom.app/ul/browse/${encode(url)}?ref=${encode(new URL(url).origin)}`,
  },
  {
    name: 'Solflare',
    families: ['solana'],
    link: (url) => `https://solflare.com/ul/v1/browse/${encode(url)}?ref=${encode(new URL(url).origin)}`,
  },
  {
    name: 'OKX Wallet',
    families: ['evm', 'solana'],
    link: (url) => `https://web3.okx.com/download?deeplink=${encode(`okx://wallet/dapp/url?dappUrl=${encode(url)}`)}`,
  },
]

/** Returns true for phones and tablets. */
export const isPhone = (): boolean =>
  /android|iphone|ipad|ipod/i.test(navigator.userAgent) ||
  // iPads identify themselves as Macs.
  (navigator.maxTouchPoints > 1 && /macintosh/i.test(navigator.userAgent))
