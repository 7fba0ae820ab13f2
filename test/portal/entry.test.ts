// Coming in by a link: who is let in, who is not, and what each of them learns (threats rows 2, 4 and 5).

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hashToken } from '../../src/identity/sessions/portal-link.ts'
import { AGREEMENT_VERSION } from '../../src/portal/contract.ts'
import { SESSION_CHANGES } from '../../src/portal/session-limit.ts'
import { type PortalHost, startPortalHost } from './support/portal-host.ts'
import { createVisitor, enter, tokenOf, type Visitor } from './support/visitor.ts'
import { evmAccount, solanaKey } from './support/wallets.ts'

const host = await startPortalHost()
afterAll(() => host.stop())

const visitor = (): Visitor => createVisitor(host.url)

/** A visitor who has come in and agreed. */
const insider = async (settings: Parameters<PortalHost['register']>[0] = {}) => {
  const inside = await enter(host, settings)
  await inside.person.agree(inside.sessionId)
  return inside
}

interface Challenge extends Record<string, unknown> {
  readonly nonce: string
  readonly message: string
}

const connect = async (person: Visitor, sessionId: string, name: string): Promise<number> =>
  (await person.connectEvm(sessionId, name)).status

describe('a link', () => {
  test('is exchanged for a cookie, and leaves the address', async () => {
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

  test('gives the cookie the prefix that browsers enforce when the page is served over https', async () => {
    const secure = await startPortalHost({ portalUrl: 'https://verify.example' })
    try {
      const { link, sessionId } = await secure.register()
      const response = await createVisitor(secure.url).visit(`${secure.url}/v/${tokenOf(link)}`)
      expect(response.headers.get('location')).toBe(`https://verify.example/s/${sessionId}`)
      expect(response.headers.getSetCookie()[0]).toMatch(
        /^__Host-portal-[^=]+=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=\d+$/,
      )
      expect(response.headers.get('strict-transport-security')).toBe('max-age=63072000; includeSubDomains')
    } finally {
      await secure.stop()
    }
  })

  test('is not used up by a preview, a prefetch or a HEAD request', async () => {
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
    expect((await person.view(sessionId)).sessionId).toBe(sessionId)
  })

  test('is exchanged by the page itself where a browser tells nothing about its visits', async () => {
    const { link, sessionId } = await host.register()
    const person = visitor()
    expect((await person.visit(link, { 'sec-fetch-mode': '', 'sec-fetch-dest': '' })).status).toBe(200)
    expect((await person.call('POST', 'enter', { token: tokenOf(link) })).body).toEqual({ kind: 'entered', sessionId })
    expect((await person.view(sessionId)).sessionId).toBe(sessionId)
  })

  test('works again in the browser that opened it first, and keeps its cookie', async () => {
    const { person, link, sessionId } = await enter(host)
    const before = new Map(person.cookies)
    expect((await person.visit(link)).status).toBe(303)
    expect((await person.call('POST', 'enter', { token: tokenOf(link) })).body).toEqual({ kind: 'entered', sessionId })
    expect(person.cookies).toEqual(before)
  })

  test('opens nothing in a second browser, which is told whose verification it is and no more', async () => {
    const { link, sessionId } = await enter(host)
    const second = visitor()
    expect((await second.visit(link)).status).toBe(200)
    const { body } = await second.call('POST', 'enter', { token: tokenOf(link) })
    expect(body).toMatchObject({ kind: 'elsewhere', organizationName: 'Acme Exchange', contractChains: [] })
    expect(Object.keys(body).sort()).toEqual(['chains', 'contractChains', 'kind', 'organizationName'])
    expect(second.cookies.size).toBe(0)
    expect((await second.call('GET', `sessions/${sessionId}`)).status).toBe(404)
  })

  test('lets one of two in who open it at the same moment', async () => {
    const { link } = await host.register()
    const visits = await Promise.all(Array.from({ length: 8 }, () => visitor().visit(link)))
    expect(visits.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  test('of any other shape, or of nobody, is answered alike, with a page that says so', async () => {
    for (const token of ['x', 'A'.repeat(24), '../../etc/passwd', '%00', 'a'.repeat(5_000)]) {
      const response = await visitor().visit(`${host.url}/v/${token}`)
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect((await visitor().call('POST', 'enter', { token: token.slice(0, 60) })).status).toBe(404)
    }
  })

  test('keeps other links and other sessions of the browser as they are', async () => {
    const [one, two] = [await host.register(), await host.register()]
    const person = visitor()
    await person.visit(one.link)
    await person.visit(two.link)
    expect((await person.view(one.sessionId)).sessionId).toBe(one.sessionId)
    expect((await person.view(two.sessionId)).sessionId).toBe(two.sessionId)
  })
})

describe('the session’s id', () => {
  test('opens nothing: every route is answered as for one that never was', async () => {
    const { sessionId } = await enter(host)
    const nobody = '00000000-0000-7000-8000-000000000000'
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
      const unknown = await visitor().call(method, `sessions/${nobody}${path}`, body)
      expect([path, real.status, real.body['reason']]).toEqual([path, 404, 'browser-unknown'])
      expect(unknown.body['detail']).toEqual(real.body['detail'])
    }
  })

  test('is not opened by the cookie of another session', async () => {
    const [{ person, ...one }, two] = [await enter(host), await host.register()]
    const stolen = person.cookies.get(`portal-${one.sessionId}`) ?? ''
    const answer = await visitor().call('GET', `sessions/${two.sessionId}`, undefined, {
      cookie: `portal-${two.sessionId}=${stolen}`,
    })
    expect(answer.status).toBe(404)
  })
})

describe('a request that changes something', () => {
  test('must come from the page itself', async () => {
    const { person, sessionId } = await insider()
    const path = `sessions/${sessionId}/handover`
    const strangers: readonly Record<string, string>[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: host.url.replace('127.0.0.1', 'localhost'), 'sec-fetch-site': 'same-site' },
      { origin: host.url, 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of strangers) {
      const { status, body } = await person.call('POST', path, {}, headers)
      expect([status, body['code']]).toEqual([403, 'FORBIDDEN_ORIGIN'])
    }
    const silent = await fetch(`${host.url}/api/${path}`, { method: 'POST' })
    expect(silent.status).toBe(403)
    expect((await person.call('POST', path, {})).status).toBe(200)
  })

  test('must be JSON of the expected kind', async () => {
    const { person, sessionId } = await insider()
    const path = `sessions/${sessionId}/wallets/challenge`
    const form = await person.call('POST', path, Buffer.from('address=x'), {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(form.status).toBe(415)
    const twice = await person.call('POST', path, Buffer.from('{"address":"a","address":"b"}'))
    expect(twice.status).toBe(400)
    const { address } = evmAccount('a')
    const chains = [null, 0, 1.5].map((chainId) => ({ address, chainId }))
    for (const body of [{}, { address: 7 }, { address: 'nobody' }, { address }, ...chains]) {
      expect([body, (await person.call('POST', path, body)).status]).toEqual([body, 400])
    }
  })

  test('is refused for an address with a slip in its capital letters', async () => {
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

describe('passing on to another device', () => {
  test('is a link that works once, beside the browser that made it', async () => {
    const { person, sessionId } = await insider()
    const { body } = await person.call('POST', `sessions/${sessionId}/handover`, {})
    const url = String(body['url'])
    expect(url).toMatch(new RegExp(`^${host.url}/v/[A-Za-z0-9_-]{24}$`))
    expect(body['qrCode']).toMatch(/^data:image\/png;base64,/)
    const phone = visitor()
    expect((await phone.visit(url)).status).toBe(303)
    expect((await phone.view(sessionId)).agreement).not.toBeNull()
    expect((await person.view(sessionId)).sessionId).toBe(sessionId)
    // The phone may follow it again; nobody else.
    expect((await phone.visit(url)).status).toBe(303)
    const third = visitor()
    expect((await third.visit(url)).status).toBe(200)
    expect((await third.call('POST', 'enter', { token: tokenOf(url) })).body['kind']).toBe('elsewhere')
  })

  test('ends with its ten minutes', async () => {
    const { sessionId, link: own } = await insider()
    const hash = new Uint8Array(32).fill(7)
    const link = { organizationId: host.organization.id, sessionId }
    const { cookieHash } = (await host.store.portalLinks.find(hashToken(tokenOf(own)))) ?? {}
    await host.store.portalLinks.addHandover({ ...link, cookieHash: cookieHash ?? hash }, hash, 1)
    expect(await host.store.portalLinks.find(hash)).toBeNull()
    expect(await host.store.portalLinks.bind(link, hash, new Uint8Array(32).fill(8))).toBe(false)
    expect(await host.store.portalLinks.sweep()).toBeGreaterThan(0)
  })

  test('has at most 20 links that wait: beyond them the oldest ends', async () => {
    const { person, sessionId } = await insider()
    const make = async () => String((await person.call('POST', `sessions/${sessionId}/handover`, {})).body['url'])
    const first = await make()
    host.passTime(1)
    const newer: string[] = []
    while (newer.length < 20) newer.push(await make())
    expect((await visitor().visit(first)).status).toBe(404)
    expect((await visitor().visit(newer[0] ?? '')).status).toBe(303)
  })
})

describe('a browser’s right to open a session', () => {
  const DAY = 86_400
  let own: PortalHost
  beforeAll(async () => {
    own = await startPortalHost()
  })
  afterAll(() => own.stop())

  const enteredHere = async () => {
    const registered = await own.register()
    const person = createVisitor(own.url)
    const [cookie = ''] = (await person.visit(registered.link)).headers.getSetCookie()
    await person.agree(registered.sessionId)
    return { person, cookie, ...registered }
  }
  const look = (person: Visitor, sessionId: string) => person.call('GET', `sessions/${sessionId}`)

  test('ends 30 days after its last use, in the store and in the cookie', async () => {
    const { person, cookie, sessionId, link } = await enteredHere()
    expect(cookie).toEndWith(`; Max-Age=${30 * DAY}`)
    expect((await look(person, sessionId)).headers.getSetCookie()).toEqual([])
    own.passTime(29 * DAY)
    const [renewed] = (await look(person, sessionId)).headers.getSetCookie()
    expect(renewed).toBe(cookie)
    expect((await look(person, sessionId)).headers.getSetCookie()).toEqual([])
    own.passTime(29 * DAY)
    expect((await look(person, sessionId)).status).toBe(200)
    own.passTime(30 * DAY)
    expect((await look(person, sessionId)).status).toBe(404)
    expect((await person.call('POST', `sessions/${sessionId}/handover`, {})).status).toBe(404)
    // Its cookie is worth nothing, whatever its owner's clock says; the link is taken, and says so.
    expect((await person.visit(link)).status).toBe(200)
    expect((await person.call('POST', 'enter', { token: tokenOf(link) })).body['kind']).toBe('elsewhere')
  })

  test('is forgotten by the sweep, where its link is replaced; else the link stays taken', async () => {
    const { person, sessionId, link } = await enteredHere()
    const handover = await person.call('POST', `sessions/${sessionId}/handover`, {})
    const passedOn = String(handover.body['url'])
    await createVisitor(own.url).visit(passedOn)
    own.passTime(30 * DAY)
    while ((await own.store.portalLinks.sweep()) > 0);
    const entered = async (url: string) =>
      (await createVisitor(own.url).call('POST', 'enter', { token: tokenOf(url) })).body
    expect((await entered(link))['kind']).toBe('elsewhere')
    expect((await entered(passedOn))['reason']).toBe('link-unknown')
  })

  test('ends when the person leaves the device, who can leave it twice', async () => {
    const { person, sessionId, link } = await enteredHere()
    const stolen = createVisitor(own.url)
    for (const [name, value] of person.cookies) stolen.cookies.set(name, value)
    const passedOn = String((await person.call('POST', `sessions/${sessionId}/handover`, {})).body['url'])
    const left = await person.call('POST', `sessions/${sessionId}/leave`, {})
    expect(left.status).toBe(200)
    expect(left.headers.getSetCookie()[0]).toMatch(/^portal-[^=]+=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/)
    expect(person.cookies.size).toBe(0)
    expect((await look(stolen, sessionId)).status).toBe(404)
    expect((await stolen.call('POST', `sessions/${sessionId}/leave`, {})).status).toBe(200)
    expect((await createVisitor(own.url).visit(passedOn)).status).toBe(404)
    expect((await stolen.call('POST', 'enter', { token: tokenOf(link) })).body['kind']).toBe('elsewhere')
  })

  test('cannot be ended by another site or by somebody who has only the session’s id', async () => {
    const { person, sessionId } = await enteredHere()
    expect(
      (await person.call('POST', `sessions/${sessionId}/leave`, {}, { origin: 'https://evil.example' })).status,
    ).toBe(403)
    expect((await createVisitor(own.url).call('POST', `sessions/${sessionId}/leave`, {})).status).toBe(200)
    expect((await look(person, sessionId)).status).toBe(200)
  })

  test('is for the outcome alone once the session is final, and is not renewed', async () => {
    const { person, sessionId } = await enteredHere()
    expect(await connect(person, sessionId, 'leaver')).toBe(200)
    await own.decide(sessionId, 'rejected', { publicComment: 'Not this time.' })
    own.passTime(2 * DAY)
    const { body, headers } = await look(person, sessionId)
    expect(body).toMatchObject({ status: 'rejected', comment: 'Not this time.' })
    expect(body).toMatchObject({ wallets: [], fields: [], documents: [], missing: [], lockedWallet: null })
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
    expect((await look(person, sessionId)).status).toBe(404)
  })
})

describe('a second browser', () => {
  const challenge = async (person: Visitor, link: string, address: string, chainId: number) =>
    (await person.call<Challenge>('POST', 'continue/challenge', { token: tokenOf(link), address, chainId })).body

  test('goes on with the signature of a wallet of the session, and ends the first', async () => {
    const { person, sessionId, link } = await insider()
    expect(await connect(person, sessionId, 'mine')).toBe(200)
    const second = visitor()
    const account = evmAccount('mine')
    const asked = await challenge(second, link, account.address, 1)
    expect(asked.message).toContain('Continue in this browser your identity verification for Acme Exchange.')
    expect(asked.message).toContain(`Request ID: ${sessionId}`)
    const proof = {
      token: tokenOf(link),
      nonce: asked.nonce,
      signature: await account.signMessage({ message: asked.message }),
    }
    expect((await second.call('POST', 'continue', proof)).body).toEqual({ kind: 'entered', sessionId })
    expect((await second.view(sessionId)).sessionId).toBe(sessionId)
    expect((await person.call('GET', `sessions/${sessionId}`)).status).toBe(404)
    // The same proof again: spent.
    expect((await visitor().call('POST', 'continue', proof)).body['reason']).toBe('proof-invalid')
  })

  test('goes on with the wallet that the session is for, before it is connected', async () => {
    const key = solanaKey('locked')
    const { link, sessionId } = await host.register({ walletAddress: key.address })
    await visitor().visit(link)
    const second = visitor()
    const asked = await challenge(second, link, key.address, 0)
    const signature = `0x${Buffer.from(key.sign(Buffer.from(asked.message))).toString('hex')}`
    const { body } = await second.call('POST', 'continue', { token: tokenOf(link), nonce: asked.nonce, signature })
    expect(body).toEqual({ kind: 'entered', sessionId })
  })

  test('of two answers to one challenge at once lets one in', async () => {
    const { person, sessionId, link } = await insider()
    await connect(person, sessionId, 'mine')
    const asked = await challenge(visitor(), link, evmAccount('mine').address, 1)
    const signature = await evmAccount('mine').signMessage({ message: asked.message })
    const answers = await Promise.all(
      [visitor(), visitor(), visitor()].map((browser) =>
        browser.call('POST', 'continue', { token: tokenOf(link), nonce: asked.nonce, signature }),
      ),
    )
    expect(answers.map(({ body }) => body['kind'] ?? body['reason']).sort()).toEqual([
      'entered',
      'proof-invalid',
      'proof-invalid',
    ])
  })

  test('has at most 20 challenges that wait: beyond them the oldest ends', async () => {
    const { person, sessionId, link } = await insider()
    await connect(person, sessionId, 'mine')
    const second = visitor()
    const mine = evmAccount('mine')
    const ask = () => challenge(second, link, mine.address, 1)
    const answer = async (asked: Challenge) =>
      (
        await second.call('POST', 'continue', {
          token: tokenOf(link),
          nonce: asked.nonce,
          signature: await mine.signMessage({ message: asked.message }),
        })
      ).body
    const first = await ask()
    host.passTime(1)
    const oldestThatWaits = await ask()
    for (let count = 1; count < 20; count++) await ask()
    expect((await answer(first))['reason']).toBe('proof-invalid')
    expect((await answer(oldestThatWaits))['kind']).toBe('entered')
  })

  test('is not kept out by what a stranger does with a link of their own', async () => {
    const walletAddress = evmAccount('owner').address
    const { link } = await host.register({ walletAddress })
    const theirs = await host.register({ walletAddress })
    const stranger = visitor()
    await stranger.visit(theirs.link)
    const second = visitor()
    const { nonce, message } = await challenge(second, link, walletAddress, 1)
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
    expect((await challenge(second, link, walletAddress, 1)).nonce).toBeDefined()
    const signature = await evmAccount('owner').signMessage({ message })
    const answer = await second.call('POST', 'continue', { token: tokenOf(link), nonce, signature })
    expect(answer.body['kind']).toBe('entered')
  })

  test('is refused with a wallet of nobody’s, a forged proof, or one that was made to connect', async () => {
    const { person, sessionId, link } = await insider()
    await connect(person, sessionId, 'mine')
    const second = visitor()
    const [mine, stranger] = [evmAccount('mine'), evmAccount('stranger')]
    const proceed = async (nonce: string, signature: string) =>
      (await second.call('POST', 'continue', { token: tokenOf(link), nonce, signature })).body['reason']
    const foreign = await challenge(second, link, stranger.address, 1)
    expect(await proceed(foreign.nonce, await stranger.signMessage(foreign))).toBe('wallet-foreign')
    const asked = await challenge(second, link, mine.address, 1)
    expect(await proceed(asked.nonce, await stranger.signMessage(asked))).toBe('proof-invalid')
    const wallets = `sessions/${sessionId}/wallets`
    const other = { address: mine.address, chainId: 8453 }
    const { body } = await person.call<Challenge>('POST', `${wallets}/challenge`, other)
    expect(await proceed(body.nonce, await mine.signMessage(body))).toBe('proof-invalid')
    // And a proof that was made to continue connects nothing.
    const continued = { nonce: asked.nonce, signature: await mine.signMessage(asked) }
    expect((await person.call('POST', wallets, continued)).body['reason']).toBe('proof-invalid')
    expect(second.cookies.size).toBe(0)
    expect((await person.view(sessionId)).wallets).toHaveLength(1)
  })
})

describe('a link for a wallet that has a session', () => {
  const PERSON = { fullName: 'Ada Byron King', birthDate: '1985-12-10', country: 'GB' }
  const account = evmAccount('mine')
  const again = () => host.register({ walletAddress: account.address })
  const enterBy = async (link: string, by = visitor()) =>
    (await by.call('POST', 'enter', { token: tokenOf(link) })).body['kind']

  const prove = async (link: string, by: Visitor, name = 'mine') => {
    const { address } = evmAccount(name)
    const asked = { token: tokenOf(link), address, chainId: 1 }
    const { nonce, message } = (await by.call<Challenge>('POST', 'continue/challenge', asked)).body
    const signature = await evmAccount(name).signMessage({ message })
    return (await by.call('POST', 'continue', { token: tokenOf(link), nonce, signature })).body
  }

  /** Ends the session, so that the next registration makes another one. */
  const end = (sessionId: string) => host.decide(sessionId, 'rejected')

  /** Submits and completes the session, and sends it back to the person. */
  const sendBack = async (sessionId: string) => {
    const { id: organizationId } = host.organization
    await host.identity.changes.changeStatus({ organizationId, sessionId, to: 'submitted', actor: 'person' })
    await host.decide(sessionId, 'completed')
    await host.decide(sessionId, 'retry', { revoke: true })
  }

  type Step = (inside: { readonly person: Visitor; readonly sessionId: string }) => Promise<unknown>
  const STEPS: readonly (readonly [string, Step])[] = [
    ['was opened', async () => undefined],
    ['was agreed to', ({ person, sessionId }) => person.agree(sessionId)],
    [
      'has details',
      async ({ person, sessionId }) => {
        await person.agree(sessionId)
        expect((await person.call('PUT', `sessions/${sessionId}/fields`, PERSON)).status).toBe(200)
      },
    ],
    [
      'has a wallet',
      async ({ person, sessionId }) => {
        await person.agree(sessionId)
        expect(await connect(person, sessionId, 'mine')).toBe(200)
      },
    ],
    [
      'is completed',
      async ({ person, sessionId }) => {
        await person.agree(sessionId)
        expect(await connect(person, sessionId, 'mine')).toBe(200)
        await host.decide(sessionId, 'completed')
      },
    ],
  ]

  test.each(STEPS)('shows nothing of a session that %s, without a proof', async (_name, step) => {
    const inside = await enter(host, { walletAddress: account.address })
    await step(inside)
    const { sessionId, link } = await again()
    expect(sessionId).toBe(inside.sessionId)
    const stranger = visitor()
    expect((await stranger.visit(link)).status).toBe(200)
    const answer = await stranger.call('POST', 'enter', { token: tokenOf(link) })
    expect(Object.keys(answer.body).sort()).toEqual(['chains', 'contractChains', 'kind', 'organizationName'])
    expect((await prove(link, stranger, 'stranger'))['reason']).toBe('wallet-foreign')
    expect(stranger.cookies.size).toBe(0)
    // Its own browser needs no proof, and its person proves the wallet anywhere.
    expect(await enterBy(link, inside.person)).toBe('entered')
    expect(await prove(link, stranger)).toEqual({ kind: 'entered', sessionId })
    await host.decide(sessionId, 'rejected', { revoke: true })
  })

  test.each(STEPS.slice(2))('asks for a proof when a session that %s has no browser any more', async (_name, step) => {
    const inside = await enter(host, { walletAddress: account.address })
    await step(inside)
    for (let links = 0; links < 10; links++) await again()
    await inside.person.call('POST', `sessions/${inside.sessionId}/leave`, {})
    expect(await enterBy(inside.link)).toBeUndefined()
    expect(await enterBy((await again()).link)).toBe('elsewhere')
    await host.decide(inside.sessionId, 'rejected', { revoke: true })
  })

  test('opens a session that nobody has opened, whichever of its links comes first', async () => {
    const first = await again()
    const second = await again()
    expect(second.sessionId).toBe(first.sessionId)
    const person = visitor()
    expect((await person.visit(second.link)).status).toBe(303)
    expect(await enterBy(first.link)).toBe('elsewhere')
    await end(first.sessionId)
  })

  test('of two that are opened at the same moment lets one in', async () => {
    const links = [await again(), await again(), await again()]
    const kinds = await Promise.all(links.map(({ link }) => enterBy(link)))
    expect(kinds.sort()).toEqual(['elsewhere', 'elsewhere', 'entered'])
    await end(links[0]?.sessionId ?? '')
  })

  test('gives the session to the person who proves the wallet, and takes it from whoever was there before', async () => {
    const stranger = await insider({ walletAddress: account.address })
    const { person: accomplice, sessionId } = { person: visitor(), sessionId: stranger.sessionId }
    const handover = async () =>
      String((await stranger.person.call('POST', `sessions/${sessionId}/handover`, {})).body['url'])
    await accomplice.visit(await handover())
    const waiting = await handover()
    expect((await accomplice.call('PUT', `sessions/${sessionId}/fields`, PERSON)).status).toBe(200)
    const person = visitor()
    expect((await prove((await again()).link, person))['kind']).toBe('entered')
    // The stranger's agreement is not theirs, nor is what the stranger gave.
    const { agreement, missing } = await person.view(sessionId)
    expect(agreement).toBeNull()
    expect(missing).toContain('fullName')
    expect(await host.store.evidence.list({ organizationId: host.organization.id, sessionId })).toEqual([])
    for (const { call } of [stranger.person, accomplice]) {
      expect((await call('GET', `sessions/${sessionId}`)).status).toBe(404)
    }
    expect(await enterBy(waiting)).toBeUndefined()
    expect(await enterBy(stranger.link)).toBe('elsewhere')
    await end(sessionId)
  })

  test('keeps the agreement and the evidence of a person who has connected a wallet', async () => {
    const inside = await insider({ walletAddress: account.address })
    expect((await inside.person.call('PUT', `sessions/${inside.sessionId}/fields`, PERSON)).status).toBe(200)
    expect(await connect(inside.person, inside.sessionId, 'mine')).toBe(200)
    const second = visitor()
    await prove((await again()).link, second)
    expect((await second.view(inside.sessionId)).agreement).not.toBeNull()
    expect((await second.call('GET', `sessions/${inside.sessionId}/fields`)).body).toEqual(PERSON)
    await end(inside.sessionId)
  })

  test('leaves the evidence of a session that was decided', async () => {
    const { person, sessionId, link } = await insider({ walletAddress: account.address })
    expect((await person.call('PUT', `sessions/${sessionId}/fields`, PERSON)).status).toBe(200)
    await end(sessionId)
    expect(await prove(link, visitor())).toEqual({ kind: 'entered', sessionId })
    expect(await host.store.evidence.list({ organizationId: host.organization.id, sessionId })).toHaveLength(1)
  })

  test('leaves the evidence of a session that was completed without the wallet and sent back', async () => {
    const { person, sessionId, link } = await insider({ walletAddress: account.address })
    expect((await person.call('PUT', `sessions/${sessionId}/fields`, PERSON)).status).toBe(200)
    await sendBack(sessionId)
    expect((await prove(link, visitor()))['reason']).toBe('proof-invalid')
    expect(await host.store.evidence.list({ organizationId: host.organization.id, sessionId })).toHaveLength(1)
    expect((await person.call('GET', `sessions/${sessionId}/fields`)).body).toEqual(PERSON)
    await end(sessionId)
  })

  test('needs no proof when an administrator made it for the person', async () => {
    const { sessionId } = await insider({ walletAddress: account.address })
    const { id } = host.organization
    const register = host.identity.registerIn(host.store)
    const theirs = await register.relink(id, sessionId, false, null)
    const replayed = await register.relink(id, sessionId, true, null)
    expect(await enterBy(replayed.url)).toBe('elsewhere')
    expect(await enterBy(theirs.url)).toBe('entered')
    await end(sessionId)
  })

  describe('that an administrator made', () => {
    const relink = async (sessionId: string): Promise<string> =>
      (await host.identity.registerIn(host.store).relink(host.organization.id, sessionId, false, null)).url
    const fieldsOf = async (sessionId: string, by: Visitor) =>
      (await by.call('GET', `sessions/${sessionId}/fields`)).body
    const begun = async () => {
      const inside = await insider()
      expect((await inside.person.call('PUT', `sessions/${inside.sessionId}/fields`, PERSON)).status).toBe(200)
      return inside
    }

    test('takes the session over without what its person has typed', async () => {
      const { person, sessionId } = await begun()
      const second = visitor()
      expect(await enterBy(await relink(sessionId), second)).toBe('entered')
      expect(await fieldsOf(sessionId, second)).toEqual({})
      expect((await second.view(sessionId)).agreement).toBeNull()
      expect((await person.call('GET', `sessions/${sessionId}`)).status).toBe(404)
    })

    test('changes nothing in the person’s own browser', async () => {
      const { person, sessionId } = await begun()
      expect(await enterBy(await relink(sessionId), person)).toBe('entered')
      expect(await fieldsOf(sessionId, person)).toEqual(PERSON)
    })

    test('takes a proof once a wallet is connected', async () => {
      const { person, sessionId } = await begun()
      expect(await connect(person, sessionId, 'mine')).toBe(200)
      const link = await relink(sessionId)
      expect(await enterBy(link)).toBe('elsewhere')
      expect(await prove(link, visitor())).toEqual({ kind: 'entered', sessionId })
    })

    test('leaves the evidence of a session that was completed and sent back, until the organization erases it', async () => {
      const { person, sessionId } = await begun()
      const target = { organizationId: host.organization.id, sessionId }
      expect(await connect(person, sessionId, 'mine')).toBe(200)
      await sendBack(sessionId)
      const [wallet] = (await host.find(sessionId)).wallets
      expect((await person.call('DELETE', `sessions/${sessionId}/wallets/${wallet?.id}`)).status).toBe(200)
      expect(await enterBy(await relink(sessionId))).toBe('elsewhere')
      expect(await host.store.evidence.list(target)).toHaveLength(1)
      expect(await fieldsOf(sessionId, person)).toEqual(PERSON)
      await host.store.evidence.eraseAll(target, 'operator:ada')
      expect(await enterBy(await relink(sessionId))).toBe('entered')
    })

    test('opens nothing of a session that was decided', async () => {
      const { person, sessionId } = await begun()
      await host.decide(sessionId, 'rejected')
      expect(await enterBy(await relink(sessionId))).toBe('elsewhere')
      expect((await person.call('GET', `sessions/${sessionId}`)).status).toBe(200)
    })
  })

  test('needs no proof in a test session whose wallet the sandbox connected', async () => {
    const environment = 'test'
    const { sessionId, link } = await host.register({ environment, walletAddress: account.address })
    await host.identity.changes.connectWallet({
      organizationId: host.organization.id,
      sessionId,
      chain: 'ethereum',
      address: (await host.find(sessionId)).session.lockedAddress ?? ('' as never),
      nonce: null,
      proof: { kind: 'sandbox', message: '', signature: '' },
      actor: 'provider:sandbox',
    })
    expect(await enterBy(link)).toBe('entered')
  })
})

describe('two organizations', () => {
  test('a cookie of one opens nothing of the other', async () => {
    const other = await host.createOrganization('other', 'Other', 1)
    const theirs = await host.registerFor(other.id)
    const { person } = await insider()
    expect((await person.call('GET', `sessions/${theirs.sessionId}`)).status).toBe(404)
    const them = visitor()
    await them.visit(theirs.link)
    expect((await them.view(theirs.sessionId)).organization.name).toBe('Other')
  })
})
