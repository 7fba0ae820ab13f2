// Message that a wallet signs to prove ownership. It names the page's host, the organization and the session (threats
// row 4). Source: EIP-4361; for Solana, "Sign In With Solana" of the Wallet Standard, which has the same fields.

import { type WalletOnChain, walletAddressText } from '../../domain/wallet.ts'
import { isoTime } from '../../lib/time.ts'

export interface ProofMessageFields {
  /** Host of the page, with its port if it has one. */
  readonly portalHost: string
  readonly portalUrl: string
  readonly wallet: WalletOnChain
  /** At least 8 alphanumeric characters. */
  readonly nonce: string
  readonly issuedAtSeconds: number
  readonly expiresAtSeconds: number
  readonly sessionId: string
  readonly organizationName: string
  /** `connect` (default) connects the wallet; `continue` opens the session in another browser. */
  readonly purpose?: 'connect' | 'continue'
}

const STATEMENTS = {
  connect: (name: string) => `Connect this wallet to your identity verification for ${name}`,
  continue: (name: string) => `Continue in this browser your identity verification for ${name}`,
} as const

/** Solana's clusters have no numeric id. */
const SOLANA_CHAIN_ID = 'mainnet'
const NAME_MAX = 80

/**
 * Limits a name to the characters that EIP-4361 allows in a statement, so that wallets accept the message and a name
 * can't add a line. Other characters become question marks.
 */
export const printableName = (name: string): string => {
  let text = ''
  // Drops accents but keeps the letters.
  for (const character of name.normalize('NFD').replaceAll(/\p{Mn}/gu, '')) {
    const code = character.codePointAt(0) ?? 0
    text += code >= 0x20 && code <= 0x7e && !'"<>\\^`{|}/%'.includes(character) ? character : '?'
  }
  return text.replaceAll(/ +/g, ' ').trim().slice(0, NAME_MAX)
}

export const buildProofMessage = (fields: ProofMessageFields): string => {
  const { portalHost, portalUrl, wallet, nonce, sessionId } = fields
  const statement = STATEMENTS[fields.purpose ?? 'connect'](printableName(fields.organizationName))
  return [
    `${portalHost} wants you to sign in with your ${wallet.family === 'evm' ? 'Ethereum' : 'Solana'} account:`,
    walletAddressText(wallet.address),
    '',
    `${statement}${statement.endsWith('.') ? '' : '.'} This costs nothing and moves no funds.`,
    '',
    `URI: ${portalUrl}`,
    'Version: 1',
    `Chain ID: ${wallet.family === 'evm' ? wallet.chainId : SOLANA_CHAIN_ID}`,
    `Nonce: ${nonce}`,
    `Issued At: ${isoTime(fields.issuedAtSeconds)}`,
    `Expiration Time: ${isoTime(fields.expiresAtSeconds)}`,
    `Request ID: ${sessionId}`,
  ].join('\n')
}
