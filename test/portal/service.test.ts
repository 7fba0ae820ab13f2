// The page of a running service: a session from its registration to the decision.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import decodeQr from 'jsqr'
import { PNG } from 'pngjs'
import { runCommand, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { createVisitor } from './support/visitor.ts'
import { evmAccount } from './support/wallets.ts'

setDefaultTimeout(60_000)

const service = await startService()
afterAll(() => service.stop())
const portalUrl = service.quickstart['PORTAL_URL'] ?? ''

const run = async (...words: string[]): Promise<string> => {
  let [code, stdout, stderr] = [1, '', 'still running']
  // A decision is refused until the checks are made.
  while (code !== 0 && stderr.includes('still running')) {
    ;({ code, stdout, stderr } = await runCommand(service.dataDirectory, ...words))
  }
  if (code !== 0) throw new Error(`countersign ${words.join(' ')}: ${stderr}`)
  return stdout
}
/** Decides as an operator. */
const decide = (sessionId: string, to: 'completed' | 'retry', ...options: string[]) =>
  run('session', 'decide', sessionId, to, '--note', 'A test.', ...options)

const request = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const headers = {
    authorization: `Bearer ${service.quickstart['IDENTITY_API_KEY']}`,
    'content-type': 'application/json',
  }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return (await fetch(`${service.url}/api/v1/${path}`, { method, headers, ...sent })).json()
}
/** Registers a session. @returns its id, and the link in its QR code */
const register = async (body: Readonly<Record<string, string>> = {}) => {
  const { sessionId, redirectUrl, qrCode } = await request('POST', 'register/individual', body)
  const { data, width, height } = PNG.sync.read(Buffer.from(String(qrCode).split(',')[1] ?? '', 'base64'))
  const link = decodeQr(Uint8ClampedArray.from(data), width, height)?.data ?? ''
  expect(link).toBe(String(redirectUrl))
  return { sessionId: String(sessionId), link }
}

test('a person proceeds from the registration to a verified wallet', async () => {
  const account = evmAccount('service')
  const origin = { originUrl: 'https://app.acme.example/' }
  const { sessionId: id, link } = await register({ walletAddress: account.address, ...origin })
  expect(link).toStartWith(`${portalUrl}/v/`)
  const person = createVisitor(portalUrl)
  expect((await person.visit(link)).headers.get('location')).toBe(`${portalUrl}/s/${id}`)
  await person.agree(id)
  await person.connectEvm(id, 'service')
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada', birthDate: '1985-12-10', country: 'GB' })
  expect((await person.call('POST', `sessions/${id}/submit`, {})).body['status']).toBe('submitted')
  const status = await request('GET', `status/individual/${id}`)
  expect(status).toMatchObject({ status: 'submitted', verifiedWallets: [] })

  await decide(id, 'retry', '--comment', 'Your name, please.', '--fix', 'fullName')
  const view = await person.view(id)
  expect(view).toMatchObject({ status: 'retry', comment: 'Your name, please.', missing: ['fullName'] })
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada King' })
  await person.call('POST', `sessions/${id}/submit`, {})
  await decide(id, 'completed')
  expect((await person.view(id)).status).toBe('completed')
  const answer = await request('POST', 'verify', { address: account.address })
  expect(answer).toMatchObject({ verified: true, checkType: 'kyc' })
})

const BY_COUNTRY = `name: By country
rules:
  - { id: agreed, require: identity.details_known, code: COUNTRY_UNKNOWN }
  - { id: served, deny: 'identity.country == "GB"', code: COUNTRY_NOT_SERVED }
  - { id: adult, allow: identity.age >= 18 }
`

test('a policy uses country and age until the evidence is erased', async () => {
  const account = evmAccount('agreed')
  await run('brand', 'update', '--asks-details')
  const policy = join(service.dataDirectory, 'by-country.yaml')
  writeFileSync(policy, BY_COUNTRY)
  await run('policy', 'apply', policy, '--policy', (await run('policy', 'list', '--quiet')).trim())
  const attest = async (code: string): Promise<void> => {
    const body = { from: account.address, chain: 'base', verification_hash: service.quickstart['VERIFICATION_HASH'] }
    await until(async () => {
      const answer = (await (await service.attest(body)).json()) as { policy_name: string; reason?: { code: string } }
      return answer.policy_name === 'By country' && answer.reason?.code === code
    })
  }
  await attest('COUNTRY_UNKNOWN')

  const { sessionId: id, link } = await register({ walletAddress: account.address })
  const person = createVisitor(portalUrl)
  await person.visit(link)
  expect((await person.view(id)).asksDetails).toBe(true)
  await person.agree(id, true, { usesDetails: true })
  await person.connectEvm(id, 'agreed')
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada', birthDate: '1985-12-10', country: 'GB' })
  await person.call('POST', `sessions/${id}/submit`, {})
  await decide(id, 'completed')
  await attest('COUNTRY_NOT_SERVED')
  await run('evidence', 'erase', id, '--by', 'ada')
  await attest('COUNTRY_UNKNOWN')
  const records = await run('decisions', 'tail', '--lines', '100', '--json')
  expect(records).toContain('"identity_details_hash":')
  expect(records).not.toMatch(/1985-12-10|"GB"|"age"/)
})

test('the service stops while a page follows its session', async () => {
  const { link, sessionId } = await register()
  const person = createVisitor(portalUrl)
  await person.visit(link)
  const cookie = person.cookieHeader()
  const stream = await fetch(`${portalUrl}/api/sessions/${sessionId}/events`, { headers: { cookie } })
  expect(stream.status).toBe(200)
  const reading = stream.text().catch(() => 'cut')
  expect(await service.stop()).toBe(0)
  expect(await reading).toContain('"status":"pending"')
})
