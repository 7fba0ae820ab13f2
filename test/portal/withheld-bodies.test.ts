// Requests whose last byte arrives after their key was revoked or their browser released, on a running service.

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { PNG } from 'pngjs'
import { parseApiKey } from '../../src/domain/api-key.ts'
import { AGREEMENT_VERSION } from '../../src/portal/contract.ts'
import { issueKey, succeed } from '../service/calls.ts'
import { startAlone } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { createVisitor } from './support/visitor.ts'
import { evmAccount } from './support/wallets.ts'

setDefaultTimeout(60_000)

const service = await startAlone()
afterAll(() => service.stop())
const portalUrl = service.quickstart['PORTAL_URL'] ?? ''

/** Sends a body, and its last byte only after `before`. */
const send = (
  url: string,
  method: string,
  headers: Record<string, string>,
  body: Uint8Array,
  before: () => unknown,
) => {
  const parts = [body.subarray(0, -1), body.subarray(-1)]
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const part = parts.shift()
      if (part === undefined) return controller.close()
      if (parts.length === 0) await before()
      controller.enqueue(part)
    },
  })
  return fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, body: stream })
}
const json = (body: object): Uint8Array => Buffer.from(JSON.stringify(body))

const register = async (key: string) => {
  const response = await fetch(`${service.url}/api/v1/register/individual`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  })
  return (await response.json()) as { readonly sessionId: string; readonly redirectUrl: string }
}

test('a revoked key creates neither a session nor a link', async () => {
  const repeated = { 'idempotency-key': 'once' }
  for (const [path, body, headers] of [
    ['register/individual', { originUrl: 'https://app.acme.example/' }, {}],
    ['register/business', {}, {}],
    ['register/individual', { originUrl: 'https://app.acme.example/' }, repeated],
  ] as const) {
    const { key } = await issueKey(service, '--org demo --kind identity')
    const url = `${service.url}/api/v1/${path}`
    const as = { authorization: `Bearer ${key}`, ...headers }
    // The stored answer of an Idempotency-Key has no link, so a repeated request creates another link.
    const first = await send(url, 'POST', as, json(body), () => undefined)
    expect([path, first.ok]).toEqual([path, true])
    const revoked = await send(url, 'POST', as, json(body), () =>
      succeed(service, 'keys', 'revoke', parseApiKey(key)?.keyId ?? ''),
    )
    expect([path, revoked.status]).toEqual([path, 401])
  }
})

test('a revoked key cannot read the status of a wallet', async () => {
  const { key } = await issueKey(service, '--org demo --kind identity')
  const as = { authorization: `Bearer ${key}` }
  const url = `${service.url}/api/v1/verify`
  const body = json({ address: evmAccount('nobody').address })
  const answer = await send(url, 'POST', as, body, async () => {
    await succeed(service, 'keys', 'revoke', parseApiKey(key)?.keyId ?? '')
    const revokedMs = performance.now()
    await until(async () => {
      const { status } = await send(url, 'POST', as, body, () => undefined)
      return status === 401 && performance.now() - revokedMs > 1_000
    })
  })
  expect(answer.status).toBe(401)
})

test('a released browser makes no changes', async () => {
  await succeed(service, 'organization', 'update', 'demo', '--level', 'standard')
  const picture = PNG.sync.write(new PNG({ width: 40, height: 30 }))
  const address = evmAccount('withheld').address
  for (const [method, path, type, bodyOf] of [
    ['POST', 'agreement', 'json', () => json({ version: AGREEMENT_VERSION, language: 'de', shares: false })],
    ['PUT', 'fields', 'json', () => json({ fullName: 'Mallory', birthDate: '1985-12-10', country: 'GB' })],
    ['POST', 'wallets/challenge', 'json', () => json({ address, chainId: 1 })],
    ['POST', 'wallets', 'json', (proof: object) => json(proof)],
    ['POST', 'documents/portrait', 'png', () => picture],
  ] as const) {
    const { sessionId, redirectUrl } = await register(service.quickstart['IDENTITY_API_KEY'] ?? '')
    const person = createVisitor(portalUrl)
    await person.visit(redirectUrl)
    await person.agree(sessionId)
    const { body } = await person.call('POST', `sessions/${sessionId}/wallets/challenge`, { address, chainId: 1 })
    const message = String(body['message'])
    const proof = { nonce: body['nonce'], signature: await evmAccount('withheld').signMessage({ message }) }
    const headers = {
      cookie: person.cookieHeader(),
      origin: portalUrl,
      'sec-fetch-site': 'same-origin',
      ...(type === 'png' ? { 'content-type': 'image/png' } : {}),
    }
    const answer = await send(
      `${portalUrl}/api/sessions/${sessionId}/${path}`,
      method,
      headers,
      bodyOf(proof),
      async () => {
        const seen = await person.view(sessionId)
        expect(seen).toMatchObject({ wallets: [], fields: [], documents: [] })
        expect((await person.call('POST', `sessions/${sessionId}/leave`)).status).toBe(200)
      },
    )
    const { reason } = (await answer.json()) as { readonly reason?: string }
    expect([path, answer.status, reason]).toEqual([path, 404, 'browser-unknown'])
    const history = await succeed(service, 'session', 'show', sessionId)
    expect([path, /wallet-connected|evidence-changed/.test(history)]).toEqual([path, false])
  }
})
