// Recognizes well-formed addresses of chains that Countersign does not attest for. A published list may contain them:
// they are skipped and counted, whereas a mistyped address is an error. Source: BIP-13 and TRON (Base58Check), BIP-173
// (bech32).
import { createHash } from 'node:crypto'
import bs58 from 'bs58'

/** One version byte, 20 bytes, four bytes of checksum. */
const PAYLOAD = 25
const VERSIONS: Readonly<Record<number, string>> = { 0: 'XBT', 5: 'XBT', 65: 'TRX' }
const BECH32_BITCOIN = /^bc1[02-9ac-hj-np-z]{11,71}$/
const LENGTH_MIN = 25
const LENGTH_MAX = 36

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/**
 * @returns the asset's usual ticker; `other` for a chain that is not known here; null when the text is no such address
 */
export const otherChainOf = (text: string): string | null => {
  if (BECH32_BITCOIN.test(text)) return 'XBT'
  const bytes = text.length < LENGTH_MIN || text.length > LENGTH_MAX ? undefined : bs58.decodeUnsafe(text)
  if (bytes === undefined || bytes.length !== PAYLOAD) return null
  const checksum = sha256(sha256(bytes.subarray(0, -4))).subarray(0, 4)
  return checksum.equals(bytes.subarray(-4)) ? (VERSIONS[bytes[0]!] ?? 'other') : null
}
