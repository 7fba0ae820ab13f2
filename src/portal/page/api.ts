// Requests of the page to its server, the only server that it contacts.
import type { EvidenceFields } from '../../identity/evidence-types.ts'
import type { ChallengeAnswer, EntryAnswer, HandoverAnswer, Language, ProblemAnswer, SessionView } from '../contract.ts'

/** The server refused the request. `reason` selects a translated text. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number
  readonly reason: string
  readonly requestId: string
  constructor(status: number, reason: string, requestId: string) {
    super(reason)
    this.status = status
    this.reason = reason
    this.requestId = requestId
  }
}

/** Returns whether the same request may succeed later; false if its content was refused. */
export const mayHelpAgain = (error: unknown): boolean =>
  !(error instanceof RefusedError) || error.status >= 500 || error.status === 408 || error.status === 429

/** The server was unreachable, or its response was lost. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
}

/** Returns the public URL of the page, without a trailing slash, as configured on the server. */
export const portalUrl = (): string => document.querySelector<HTMLMetaElement>('meta[name="portal-url"]')?.content ?? ''

/** Returns the path of the public URL; empty at the root of a host. */
export const basePath = (): string => {
  const url = portalUrl()
  // URL.parse requires Safari 18.
  return URL.canParse(url) ? new URL(url).pathname.replace(/\/$/, '') : ''
}

const TIMEOUT_MS = 40_000

const refused = async (response: Response): Promise<RefusedError> => {
  const requestId = response.headers.get('x-request-id') ?? ''
  try {
    const problem = (await response.json()) as Partial<ProblemAnswer>
    return new RefusedError(response.status, problem.reason ?? '', requestId)
  } catch {
    // The response is from a proxy or another server, so only the status is meaningful.
    return new RefusedError(response.status, '', requestId)
  }
}

const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
  let response: Response
  try {
    response = await fetch(`${basePath()}/api/${path}`, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  } catch {
    throw new NetworkError('not reached')
  }
  if (!response.ok) throw await refused(response)
  try {
    return (await response.json()) as Answer
  } catch {
    throw new NetworkError('cut off')
  }
}

interface WalletToProve {
  readonly address: string
  /** EIP-155 chain id; null for Solana. */
  readonly chainId: number | null
}

/** Proof of a wallet, for a session or for a link bound to another browser. */
export interface ProofCalls<Result> {
  challenge(wallet: WalletToProve): Promise<ChallengeAnswer>
  prove(nonce: string, signature: string): Promise<Result>
}

export const enter = (token: string): Promise<EntryAnswer> => call('POST', 'enter', { token })

export const continueCalls = (token: string): ProofCalls<EntryAnswer> => ({
  challenge: (wallet) => call('POST', 'continue/challenge', { token, ...wallet }),
  prove: (nonce, signature) => call('POST', 'continue', { token, nonce, signature }),
})

export const sessionCalls = (sessionId: string) => {
  const path = `sessions/${sessionId}`
  return {
    path: `${basePath()}/api/${path}`,
    view: (): Promise<SessionView> => call('GET', path),
    fields: (): Promise<EvidenceFields> => call('GET', `${path}/fields`),
    putFields: (fields: EvidenceFields): Promise<SessionView> => call('PUT', `${path}/fields`, fields),
    agree: (agreement: {
      readonly version: string
      readonly language: Language
      readonly shares: boolean
      readonly usesDetails: boolean
    }): Promise<SessionView> => call('POST', `${path}/agreement`, agreement),
    challenge: (wallet: WalletToProve): Promise<ChallengeAnswer> => call('POST', `${path}/wallets/challenge`, wallet),
    prove: (nonce: string, signature: string): Promise<SessionView> =>
      call('POST', `${path}/wallets`, { nonce, signature }),
    removeWallet: (walletId: string): Promise<SessionView> => call('DELETE', `${path}/wallets/${walletId}`),
    removeDocument: (documentId: string): Promise<SessionView> => call('DELETE', `${path}/documents/${documentId}`),
    submit: (): Promise<SessionView> => call('POST', `${path}/submit`, {}),
    leave: (): Promise<unknown> => call('POST', `${path}/leave`, {}),
    handover: (): Promise<HandoverAnswer> => call('POST', `${path}/handover`, {}),
  }
}

export type SessionCalls = ReturnType<typeof sessionCalls>
