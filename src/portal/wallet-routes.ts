import { Elysia } from 'elysia'
import { walletAddressText } from '../domain/wallet.ts'
import { jsonResponse } from '../server/response.ts'
import type { ChallengeAnswer } from './contract.ts'
import type { PortalGate } from './gate.ts'
import { decodeWalletOnChain, readObject, textOf } from './json.ts'
import type { SessionTools } from './session-routes.ts'
import type { PortalParts } from './types.ts'

const NONCE_MAX = 64
/**
 * Maximum length, higher than identity's limit, which applies later: contract wallets choose their signature format.
 */
const SIGNATURE_MAX = 20_000

export const walletRoutes = (gate: PortalGate, parts: PortalParts, tools: SessionTools) => {
  const { connect, organizations, changes } = parts
  const { openAgreed, takeProof, answer } = tools

  const requestProof = gate(async (call) => {
    const { session } = await openAgreed(call)
    const wallet = decodeWalletOnChain(await readObject(call.request))
    const organization = await organizations.find(session.organizationId)
    const asked = await connect.requestProof(session, organization?.name ?? '', wallet)
    const challenge: ChallengeAnswer = {
      nonce: asked.nonce,
      message: asked.message,
      address: walletAddressText(wallet.address),
      expiresAtSeconds: asked.expiresAtSeconds,
    }
    return jsonResponse(JSON.stringify(challenge), call.requestId)
  })

  const connectWallet = gate(async (call) => {
    const { state, session } = await openAgreed(call)
    const body = await readObject(call.request)
    takeProof(call.address)
    await connect.connect(session, {
      nonce: textOf(body, 'nonce', NONCE_MAX),
      signature: textOf(body, 'signature', SIGNATURE_MAX).trim(),
    })
    return answer(state, call.requestId)
  })

  const removeWallet = gate(async (call) => {
    const { state, session, cookieHash } = await openAgreed(call)
    const { organizationId, id: sessionId } = session
    const walletId = call.params['wallet'] ?? ''
    // If another tab has removed the wallet, the request has succeeded.
    if (state.wallets.some(({ id }) => id === walletId)) {
      await changes.removeWallet({ organizationId, sessionId, cookieHash, walletId, actor: 'person' })
    }
    return answer(state, call.requestId)
  })

  return new Elysia({ name: 'portal wallets', prefix: '/api/sessions/:session' })
    .post('/wallets/challenge', requestProof)
    .post('/wallets', connectWallet)
    .delete('/wallets/:wallet', removeWallet)
}
