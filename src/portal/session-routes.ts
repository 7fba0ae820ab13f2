// Routes for the session, the consent and other devices. A change responds with the whole view, so that the page is
// always current.

import { Elysia } from 'elysia'
import { isSessionFinal, isSessionOpen, type Session, type SessionState } from '../domain/session.ts'
import { BrowserUnknownError, SessionClosedError } from '../domain/session-errors.ts'
import { parseSessionId } from '../identity/schema.ts'
import { createPortalLink } from '../identity/sessions/portal-link.ts'
import { assignOwner } from '../lib/caller.ts'
import { jsonResponse } from '../server/response.ts'
import { AGREEMENT_VERSION, type HandoverAnswer, LANGUAGES } from './contract.ts'
import { AgreementMissingError, AgreementOutdatedError, EvidenceIncompleteError, WalletForeignError } from './errors.ts'
import type { PortalCall, PortalGate } from './gate.ts'
import { booleanOf, readObject, textOf } from './json.ts'
import type { PageLimits } from './session-limit.ts'
import { asksDetails, createSessionViews } from './session-view.ts'
import type { FromBrowser, PortalParts } from './types.ts'

const HANDOVER_SECONDS = 600
const HANDOVER_QR_PIXELS = 320
const LOGO_MAX_AGE_SECONDS = 86_400

// Only the cookie grants access. A session of another browser gets the same response as an unknown session (threats row
// 2).
interface Access extends FromBrowser {
  readonly state: SessionState
  readonly session: Session & FromBrowser
}

export const createSessionAccess = ({
  links,
  sessions,
  cookies,
}: Pick<PortalParts, 'links' | 'sessions' | 'cookies'>) => {
  const find = async (headers: Headers, idText: string) => {
    const sessionId = parseSessionId(idText)
    const cookieHash = sessionId === null ? null : cookies.read(headers, sessionId)
    if (sessionId === null || cookieHash === null) return null
    const link = await links.findBrowser(cookieHash, sessionId)
    if (link === null) return null
    assignOwner(link.organizationId)
    return { ...link, cookieHash }
  }
  return {
    find,
    open: async (request: Request, idText: string): Promise<Access> => {
      const found = await find(request.headers, idText)
      const state = found === null ? null : await sessions.find(found.organizationId, found.sessionId)
      if (found === null || state === null) throw new BrowserUnknownError()
      const { cookieHash } = found
      return { state, session: { ...state.session, cookieHash }, cookieHash }
    },
  }
}

export const createSessionTools = (parts: PortalParts, { takeChange, takeProof }: PageLimits) => {
  const access = createSessionAccess(parts)
  const view = createSessionViews(parts)
  const { progress, sessions } = parts

  const answer = async ({ session }: SessionState, requestId: string): Promise<Response> => {
    const state = await sessions.find(session.organizationId, session.id)
    if (state === null) throw new BrowserUnknownError()
    return jsonResponse(JSON.stringify(await view(state)), requestId)
  }

  /**
   * Opens a session for routes that do more than read. @throws BrowserUnknownError, RateExceededError,
   * SessionClosedError
   */
  const openForWork = async ({ request, params }: PortalCall) => {
    const opened = await access.open(request, params['session'] ?? '')
    takeChange(opened.state.session.id)
    const { status } = opened.state.session
    if (isSessionFinal(status)) throw new SessionClosedError(status)
    return opened
  }

  /** Opens a session for routes that change it. @throws like openForWork */
  const openForChange = async (call: PortalCall) => {
    const opened = await openForWork(call)
    const { status } = opened.state.session
    if (!isSessionOpen(status)) throw new SessionClosedError(status)
    return opened
  }

  /** Requires consent to the current text. @throws also AgreementMissingError, AgreementOutdatedError */
  const openAgreed = async (call: PortalCall) => {
    const opened = await openForChange(call)
    const { organizationId, id } = opened.state.session
    const agreement = await progress.findAgreement(organizationId, id)
    if (agreement === null) throw new AgreementMissingError()
    if (agreement.version.split('.')[0] !== AGREEMENT_VERSION) throw new AgreementOutdatedError()
    return opened
  }

  return { access, takeChange, takeProof, view, answer, openForWork, openForChange, openAgreed }
}

export type SessionTools = ReturnType<typeof createSessionTools>

export const sessionRoutes = (gate: PortalGate, parts: PortalParts, tools: SessionTools) => {
  const { progress, links, brands, providers, cookies, portalUrl, qrCodeOf, clock } = parts
  const { access, takeChange, view, answer, openForWork, openForChange, openAgreed } = tools

  const show = gate(async ({ request, requestId, params }) => {
    const { state, cookieHash } = await access.open(request, params['session'] ?? '')
    const { id, status } = state.session
    const response = jsonResponse(JSON.stringify(await view(state)), requestId)
    const renewed = !isSessionFinal(status) && (await links.touchBrowser(cookieHash, id))
    const cookie = renewed ? cookies.renew(request.headers, id) : null
    if (cookie !== null) response.headers.set('set-cookie', cookie)
    return response
  })

  const leave = gate(async ({ request, requestId, params }) => {
    const found = await access.find(request.headers, params['session'] ?? '')
    // If the browser was already released, the request succeeds.
    const response = jsonResponse('{}', requestId)
    if (found === null) return response
    takeChange(found.sessionId)
    await links.leaveBrowser(found.cookieHash, found)
    response.headers.set('set-cookie', cookies.remove(found.sessionId))
    return response
  })

  const showLogo = gate(async ({ request, requestId, params }) => {
    const { state } = await access.open(request, params['session'] ?? '')
    const logo = await brands.findLogo(state.session.organizationId)
    if (logo === null) throw new BrowserUnknownError()
    return new Response(Uint8Array.from(logo.bytes), {
      headers: {
        'content-type': logo.type,
        'x-request-id': requestId,
        // The logo's URL changes with its content.
        'cache-control': `private, max-age=${LOGO_MAX_AGE_SECONDS}, immutable`,
      },
    })
  })

  const agree = gate(async (call) => {
    const { state, session, cookieHash } = await openForChange(call)
    const body = await readObject(call.request)
    const language = LANGUAGES.find((known) => known === body['language'])
    if (textOf(body, 'version', 10) !== AGREEMENT_VERSION || language === undefined) throw new AgreementOutdatedError()
    await progress.recordAgreement({
      organizationId: session.organizationId,
      sessionId: session.id,
      cookieHash,
      version: `${AGREEMENT_VERSION}.${language}`,
      shares: booleanOf(body, 'shares'),
      // No answer means that the person did not agree.
      usesDetails:
        booleanOf({ usesDetails: false, ...body }, 'usesDetails') &&
        asksDetails(session, await brands.find(session.organizationId)),
    })
    return answer(state, call.requestId)
  })

  const submit = gate(async (call) => {
    const { state, session } = await openAgreed(call)
    const { wallets } = state
    if ((await view(state)).missing.length > 0) throw new EvidenceIncompleteError()
    const { organizationId, id: sessionId, lockedAddress } = session
    if (lockedAddress !== null && wallets.some(({ address }) => address !== lockedAddress)) {
      throw new WalletForeignError()
    }
    // Must run before the checks are queued, because they compare the country with the fields.
    await parts.noteAddress({ organizationId, sessionId }, call.address)
    await providers.of(session).submitted(session)
    return answer(state, call.requestId)
  })

  const handOver = gate(async (call) => {
    const { session, cookieHash } = await openForWork(call)
    const link = createPortalLink(portalUrl)
    const expiresAtSeconds = clock.unixSeconds() + HANDOVER_SECONDS
    const { organizationId, id: sessionId } = session
    await links.addHandover({ organizationId, sessionId, cookieHash }, link.tokenHash, expiresAtSeconds)
    const handover: HandoverAnswer = { url: link.url, qrCode: qrCodeOf(link, HANDOVER_QR_PIXELS), expiresAtSeconds }
    return jsonResponse(JSON.stringify(handover), call.requestId)
  })

  return new Elysia({ name: 'portal session', prefix: '/api/sessions/:session' })
    .get('', show)
    .post('/leave', leave)
    .get('/logo', showLogo)
    .post('/agreement', agree)
    .post('/submit', submit)
    .post('/handover', handOver)
}
