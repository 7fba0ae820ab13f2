// The page of the running service: a session made by the API, gone through on the page, decided by command, read by the API.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startServiceWithPage } from './support/started-service.ts'
import { createVisitor } from './support/visitor.ts'
import { evmAccount } from './support/wallets.ts'

setDefaultTimeout(60_000)

const service = await startServiceWithPage()
afterAll(() => service.stop())

test('takes a person from the registration to a verified wallet', async () => {
  const account = evmAccount('service')
  const { sessionId: id, link } = await service.register('individual', {
    walletAddress: account.address,
    originUrl: 'https://app.acme.example/',
  })
  expect(link).toStartWith(`${service.url}/v/`)
  const person = createVisitor(service.url)
  expect((await person.visit(link)).headers.get('location')).toBe(`${service.url}/s/${id}`)
  await person.agree(id)
  await person.connectEvm(id, 'service')
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada', birthDate: '1985-12-10', country: 'GB' })
  expect((await person.call('POST', `sessions/${id}/submit`, {})).body['status']).toBe('submitted')
  expect(await service.ask('GET', `status/individual/${id}`)).toMatchObject({
    status: 'submitted',
    verifiedWallets: [],
  })

  await service.decide(id, 'retry', { comment: 'Your name, please.', fix: 'fullName' })
  expect(await person.view(id)).toMatchObject({
    status: 'retry',
    comment: 'Your name, please.',
    missing: ['fullName'],
  })
  await person.call('PUT', `sessions/${id}/fields`, { fullName: 'Ada King' })
  await person.call('POST', `sessions/${id}/submit`, {})
  await service.decide(id, 'completed')
  expect((await person.view(id)).status).toBe('completed')
  expect(await service.ask('POST', 'verify', { address: account.address })).toMatchObject({
    verified: true,
    checkType: 'kyc',
  })
})

test('stops while a page follows its session', async () => {
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
