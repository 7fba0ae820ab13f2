// Finds listener certificates that have expired or expire soon. A process keeps its first certificate, so a new file
// requires new processes.

import { X509Certificate } from 'node:crypto'
import { dayOf } from '../lib/time.ts'
import type { ListenerTls } from '../server/listen-address.ts'
import type { TlsOfListeners } from './tls-files.ts'

export interface CertificateCheck {
  readonly check: 'certificate'
  readonly subject: string
  /** `problem`: clients reject the certificate. `note`: it expires soon. */
  readonly result: 'note' | 'problem'
  readonly detail: string
}

const SOON_DAYS = 14
const DAY_SECONDS = 86_400

/** Returns the period in which all certificates of the chain are valid. */
const termOf = ({ cert }: ListenerTls) => {
  const blocks = cert
    .split(/(?<=-----END CERTIFICATE-----)/)
    .filter((block) => block.includes('-----BEGIN CERTIFICATE'))
  const terms = blocks.map((block) => new X509Certificate(block))
  return {
    fromSeconds: Math.max(...terms.map(({ validFromDate }) => validFromDate.getTime() / 1_000)),
    toSeconds: Math.min(...terms.map(({ validToDate }) => validToDate.getTime() / 1_000)),
  }
}

export const inspectCertificateTerms = (tls: TlsOfListeners, nowSeconds: number): readonly CertificateCheck[] =>
  Object.entries(tls).flatMap(([listener, pair]: [string, ListenerTls | null]): CertificateCheck[] => {
    if (pair === null) return []
    const { fromSeconds, toSeconds } = termOf(pair)
    const found = { check: 'certificate', subject: listener } as const
    if (nowSeconds >= toSeconds)
      return [{ ...found, result: 'problem', detail: `its TLS certificate expired on ${dayOf(toSeconds)}: replace it` }]
    if (nowSeconds < fromSeconds)
      return [{ ...found, result: 'problem', detail: `its TLS certificate is not valid until ${dayOf(fromSeconds)}` }]
    if (toSeconds - nowSeconds > SOON_DAYS * DAY_SECONDS) return []
    const days = Math.floor((toSeconds - nowSeconds) / DAY_SECONDS)
    const detail = `its TLS certificate expires on ${dayOf(toSeconds)} (in ${days} days): replace it, then restart or send SIGHUP`
    return [{ ...found, result: 'note', detail }]
  })
