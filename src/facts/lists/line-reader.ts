// Reads one address per line, or CSV with address and memo. Reports invalid lines and skips them.

import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import { parseAnyAddress } from '../../domain/address-key.ts'
import { isMemo, MEMO_RULE } from '../../domain/list.ts'
import { escapeFormula, unescapeFormula } from '../../lib/csv.ts'

/** Length of the payload: version byte, 20 bytes, and a checksum of four bytes. */
const PAYLOAD = 25
const VERSIONS: Readonly<Record<number, string>> = { 0: 'XBT', 5: 'XBT', 65: 'TRX' }
const BECH32_BITCOIN = /^bc1[02-9ac-hj-np-z]{11,71}$/
const LENGTH_MAX = 36

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** Returns the usual ticker of the asset; `other` for an unknown chain; null for other text. */
export const otherChainOf = (text: string): string | null => {
  if (BECH32_BITCOIN.test(text)) return 'XBT'
  const bytes = text.length > LENGTH_MAX ? undefined : bs58.decodeUnsafe(text)
  if (bytes === undefined || bytes.length !== PAYLOAD) return null
  const checksum = sha256(sha256(bytes.subarray(0, -4))).subarray(0, 4)
  return checksum.equals(bytes.subarray(-4)) ? (VERSIONS[bytes[0]!] ?? 'other') : null
}

export interface BadLine {
  readonly line: number
  readonly problem: string
}

export interface LineReaderOptions {
  readonly format: 'text' | 'csv'
  readonly onEntry: (canonicalAddress: string, memo: string) => void
  readonly onBadLine: (bad: BadLine) => void
  readonly onSkipped: (asset: string) => void
}

/** Maximum length. A longer line is invalid, and its rest isn't kept in memory. */
const LINE_MAX = 4_096
const QUOTE = '"'
const BYTE_ORDER_MARK = '\ufeff'

/** Returns the fields (RFC 4180, without line breaks in fields), or the reason that the line is invalid. */
export const splitCsvLine = (line: string): readonly string[] | string => {
  const fields: string[] = []
  let at = 0
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t') at++
    if (line[at] === QUOTE) {
      let field = ''
      for (at++; ; ) {
        const end = line.indexOf(QUOTE, at)
        if (end === -1) return 'a quote is not closed'
        field += line.slice(at, end)
        at = end + 1
        if (line[at] !== QUOTE) break
        field += QUOTE
        at++
      }
      fields.push(field)
      while (line[at] === ' ' || line[at] === '\t') at++
      if (at < line.length && line[at] !== ',') return 'text follows a closing quote'
    } else {
      const end = line.indexOf(',', at)
      fields.push(line.slice(at, end === -1 ? line.length : end).trim())
      at = end === -1 ? line.length : end
    }
    if (at >= line.length) return fields
    at++
  }
}

/** Quotes the field if necessary. Spreadsheets never evaluate the result. */
export const csvField = (memo: string): string => {
  const text = escapeFormula(memo)
  return /[",]|^\s|\s$/.test(text) ? `${QUOTE}${text.replaceAll(QUOTE, QUOTE + QUOTE)}${QUOTE}` : text
}

const HEADER = 'address'

export const createLineReader = ({ format, onEntry, onBadLine, onSkipped }: LineReaderOptions) => {
  let rest = ''
  let line = 0
  let dropping = false

  const takeEntry = (text: string, memo: string): void => {
    const address = parseAnyAddress(text)
    const otherChain = address === null ? otherChainOf(text) : null
    if (!isMemo(memo)) onBadLine({ line, problem: `the memo ${MEMO_RULE}` })
    else if (address !== null) onEntry(address, memo)
    else if (otherChain !== null) onSkipped(otherChain)
    else onBadLine({ line, problem: 'not an EVM or Solana address' })
  }

  const takeCsv = (text: string): void => {
    const fields = splitCsvLine(text)
    const [address = '', memo = ''] = fields
    if (typeof fields === 'string') onBadLine({ line, problem: fields })
    else if (line === 1 && address.toLowerCase() === HEADER) return
    else if (fields.length > 2) onBadLine({ line, problem: 'more than two fields' })
    else takeEntry(address, unescapeFormula(memo))
  }

  const takeLine = (raw: string): void => {
    line += 1
    const text = (line === 1 && raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(1) : raw).trim()
    if (dropping || text.length > LINE_MAX) onBadLine({ line, problem: `more than ${LINE_MAX} characters` })
    else if (text === '' || text.startsWith('#')) return
    else if (format === 'csv') takeCsv(text)
    else takeEntry(text, '')
  }

  return {
    /** Processes the next piece of the text, which may end anywhere. */
    write: (piece: string) => {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) {
        takeLine(text)
        dropping = false
      }
      if (rest.length <= LINE_MAX) return
      dropping = true
      rest = ''
    },
    end: () => {
      if (rest !== '' || dropping) takeLine(rest)
      rest = ''
      dropping = false
    },
  }
}
