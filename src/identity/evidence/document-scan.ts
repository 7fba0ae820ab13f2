// Refuses infected documents, and decides on documents that arrive while the scanner is unavailable.
import type { EvidenceSession } from '../evidence-types.ts'
import type { Scanner } from './clamd.ts'
import { DocumentInfectedError, ScannerUnavailableError } from './errors.ts'

export type DocumentScan = (session: EvidenceSession, bytes: Uint8Array) => Promise<void>

interface DocumentScanDependencies {
  readonly scanner: Scanner
  readonly whenAway: 'refuse' | 'allow'
  readonly found: (session: EvidenceSession, signature: string) => Promise<void>
  readonly away: (error: unknown) => void
}

export const createDocumentScan =
  ({ scanner, whenAway, found, away }: DocumentScanDependencies): DocumentScan =>
  async (session, bytes) => {
    let signature: string | null
    try {
      signature = await scanner(bytes)
    } catch (error) {
      away(error)
      if (whenAway === 'allow') return
      throw new ScannerUnavailableError(error)
    }
    if (signature === null) return
    await found(session, signature)
    throw new DocumentInfectedError()
  }
