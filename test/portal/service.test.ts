// The page of a running service: a session from its registration to the decision.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { startServiceWithPage } from './support/started-service.ts'
import { createVisitor } from './support/visitor.ts'
import { evmAccount } from './support/wallets.ts'

setDefaultTimeout(60_000)

const service = await startServiceWithPage()
afterAll(() => service.stop())

test('a person gets from the registration to a verified wallet', async () => {
  const account = evmAccount('service')
  const origin = { originUrl: 'https://app.acme.example/' }
  const { sessionId: id, link } = await service.register('individual', { walletAddress: account.address, ...origin })
  expect(link).toStartWith(`${service.url}/v/`)
  const person = createVisitor(service.url)
  expect((await person.visit(link)).headers.get('location')).toBe(`${service.url}/s/${id}`)
  await person.agree(id)
  await person.connectEvm(id, 'service')
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada', birthDate: '1985-12-10', country: 'GB' })
  expect((await person.call('POST', `sessions/${id}/submit`, {})).body['status']).toBe('submitted')
  const status = await service.request('GET', `status/individual/${id}`)
  expect(status).toMatchObject({ status: 'submitted', verifiedWallets: [] })

  await service.decide(id, 'retry', { comment: 'Your name, please.', fix: 'fullName' })
  const view = await person.view(id)
  expect(view).toMatchObject({ status: 'retry', comment: 'Your name, please.', missing: ['fullName'] })
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada King' })
  await person.call('POST', `sessions/${id}/submit`, {})
  await service.decide(id, 'completed')
  expect((await person.view(id)).status).toBe('completed')
  const answer = await service.request('POST', 'verify', { address: account.address })
  expect(answer).toMatchObject({ verified: true, checkType: 'kyc' })
})

const BY_COUNTRY = `name: By country
rules:
  - { id: agreed, require: identity.details_known, code: COUNTRY_UNKNOWN }
  - { id: served, deny: 'identity.country == "GB"', code: COUNTRY_NOT_SERVED }
  - { id: adult, allow: identity.age >= 18 }
`

test('a policy decides on country and age until the evidence is erased', async () => {
  const account = evmAccount('agreed')
  await service.run('brand', 'update', '--asks-details')
  const policy = join(service.dataDirectory, 'by-country.yaml')
  writeFileSync(policy, BY_COUNTRY)
  await service.run('policy', 'apply', policy, '--policy', (await service.run('policy', 'list', '--quiet')).trim())
  const attest = async (code: string): Promise<void> => {
    const body = { from: account.address, chain: 'base', verification_hash: service.verificationHash }
    await until(async () => {
      const answer = (await (await service.attest(body)).json()) as { policy_name: string; reason?: { code: string } }
      return answer.policy_name === 'By country' && answer.reason?.code === code
    })
  }
  await attest('COUNTRY_UNKNOWN')

  const { sessionId: id, link } = await service.register('individual', { walletAddress: account.address })
  const person = createVisitor(service.url)
  await person.visit(link)
  expect((await person.view(id)).asksDetails).toBe(true)
  await person.agree(id, true, { usesDetails: true })
  await person.connectEvm(id, 'agreed')
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada', birthDate: '1985-12-10', country: 'GB' })
  await person.call('POST', `sessions/${id}/submit`, {})
  await service.decide(id, 'completed')
  await attest('COUNTRY_NOT_SERVED')
  await service.run('evidence', 'erase', id, '--by', 'ada')
  await attest('COUNTRY_UNKNOWN')
  const records = await service.run('decisions', 'tail', '--lines', '100', '--json')
  expect(records).toContain('"identity_details_hash":')
  expect(records).not.toMatch(/1985-12-10|"GB"|"age"/)
})

test('the service stops while a page follows its session', async () => {
  const { link, sessionId } = await service.register('individual')
  const person = createVisitor(service.url)
  await person.visit(link)
  const cookie = person.cookieHeader()
  const stream = await fetch(`${service.url}/api/sessions/${sessionId}/events`, { headers: { cookie } })
  expect(stream.status).toBe(200)
  const reading = stream.text().catch(() => 'cut')
  expect(await service.stop()).toBe(0)
  expect(await reading).toContain('"status":"pending"')
})
