import { NetworkError, RefusedError } from './api.ts'
import type { Messages } from './messages/english.ts'

const WALLETS_MAX = 20
const WALLETS_OVER_TIME_MAX = 100
const DOCUMENT_MEGABYTES_MAX = 10

const byReason = (messages: Messages): Readonly<Record<string, string>> => {
  const { errors } = messages
  return {
    'proof-invalid': errors.proof,
    'wallet-locked': errors.locked,
    'wallet-limit': errors.limit(WALLETS_MAX),
    'wallets-over-time': errors.limit(WALLETS_OVER_TIME_MAX),
    'wallet-foreign': errors.notConnected,
    'session-closed': errors.closed,
    'part-not-requested': errors.notRequested,
    'transition-refused': errors.closed,
    'session-changed': errors.closed,
    'address-checksum': errors.addressChecksum,
    'agreement-outdated': errors.outdated,
    'agreement-missing': errors.outdated,
    'evidence-incomplete': errors.incomplete,
    'dependency-unavailable': errors.chain,
    'origin-foreign': errors.originForeign,
    'evidence-busy': messages.documents.busy,
    'document-type': messages.documents.wrongType(messages.documents.imageOrPdf),
    'document-invalid': messages.documents.unreadable,
    'document-infected': messages.documents.infected,
    'scanner-unavailable': messages.documents.busy,
    'document-too-large': messages.documents.tooLarge(DOCUMENT_MEGABYTES_MAX),
    'document-body-missing': messages.documents.empty,
  }
}

export const problemText = (error: unknown, messages: Messages): string => {
  const { errors } = messages
  if (error instanceof NetworkError) return errors.network
  if (!(error instanceof RefusedError)) return errors.general
  const known = byReason(messages)[error.reason]
  if (known !== undefined) return known
  if (error.status === 408) return errors.late
  return error.status === 429 || error.status === 503 ? errors.busy : errors.general
}
