// Exchanges a link for a cookie. The first browser that opens a link gets the cookie. Other browsers, and links to a
// session in use, require proof of one of the session's wallets. Source: threats rows 2 and 4.
import { Elysia } from 'elysia'
import { randomBase62 } from '../domain/identifier.ts'
import type { SessionState } from '../domain/session.ts'
import { ProofInvalidError } from '../domain/session-errors.ts'
import { type LinkSession, type ProofKind, type WalletOnChain, walletAddressText } from '../domain/wallet.ts'
import { NONCE_LIFETIME_SECONDS } from '../identity/sessions/connect.ts'
import { parseToken } from '../identity/sessions/portal-link.ts'
import { buildProofMessage } from '../identity/sessions/proof-message.ts'
import { assignOwner } from '../lib/caller.ts'
import { jsonResponse } from '../server/response.ts'
import type { ChallengeAnswer, EntryAnswer } from './contract.ts'
import { LinkUnknownError, WalletForeignError } from './errors.ts'
import type { PortalGate } from './gate.ts'
import { decodeWalletOnChain, readObject, textOf } from './json.ts'
import type { PageLimits } from './session-limit.ts'
import { chainViews, contractChainTitles } from './session-view.ts'
import type { PortalParts } from './types.ts'

const TOKEN_MAX = 64
const SIGNATURE_MAX = 20_000
/** 131 random bits, alphanumeric as EIP-4361 requires. */
const NONCE_LENGTH = 22

interface Entered extends LinkSession {
  readonly cookie: string | null
}

type Entry =
  | ({ readonly kind: 'entered' } & Entered)
  | ({ readonly kind: 'elsewhere'; readonly linkHash: Uint8Array } & LinkSession)

export const createEntry = (parts: PortalParts, limits: PageLimits) => {
  const { links, sessions, organizations, cookies, verifyProof, portalUrl, clock } = parts
  const portalHost = new URL(portalUrl).host
  const contractChains = contractChainTitles(parts)
  const chains = chainViews(parts.chains)

  const requireLink = async (token: string) => {
    const linkHash = parseToken(token)
    const link = linkHash === null ? null : await links.find(linkHash)
    if (linkHash === null || link === null) throw new LinkUnknownError()
    assignOwner(link.organizationId)
    return { ...link, linkHash }
  }

  /** Binds an unbound link to this browser. @throws LinkUnknownError */
  const enter = async (token: string, headers: Headers): Promise<Entry> => {
    const { linkHash, cookieHash, organizationId, sessionId } = await requireLink(token)
    const { secret, hash } = cookies.make()
    const own = cookies.read(headers, sessionId)
    if (cookieHash === null && (await links.bind({ organizationId, sessionId }, linkHash, hash, own))) {
      return { kind: 'entered', organizationId, sessionId, cookie: cookies.write(sessionId, secret) }
    }
    // The cookie may come from any link of the session.
    if (own !== null && (await links.findBrowser(own, sessionId)) !== null) {
      return { kind: 'entered', organizationId, sessionId, cookie: null }
    }
    return { kind: 'elsewhere', organizationId, sessionId, linkHash }
  }

  const challenge = async (token: string, wallet: WalletOnChain): Promise<ChallengeAnswer> => {
    const { linkHash, organizationId, sessionId } = await requireLink(token)
    limits.takeEntry(linkHash)
    const organization = await organizations.find(organizationId)
    const nonce = randomBase62(NONCE_LENGTH)
    const issuedAtSeconds = clock.unixSeconds()
    const expiresAtSeconds = issuedAtSeconds + NONCE_LIFETIME_SECONDS
    const message = buildProofMessage({
      portalHost,
      portalUrl,
      wallet,
      nonce,
      sessionId,
      issuedAtSeconds,
      expiresAtSeconds,
      organizationName: organization?.name ?? '',
      purpose: 'continue',
    })
    await links.addChallenge({
      nonce,
      linkHash,
      organizationId,
      sessionId,
      wallet,
      message,
      expiresAtSeconds,
    })
    return { nonce, message, address: walletAddressText(wallet.address), expiresAtSeconds }
  }

  /**
   * A contract counts only on its own chain, because its address may have another owner on other chains. Before a wallet
   * was connected (`unproven`), a contract on any chain may take over the session, without the evidence in it.
   */
  const belongs = (state: SessionState, on: WalletOnChain, kind: ProofKind): 'yes' | 'unproven' | 'no' => {
    const { address } = on
    const { session, wallets } = state
    const isContract = kind === 'erc1271' && on.family === 'evm'
    const chain = isContract ? parts.chains.byId(on.chainId)?.name : null
    if (wallets.some((wallet) => wallet.address === address && (!isContract || wallet.chain === chain))) return 'yes'
    if (session.lockedAddress !== address) return 'no'
    return isContract ? 'unproven' : 'yes'
  }

  /** @throws LinkUnknownError, RateExceededError, ProofInvalidError, WalletForeignError */
  const proceed = async (token: string, nonce: string, signature: string, address: string): Promise<Entered> => {
    const { linkHash, organizationId, sessionId } = await requireLink(token)
    limits.takeEntry(linkHash)
    limits.takeProof(address)
    const asked = await links.findChallenge(linkHash, nonce)
    const kind = asked === null ? null : await verifyProof({ ...asked, signature })
    if (asked === null || kind === null) throw new ProofInvalidError()
    const state = await sessions.find(organizationId, sessionId)
    // Thrown only after a valid proof, so nobody can find a session's wallets by guessing.
    const owns = state === null ? 'no' : belongs(state, asked.wallet, kind)
    if (owns === 'no') throw new WalletForeignError()
    const { secret, hash } = cookies.make()
    const moved = await links.moveLink(asked, hash, owns === 'unproven')
    if (moved === 'wallet-foreign') throw new WalletForeignError()
    if (!moved) throw new ProofInvalidError()
    return { organizationId, sessionId, cookie: cookies.write(sessionId, secret) }
  }

  const entered = ({ sessionId, cookie }: Entered, requestId: string): Response => {
    const answer: EntryAnswer = { kind: 'entered', sessionId }
    const response = jsonResponse(JSON.stringify(answer), requestId)
    if (cookie !== null) response.headers.set('set-cookie', cookie)
    return response
  }

  const routes = (gate: PortalGate) => {
    const enterByLink = gate(async ({ request, requestId }) => {
      const token = textOf(await readObject(request), 'token', TOKEN_MAX)
      const entry = await enter(token, request.headers)
      if (entry.kind === 'entered') return entered(entry, requestId)
      const organization = await organizations.find(entry.organizationId)
      const answer: EntryAnswer = {
        kind: 'elsewhere',
        organizationName: organization?.name ?? '',
        chains,
        contractChains,
      }
      return jsonResponse(JSON.stringify(answer), requestId)
    })

    const requestChallenge = gate(async ({ request, requestId }) => {
      const body = await readObject(request)
      const answer = await challenge(textOf(body, 'token', TOKEN_MAX), decodeWalletOnChain(body))
      return jsonResponse(JSON.stringify(answer), requestId)
    })

    const continueHere = gate(async ({ request, requestId, address }) => {
      const body = await readObject(request)
      const token = textOf(body, 'token', TOKEN_MAX)
      const nonce = textOf(body, 'nonce', NONCE_LENGTH)
      const signature = textOf(body, 'signature', SIGNATURE_MAX)
      return entered(await proceed(token, nonce, signature, address), requestId)
    })

    return new Elysia({ name: 'portal entry' })
      .post('/api/enter', enterByLink)
      .post('/api/continue/challenge', requestChallenge)
      .post('/api/continue', continueHere)
  }

  return { enter, routes }
}

export type PortalEntry = ReturnType<typeof createEntry>
