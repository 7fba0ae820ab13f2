// Entry by a link: accepted and refused browsers, and what each response reveals (threat model rows 2, 4 and 5).
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { hashToken } from '../../src/identity/sessions/portal-link.ts'
import { AGREEMENT_VERSION } from '../../src/portal/contract.ts'
import { SESSION_CHANGES } from '../../src/portal/session-limit.ts'
import { type PortalHost, startPortalHost } from './support/portal-host.ts'
import { createVisitor, enter, tokenOf, type Visitor } from './support/visitor.ts'
import { evmAccount, solanaKey } from './support/wallets.ts'

const host = await startPortalHost()
afterAll(() => host.stop())

const PERSON = { fullName: 'Ada Byron King', birthDate: '1985-12-10', country: 'GB' }
const visitor = (): Visitor => createVisitor(host.url)

/** Opens the link of a new session, and agrees. */
const insider = async (settings: Parameters<PortalHost['register']>[0] = {}) => {
  const inside = await enter(host, settings)
  await inside.person.agree(inside.sessionId)
  return inside
}

interface Challenge extends Record<string, unknown> {
  readonly nonce: string
  readonly message: string
}

const connect = async (person: Visitor, sessionId: string, name = 'mine'): Promise<void> => {
  expect((await person.connectEvm(sessionId, name)).status).toBe(200)
}
/** Enters by a link as the script of the page does. @returns the body of the response */
const enterBy = async (link: string, by = visitor()) => (await by.call('POST', 'enter', { token: tokenOf(link) })).body
const kindOf = async (link: string, by = visitor()) => (await enterBy(link, by))['kind']
const view = (person: Visitor, sessionId: string) => person.call('GET', `sessions/${sessionId}`)
const statusOf = async (person: Visitor, sessionId: string) => (await view(person, sessionId)).status
const hasEntered = async (person: Visitor, sessionId: string) => (await person.view(sessionId)).sessionId === sessionId
const createHandover = async (person: Visitor, sessionId: string): Promise<string> =>
  String((await person.call('POST', `sessions/${sessionId}/handover`, {})).body['url'])
const leave = (person: Visitor, sessionId: string, headers?: Record<string, string>) =>
  person.call('POST', `sessions/${sessionId}/leave`, {}, headers)
const putFields = async (person: Visitor, sessionId: string): Promise<void> => {
  expect((await person.call('PUT', `sessions/${sessionId}/fields`, PERSON)).status).toBe(200)
}
const getFields = async (person: Visitor, sessionId: string) =>
  (await person.call('GET', `sessions/${sessionId}/fields`)).body
const requestChallenge = async (
  by: Visitor,
  link: string,
  address = evmAccount('mine').address as string,
  chainId = 1,
) => (await by.call<Challenge>('POST', 'continue/challenge', { token: tokenOf(link), address, chainId })).body
const proceed = async (by: Visitor, link: string, nonce: string, signature: string) =>
  (await by.call('POST', 'continue', { token: tokenOf(link), nonce, signature })).body
/** Proves a wallet in another browser. @returns the body of the response */
const prove = async (link: string, by = visitor(), name = 'mine') => {
  const account = evmAccount(name)
  const { nonce, message } = await requestChallenge(by, link, account.address)
  return proceed(by, link, nonce, await account.signMessage({ message }))
}
const ELSEWHERE = ['chains', 'contractChains', 'kind', 'organizationName']

describe('a link', () => {
  test('is exchanged for a cookie, and removed from the URL', async () => {
    const { sessionId, link } = await host.register()
    const person = visitor()
    const response = await person.visit(link)
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe(`${host.url}/s/${sessionId}`)
    const [cookie = ''] = response.headers.getSetCookie()
    expect(cookie).toMatch(/^portal-[0-9a-f-]{36}=[A-Za-z0-9_-]{24}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/)
    expect(cookie).not.toContain(tokenOf(link))
    expect(await person.view(sessionId)).toMatchObject({ sessionId, status: 'pending' })
  })

  test('sets a cookie with the __Host- prefix over https', async () => {
    const secure = await startPortalHost({ portalUrl: 'https://verify.example' })
    try {
      const { link, sessionId } = await secure.register()
      const person = createVisitor(secure.url)
      const response = await person.visit(`${secure.url}/v/${tokenOf(link)}`)
      expect(response.headers.get('location')).toBe(`https://verify.example/s/${sessionId}`)
      expect(response.headers.getSetCookie()[0]).toMatch(
        /^__Host-portal-[^=]+=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=\d+$/,
      )
      expect(await hasEntered(person, sessionId)).toBe(true)
      expect(response.headers.get('strict-transport-security')).toBe('max-age=63072000; includeSubDomains')
    } finally {
      await secure.stop()
    }
  })

  test('remains valid after a preview, a prefetch or a HEAD request', async () => {
    const { link, sessionId } = await host.register()
    const preview = await fetch(link, { redirect: 'manual', headers: { 'user-agent': 'PreviewBot/1.0' } })
    expect(preview.status).toBe(200)
    expect(preview.headers.getSetCookie()).toEqual([])
    const prefetch = await visitor().visit(link, { 'sec-purpose': 'prefetch;prerender' })
    expect(prefetch.status).toBe(200)
    const head = await fetch(link, { method: 'HEAD', redirect: 'manual' })
    expect(head.headers.getSetCookie()).toEqual([])
    const person = visitor()
    expect((await person.visit(link)).status).toBe(303)
    expect(await hasEntered(person, sessionId)).toBe(true)
  })

  test('is exchanged by the page if the browser sends no fetch metadata', async () => {
    const { link, sessionId } = await host.register()
    const person = visitor()
    expect((await person.visit(link, { 'sec-fetch-mode': '', 'sec-fetch-dest': '' })).status).toBe(200)
    expect(await enterBy(link, person)).toEqual({ kind: 'entered', sessionId })
    expect(await hasEntered(person, sessionId)).toBe(true)
  })

  test('works again in the browser that opened it first, and keeps its cookie', async () => {
    const { person, link, sessionId } = await enter(host)
    const before = new Map(person.cookies)
    expect((await person.visit(link)).status).toBe(303)
    expect(await enterBy(link, person)).toEqual({ kind: 'entered', sessionId })
    expect(person.cookies).toEqual(before)
  })

  test('does not open the session in a second browser, and reveals only the name of the organization', async () => {
    const { link, sessionId } = await enter(host)
    const second = visitor()
    expect((await second.visit(link)).status).toBe(200)
    const body = await enterBy(link, second)
    expect(body).toMatchObject({ kind: 'elsewhere', organizationName: 'Acme Exchange', contractChains: [] })
    expect(Object.keys(body).sort()).toEqual(ELSEWHERE)
    expect(second.cookies.size).toBe(0)
    expect(await statusOf(second, sessionId)).toBe(404)
  })

  test('admits one browser if several open it simultaneously', async () => {
    const { link } = await host.register()
    const visits = await Promise.all(Array.from({ length: 8 }, () => visitor().visit(link)))
    expect(visits.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  test('that is malformed or unknown returns the same page with 404', async () => {
    for (const token of ['x', 'A'.repeat(24), '../../etc/passwd', '%00', 'a'.repeat(5_000)]) {
      const response = await visitor().visit(`${host.url}/v/${token}`)
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect((await visitor().call('POST', 'enter', { token: token.slice(0, 60) })).status).toBe(404)
    }
  })

  test('leaves other sessions of the browser open', async () => {
    const [one, two] = [await host.register(), await host.register()]
    const person = visitor()
    await person.visit(one.link)
    await person.visit(two.link)
    for (const { sessionId } of [one, two]) expect(await hasEntered(person, sessionId)).toBe(true)
  })
})

describe('the id of a session', () => {
  test('does not open the session: every route responds as for an unknown session', async () => {
    const { sessionId } = await enter(host)
    const unknownId = '00000000-0000-7000-8000-000000000000'
    const routes: readonly [string, string, unknown?][] = [
      ['GET', ''],
      ['GET', '/logo'],
      ['GET', '/fields'],
      ['GET', '/events'],
      ['PUT', '/fields', { fullName: 'Mallory' }],
      ['POST', '/agreement', { version: AGREEMENT_VERSION, language: 'en', shares: true }],
      ['POST', '/wallets/challenge', { address: evmAccount('x').address, chainId: 1 }],
      ['POST', '/wallets', { nonce: 'x', signature: '0x' }],
      ['DELETE', '/wallets/wallet_x'],
      ['POST', '/documents/portrait', Buffer.from('x')],
      ['DELETE', '/documents/evidence_x'],
      ['POST', '/submit', {}],
      ['POST', '/handover', {}],
    ]
    for (const [method, path, body] of routes) {
      const real = await visitor().call(method, `sessions/${sessionId}${path}`, body)
      const unknown = await visitor().call(method, `sessions/${unknownId}${path}`, body)
      expect([path, real.status, real.body['reason']]).toEqual([path, 404, 'browser-unknown'])
      expect(unknown.body['detail']).toEqual(real.body['detail'])
    }
  })

  test('cannot be used with the cookie of another session', async () => {
    const [{ person, ...one }, two] = [await enter(host), await host.register()]
    const stolen = person.cookies.get(`portal-${one.sessionId}`) ?? ''
    const headers = { cookie: `portal-${two.sessionId}=${stolen}` }
    const answer = await visitor().call('GET', `sessions/${two.sessionId}`, undefined, headers)
    expect(answer.status).toBe(404)
  })
})

describe('a request that changes something', () => {
  test('is accepted only from the page itself', async () => {
    const { person, sessionId } = await insider()
    const path = `sessions/${sessionId}/handover`
    const foreign: readonly Record<string, string>[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: host.url.replace('127.0.0.1', 'localhost'), 'sec-fetch-site': 'same-site' },
      { origin: host.url, 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of foreign) {
      const { status, body } = await person.call('POST', path, {}, headers)
      expect([status, body['code']]).toEqual([403, 'FORBIDDEN_ORIGIN'])
    }
    const silent = await fetch(`${host.url}/api/${path}`, { method: 'POST' })
    expect(silent.status).toBe(403)
    expect((await person.call('POST', path, {})).status).toBe(200)
  })

  test('must have the expected JSON', async () => {
    const { person, sessionId } = await insider()
    const path = `sessions/${sessionId}/wallets/challenge`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await person.call('POST', path, Buffer.from('address=x'), headers)).status).toBe(415)
    const twice = await person.call('POST', path, Buffer.from('{"address":"a","address":"b"}'))
    expect(twice.status).toBe(400)
    const { address } = evmAccount('a')
    const chains = [null, 0, 1.5].map((chainId) => ({ address, chainId }))
    for (const body of [{}, { address: 7 }, { address: 'nobody' }, { address }, ...chains]) {
      expect([body, (await person.call('POST', path, body)).status]).toEqual([body, 400])
    }
  })

  test('is refused for an address with an invalid checksum', async () => {
    const { person, sessionId } = await insider()
    const { address } = evmAccount('a')
    const swapped = address.replace(/[a-f]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    const path = `sessions/${sessionId}/wallets/challenge`
    expect((await person.call('POST', path, { address: swapped, chainId: 1 })).body['reason']).toBe('address-checksum')
    expect((await person.call('POST', path, { address: address.toLowerCase(), chainId: 1 })).status).toBe(200)
  })
})

describe('a handover to another device', () => {
  test('is a link that works once, without closing the first browser', async () => {
    const { person, sessionId } = await insider()
    const { body } = await person.call('POST', `sessions/${sessionId}/handover`, {})
    const url = String(body['url'])
    expect(url).toMatch(new RegExp(`^${host.url}/v/[A-Za-z0-9_-]{24}$`))
    expect(body['qrCode']).toMatch(/^data:image\/png;base64,/)
    const phone = visitor()
    expect((await phone.visit(url)).status).toBe(303)
    expect((await phone.view(sessionId)).agreement).not.toBeNull()
    expect(await hasEntered(person, sessionId)).toBe(true)
    // The phone can follow it again; other browsers cannot.
    expect((await phone.visit(url)).status).toBe(303)
    const third = visitor()
    expect((await third.visit(url)).status).toBe(200)
    expect(await kindOf(url, third)).toBe('elsewhere')
  })

  test('expires after ten minutes', async () => {
    const { sessionId, link: own } = await insider()
    const hash = new Uint8Array(32).fill(7)
    const link = { organizationId: host.organization.id, sessionId }
    const { cookieHash } = (await host.store.portalLinks.find(hashToken(tokenOf(own)))) ?? {}
    await host.store.portalLinks.addHandover({ ...link, cookieHash: cookieHash ?? hash }, hash, 1)
    expect(await host.store.portalLinks.find(hash)).toBeNull()
    expect(await host.store.portalLinks.bind(link, hash, new Uint8Array(32).fill(8))).toBe(false)
    expect(await host.store.portalLinks.sweep()).toBeGreaterThan(0)
  })

  test('has at most 20 open links: the oldest ends', async () => {
    const { person, sessionId } = await insider()
    const first = await createHandover(person, sessionId)
    host.passTime(1)
    const newer: string[] = []
    while (newer.length < 20) newer.push(await createHandover(person, sessionId))
    expect((await visitor().visit(first)).status).toBe(404)
    expect((await visitor().visit(newer[0] ?? '')).status).toBe(303)
  })
})

describe('the access of a browser', () => {
  const DAY = 86_400
  let own: PortalHost
  beforeAll(async () => {
    own = await startPortalHost()
  })
  afterAll(() => own.stop())

  const enterOwn = async () => {
    const registered = await own.register()
    const person = createVisitor(own.url)
    const [cookie = ''] = (await person.visit(registered.link)).headers.getSetCookie()
    await person.agree(registered.sessionId)
    return { person, cookie, ...registered }
  }
  test('ends 30 days after its last use, in the store and in the cookie', async () => {
    const { person, cookie, sessionId, link } = await enterOwn()
    expect(cookie).toEndWith(`; Max-Age=${30 * DAY}`)
    const cookies = async () => (await view(person, sessionId)).headers.getSetCookie()
    expect(await cookies()).toEqual([])
    own.passTime(29 * DAY)
    expect([await cookies(), await cookies()]).toEqual([[cookie], []])
    own.passTime(29 * DAY)
    expect(await statusOf(person, sessionId)).toBe(200)
    own.passTime(30 * DAY)
    expect(await statusOf(person, sessionId)).toBe(404)
    expect((await person.call('POST', `sessions/${sessionId}/handover`, {})).status).toBe(404)
    // The cookie has expired at the server, and the link remains used.
    expect((await person.visit(link)).status).toBe(200)
    expect(await kindOf(link, person)).toBe('elsewhere')
  })

  test('is deleted by the sweep with its replaceable links; the first link stays used', async () => {
    const { person, sessionId, link } = await enterOwn()
    const handover = await createHandover(person, sessionId)
    await createVisitor(own.url).visit(handover)
    own.passTime(30 * DAY)
    while ((await own.store.portalLinks.sweep()) > 0);
    expect(await kindOf(link, createVisitor(own.url))).toBe('elsewhere')
    expect((await enterBy(handover, createVisitor(own.url)))['reason']).toBe('link-unknown')
  })

  test('ends when the person leaves, who can repeat the request', async () => {
    const { person, sessionId, link } = await enterOwn()
    const stolen = createVisitor(own.url)
    for (const [name, value] of person.cookies) stolen.cookies.set(name, value)
    const handover = await createHandover(person, sessionId)
    const left = await leave(person, sessionId)
    expect(left.status).toBe(200)
    expect(left.headers.getSetCookie()[0]).toMatch(/^portal-[^=]+=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/)
    expect(person.cookies.size).toBe(0)
    expect(await statusOf(stolen, sessionId)).toBe(404)
    expect((await leave(stolen, sessionId)).status).toBe(200)
    expect((await createVisitor(own.url).visit(handover)).status).toBe(404)
    expect(await kindOf(link, stolen)).toBe('elsewhere')
  })

  test('cannot be ended by another site, or with only the id of the session', async () => {
    const { person, sessionId } = await enterOwn()
    expect((await leave(person, sessionId, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await leave(createVisitor(own.url), sessionId)).status).toBe(200)
    expect(await statusOf(person, sessionId)).toBe(200)
  })

  test('is limited to the outcome once the session is final, and is not renewed', async () => {
    const { person, sessionId } = await enterOwn()
    await connect(person, sessionId)
    await own.decide(sessionId, 'rejected', { publicComment: 'Not this time.' })
    own.passTime(2 * DAY)
    const { body, headers } = await view(person, sessionId)
    expect(body).toMatchObject({ status: 'rejected', comment: 'Not this time.', lockedWallet: null })
    expect(body).toMatchObject({ wallets: [], fields: [], documents: [], missing: [] })
    expect(headers.getSetCookie()).toEqual([])
    const refused = [
      ['POST', 'handover', {}],
      ['GET', 'fields', undefined],
      ['POST', 'wallets/challenge', { address: evmAccount('x').address, chainId: 1 }],
      ['GET', 'events', undefined],
    ] as const
    for (const [method, path, sent] of refused) {
      const answer = await person.call(method, `sessions/${sessionId}/${path}`, sent)
      expect([path, answer.status, answer.body['reason']]).toEqual([path, 409, 'session-closed'])
    }
    own.passTime(28 * DAY)
    expect(await statusOf(person, sessionId)).toBe(404)
  })
})

describe('a second browser', () => {
  test('continues with the signature of a wallet of the session, and closes the first browser', async () => {
    const { person, sessionId, link } = await insider()
    await connect(person, sessionId)
    const second = visitor()
    const { nonce, message } = await requestChallenge(second, link)
    expect(message).toContain('Continue in this browser your identity verification for Acme Exchange.')
    expect(message).toContain(`Request ID: ${sessionId}`)
    const signature = await evmAccount('mine').signMessage({ message })
    expect(await proceed(second, link, nonce, signature)).toEqual({ kind: 'entered', sessionId })
    expect(await hasEntered(second, sessionId)).toBe(true)
    expect(await statusOf(person, sessionId)).toBe(404)
    // A proof is valid once.
    expect((await proceed(visitor(), link, nonce, signature))['reason']).toBe('proof-invalid')
  })

  test('continues with the wallet of the session before it is connected', async () => {
    const key = solanaKey('locked')
    const { link, sessionId } = await host.register({ walletAddress: key.address })
    await visitor().visit(link)
    const second = visitor()
    const { nonce, message } = await requestChallenge(second, link, key.address, 0)
    const signature = `0x${Buffer.from(key.sign(Buffer.from(message))).toString('hex')}`
    expect(await proceed(second, link, nonce, signature)).toEqual({ kind: 'entered', sessionId })
  })

  test('is granted once if several browsers answer one challenge simultaneously', async () => {
    const { person, sessionId, link } = await insider()
    await connect(person, sessionId)
    const { nonce, message } = await requestChallenge(visitor(), link)
    const signature = await evmAccount('mine').signMessage({ message })
    const answers = await Promise.all([1, 2, 3].map(() => proceed(visitor(), link, nonce, signature)))
    const outcomes = answers.map(({ kind, reason }) => kind ?? reason)
    expect(outcomes.sort()).toEqual(['entered', 'proof-invalid', 'proof-invalid'])
  })

  test('has at most 20 open challenges: the oldest ends', async () => {
    const { person, sessionId, link } = await insider()
    await connect(person, sessionId)
    const second = visitor()
    const answer = async ({ nonce, message }: Challenge) =>
      proceed(second, link, nonce, await evmAccount('mine').signMessage({ message }))
    const first = await requestChallenge(second, link)
    host.passTime(1)
    const oldest = await requestChallenge(second, link)
    for (let count = 1; count < 20; count++) await requestChallenge(second, link)
    expect((await answer(first))['reason']).toBe('proof-invalid')
    expect((await answer(oldest))['kind']).toBe('entered')
  })

  test('is not blocked by requests of another person with another link', async () => {
    const walletAddress = evmAccount('owner').address
    const { link } = await host.register({ walletAddress })
    const theirs = await host.register({ walletAddress })
    const stranger = visitor()
    await stranger.visit(theirs.link)
    const second = visitor()
    const { nonce, message } = await requestChallenge(second, link, walletAddress)
    const token = tokenOf(theirs.link)
    for (const [path, body] of [
      ['continue/challenge', { token, address: walletAddress, chainId: 1 }],
      ['continue', { token, nonce: 'none', signature: '0x00' }],
    ] as const) {
      const statuses: number[] = []
      while (statuses.at(-1) !== 429 && statuses.length < SESSION_CHANGES.burst * 2) {
        statuses.push((await stranger.call('POST', path, body)).status)
      }
      expect(statuses.at(-1)).toBe(429)
    }
    expect((await requestChallenge(second, link, walletAddress)).nonce).toBeDefined()
    const signature = await evmAccount('owner').signMessage({ message })
    expect((await proceed(second, link, nonce, signature))['kind']).toBe('entered')
  })

  test('is refused with a foreign wallet, a forged proof, or a proof that was made to connect', async () => {
    const { person, sessionId, link } = await insider()
    await connect(person, sessionId)
    const second = visitor()
    const [mine, stranger] = [evmAccount('mine'), evmAccount('stranger')]
    const reasonOf = async (nonce: string, signature: string) =>
      (await proceed(second, link, nonce, signature))['reason']
    const foreign = await requestChallenge(second, link, stranger.address)
    expect(await reasonOf(foreign.nonce, await stranger.signMessage(foreign))).toBe('wallet-foreign')
    const challenge = await requestChallenge(second, link)
    expect(await reasonOf(challenge.nonce, await stranger.signMessage(challenge))).toBe('proof-invalid')
    const wallets = `sessions/${sessionId}/wallets`
    const other = { address: mine.address, chainId: 8453 }
    const { body } = await person.call<Challenge>('POST', `${wallets}/challenge`, other)
    expect(await reasonOf(body.nonce, await mine.signMessage(body))).toBe('proof-invalid')
    // A proof to continue connects no wallet.
    const continued = { nonce: challenge.nonce, signature: await mine.signMessage(challenge) }
    expect((await person.call('POST', wallets, continued)).body['reason']).toBe('proof-invalid')
    expect(second.cookies.size).toBe(0)
    expect((await person.view(sessionId)).wallets).toHaveLength(1)
  })
})

describe('a link for a wallet that has a session', () => {
  const account = evmAccount('mine')
  const registerAgain = () => host.register({ walletAddress: account.address })
  const evidenceOf = (sessionId: string) =>
    host.store.evidence.list({ organizationId: host.organization.id, sessionId })

  const end = (sessionId: string) => host.decide(sessionId, 'rejected', { revoke: true })
  // The next registration of the wallet creates another session.
  afterEach(async () => void (await end((await registerAgain()).sessionId)))

  /** Submits and completes the session, and sends it back to the person. */
  const sendBack = async (sessionId: string) => {
    const { id: organizationId } = host.organization
    await host.identity.changes.changeStatus({ organizationId, sessionId, to: 'submitted', actor: 'person' })
    await host.decide(sessionId, 'completed')
    await host.decide(sessionId, 'retry', { revoke: true })
  }

  /** Agrees, enters fields or connects the wallet, or none of these. */
  const STEPS = ['was opened', 'has an agreement', 'has fields', 'has a wallet', 'is completed'] as const
  const enterAt = async (step: (typeof STEPS)[number]) => {
    const inside = await enter(host, { walletAddress: account.address })
    const { person, sessionId } = inside
    if (step !== 'was opened') await person.agree(sessionId)
    if (step === 'has fields') await putFields(person, sessionId)
    if (step === 'has a wallet' || step === 'is completed') await connect(person, sessionId)
    if (step === 'is completed') await host.decide(sessionId, 'completed')
    return inside
  }

  test.each(STEPS)('does not reveal a session that %s without a proof', async (step) => {
    const inside = await enterAt(step)
    const { sessionId, link } = await registerAgain()
    expect(sessionId).toBe(inside.sessionId)
    const stranger = visitor()
    expect((await stranger.visit(link)).status).toBe(200)
    expect(Object.keys(await enterBy(link, stranger)).sort()).toEqual(ELSEWHERE)
    expect((await prove(link, stranger, 'stranger'))['reason']).toBe('wallet-foreign')
    expect(stranger.cookies.size).toBe(0)
    // The browser of the session needs no proof, and the person can prove the wallet in any browser.
    expect(await kindOf(link, inside.person)).toBe('entered')
    expect(await prove(link, stranger)).toEqual({ kind: 'entered', sessionId })
  })

  test.each(STEPS.slice(2))('requires a proof if a session that %s has no browser left', async (step) => {
    const inside = await enterAt(step)
    for (let links = 0; links < 10; links++) await registerAgain()
    await leave(inside.person, inside.sessionId)
    expect(await kindOf(inside.link)).toBeUndefined()
    expect(await kindOf((await registerAgain()).link)).toBe('elsewhere')
  })

  test('opens a session without a browser, for any of its links that is used first', async () => {
    const first = await registerAgain()
    const second = await registerAgain()
    expect(second.sessionId).toBe(first.sessionId)
    expect((await visitor().visit(second.link)).status).toBe(303)
    expect(await kindOf(first.link)).toBe('elsewhere')
  })

  test('admits one browser if several links are opened simultaneously', async () => {
    const links = [await registerAgain(), await registerAgain(), await registerAgain()]
    const kinds = await Promise.all(links.map(({ link }) => kindOf(link)))
    expect(kinds.sort()).toEqual(['elsewhere', 'elsewhere', 'entered'])
  })

  test('gives the session to the person who proves the wallet, and closes all other browsers', async () => {
    const stranger = await insider({ walletAddress: account.address })
    const { person: accomplice, sessionId } = { person: visitor(), sessionId: stranger.sessionId }
    await accomplice.visit(await createHandover(stranger.person, sessionId))
    const open = await createHandover(stranger.person, sessionId)
    await putFields(accomplice, sessionId)
    const person = visitor()
    expect((await prove((await registerAgain()).link, person))['kind']).toBe('entered')
    // The agreement and the fields of the other person are deleted.
    const { agreement, missing } = await person.view(sessionId)
    expect(agreement).toBeNull()
    expect(missing).toContain('fullName')
    expect(await evidenceOf(sessionId)).toEqual([])
    for (const other of [stranger.person, accomplice]) expect(await statusOf(other, sessionId)).toBe(404)
    expect(await kindOf(open)).toBeUndefined()
    expect(await kindOf(stranger.link)).toBe('elsewhere')
  })

  test('keeps the agreement and the evidence of a person with a connected wallet', async () => {
    const { person, sessionId } = await insider({ walletAddress: account.address })
    await putFields(person, sessionId)
    await connect(person, sessionId)
    const second = visitor()
    await prove((await registerAgain()).link, second)
    expect((await second.view(sessionId)).agreement).not.toBeNull()
    expect(await getFields(second, sessionId)).toEqual(PERSON)
  })

  test('keeps the evidence of a decided session', async () => {
    const { person, sessionId, link } = await insider({ walletAddress: account.address })
    await putFields(person, sessionId)
    await end(sessionId)
    expect(await prove(link)).toEqual({ kind: 'entered', sessionId })
    expect(await evidenceOf(sessionId)).toHaveLength(1)
  })

  test('keeps the evidence of a session that was completed without the wallet and sent back', async () => {
    const { person, sessionId, link } = await insider({ walletAddress: account.address })
    await putFields(person, sessionId)
    await sendBack(sessionId)
    expect((await prove(link))['reason']).toBe('proof-invalid')
    expect(await evidenceOf(sessionId)).toHaveLength(1)
    expect(await getFields(person, sessionId)).toEqual(PERSON)
  })

  test('needs no proof if an administrator created it, unless the request is repeated', async () => {
    const { sessionId } = await insider({ walletAddress: account.address })
    const register = host.identity.registerIn(host.store)
    const first = await register.relink(host.organization.id, sessionId, false, null)
    const replayed = await register.relink(host.organization.id, sessionId, true, null)
    expect(await kindOf(replayed.url)).toBe('elsewhere')
    expect(await kindOf(first.url)).toBe('entered')
  })

  describe('by an administrator', () => {
    const relink = async (sessionId: string): Promise<string> =>
      (await host.identity.registerIn(host.store).relink(host.organization.id, sessionId, false, null)).url
    const begin = async () => {
      const inside = await insider()
      await putFields(inside.person, inside.sessionId)
      return inside
    }

    test('takes over the session without the fields of its person', async () => {
      const { person, sessionId } = await begin()
      const second = visitor()
      expect(await kindOf(await relink(sessionId), second)).toBe('entered')
      expect(await getFields(second, sessionId)).toEqual({})
      expect((await second.view(sessionId)).agreement).toBeNull()
      expect(await statusOf(person, sessionId)).toBe(404)
    })

    test('does not affect the browser of the person', async () => {
      const { person, sessionId } = await begin()
      expect(await kindOf(await relink(sessionId), person)).toBe('entered')
      expect(await getFields(person, sessionId)).toEqual(PERSON)
    })

    test('requires a proof once a wallet is connected', async () => {
      const { person, sessionId } = await begin()
      await connect(person, sessionId)
      const link = await relink(sessionId)
      expect(await kindOf(link)).toBe('elsewhere')
      expect(await prove(link)).toEqual({ kind: 'entered', sessionId })
    })

    test('keeps the evidence of a session that was completed and sent back, until it is erased', async () => {
      const { person, sessionId } = await begin()
      await connect(person, sessionId)
      await sendBack(sessionId)
      const [wallet] = (await host.find(sessionId)).wallets
      expect((await person.call('DELETE', `sessions/${sessionId}/wallets/${wallet?.id}`)).status).toBe(200)
      expect(await kindOf(await relink(sessionId))).toBe('elsewhere')
      expect(await evidenceOf(sessionId)).toHaveLength(1)
      expect(await getFields(person, sessionId)).toEqual(PERSON)
      await host.store.evidence.eraseAll({ organizationId: host.organization.id, sessionId }, 'operator:ada')
      expect(await kindOf(await relink(sessionId))).toBe('entered')
    })

    test('does not open a decided session', async () => {
      const { person, sessionId } = await begin()
      await host.decide(sessionId, 'rejected')
      expect(await kindOf(await relink(sessionId))).toBe('elsewhere')
      expect(await statusOf(person, sessionId)).toBe(200)
    })
  })

  test('needs no proof in a test session whose wallet the sandbox connected', async () => {
    const { sessionId, link } = await host.register({ environment: 'test', walletAddress: account.address })
    await host.identity.changes.connectWallet({
      organizationId: host.organization.id,
      sessionId,
      chain: 'ethereum',
      address: (await host.find(sessionId)).session.lockedAddress ?? ('' as never),
      nonce: null,
      proof: { kind: 'sandbox', message: '', signature: '' },
      actor: 'provider:sandbox',
    })
    expect(await kindOf(link)).toBe('entered')
  })
})
