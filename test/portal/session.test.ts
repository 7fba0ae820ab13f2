// What the page may do with its session, in which order, and what it is refused (threats rows 3, 5, 6 and 18).
import { afterAll, describe, expect, test } from 'bun:test'
import { PNG } from 'pngjs'
import { AGREEMENT_VERSION, type SessionView } from '../../src/portal/contract.ts'
import { NETWORK_PROOFS, SESSION_CHANGES } from '../../src/portal/session-limit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { type RegisterOptions, startPortalHost } from './support/portal-host.ts'
import { type Answer, createVisitor, enter as enterHost, tokenOf } from './support/visitor.ts'
import { evmAccount, solanaKey } from './support/wallets.ts'

const host = await startPortalHost({ level: 2, name: 'Acme Exchange' })
afterAll(() => host.stop())

const PERSON = { fullName: 'Ada Byron King', birthDate: '1985-12-10', country: 'GB' }

const picture = (): Uint8Array => {
  const png = new PNG({ width: 40, height: 30 })
  for (let i = 0; i < png.data.length; i++) png.data[i] = (i * 37) % 256
  return PNG.sync.write(png)
}

const enter = async (settings: RegisterOptions = {}) => {
  const entered = await enterHost(host, settings)
  return { ...entered, path: `sessions/${entered.sessionId}` }
}
type Insider = Awaited<ReturnType<typeof enter>>

const insider = async (settings: RegisterOptions = {}, shares = true): Promise<Insider> => {
  const inside = await enter(settings)
  await inside.person.agree(inside.sessionId, shares)
  return inside
}

const challenge = async ({ person, path }: Insider, address: string, chainId: number) =>
  (await person.call('POST', `${path}/wallets/challenge`, { address, chainId })).body

const connectEvm = ({ person, sessionId }: Insider, name: string, chainId = 1) =>
  person.connectEvm(sessionId, name, chainId)

const upload = (inside: Insider, kind: string, content: Uint8Array = picture(), type = 'image/png', name = 'a.png') =>
  inside.person.call('POST', `${inside.path}/documents/${kind}`, content, {
    'content-type': type,
    'x-file-name': encodeURIComponent(name),
  })

/** Everything given that level 2 asks of a person. */
const complete = async (inside: Insider): Promise<void> => {
  await connectEvm(inside, 'mine')
  await inside.person.call('PUT', `${inside.path}/fields`, PERSON)
  await upload(inside, 'identity-document')
  await upload(inside, 'portrait')
}

const submit = ({ person, path }: Insider) => person.call('POST', `${path}/submit`, {})

describe('before the person has agreed', () => {
  test('nothing is taken', async () => {
    const { person, path } = await enter()
    const attempts: readonly [string, string, unknown][] = [
      ['PUT', 'fields', PERSON],
      ['POST', 'wallets/challenge', { address: evmAccount('a').address, chainId: 1 }],
      ['POST', 'wallets', { nonce: 'x', signature: '0x' }],
      ['POST', 'documents/portrait', picture()],
      ['POST', 'submit', {}],
    ]
    for (const [method, what, body] of attempts) {
      expect((await person.call(method, `${path}/${what}`, body)).body['reason']).toBe('agreement-missing')
    }
  })

  test('agreeing to another text than the one that holds is refused', async () => {
    const { person, path } = await enter()
    for (const body of [
      { version: '0', language: 'en', shares: true },
      { version: AGREEMENT_VERSION, language: 'fr', shares: true },
    ]) {
      expect((await person.call('POST', `${path}/agreement`, body)).body['reason']).toBe('agreement-outdated')
    }
    expect(
      (await person.call('POST', `${path}/agreement`, { version: AGREEMENT_VERSION, language: 'en' })).status,
    ).toBe(400)
  })

  test('the answer is recorded with the version and language of its text, and may still change', async () => {
    const { person, sessionId, path } = await enter()
    await person.call('POST', `${path}/agreement`, { version: AGREEMENT_VERSION, language: 'de', shares: true })
    expect((await person.view(sessionId)).agreement).toMatchObject({ version: `${AGREEMENT_VERSION}.de`, shares: true })
    await person.agree(sessionId, false)
    expect((await person.view(sessionId)).agreement).toMatchObject({
      version: `${AGREEMENT_VERSION}.en`,
      shares: false,
    })
  })

  test('country and age are used only if the organization asks and an individual agrees; each change is in the history', async () => {
    const { id } = await host.createOrganization('asking', 'Asking', 1)
    const open = async (type: 'individual' | 'business') => {
      const { sessionId, link } = await host.registerFor(id, { type })
      const person = createVisitor(host.url)
      await person.visit(link)
      return { person, sessionId }
    }
    const { person, sessionId } = await open('individual')
    const answer = async (usesDetails?: boolean) => {
      expect((await person.agree(sessionId, true, usesDetails === undefined ? {} : { usesDetails })).status).toBe(200)
      const { agreement, asksDetails } = await person.view(sessionId)
      return [asksDetails, agreement?.usesDetails]
    }
    expect(await answer(true)).toEqual([false, false])
    await host.store.organizationBrands.set(id, { asksDetails: true })
    expect(await answer(true)).toEqual([true, true])
    expect(await answer(true)).toEqual([true, true])
    expect(await answer(false)).toEqual([true, false])
    expect(await answer(true)).toEqual([true, true])
    expect(await answer()).toEqual([true, false])
    const history = await host.store.sessions.listEvents(id, sessionId)
    const noted = history.filter(({ kind }) => kind.startsWith('details-'))
    expect(noted.map(({ kind, actor, privateComment }) => [kind, actor, privateComment])).toEqual(
      ['details-consented', 'details-consent-withdrawn', 'details-consented', 'details-consent-withdrawn'].map(
        (kind) => [kind, 'person', `${AGREEMENT_VERSION}.en`],
      ),
    )
    const business = await open('business')
    await business.person.agree(business.sessionId, true, { usesDetails: true })
    const { asksDetails, agreement } = await business.person.view(business.sessionId)
    expect([asksDetails, agreement?.usesDetails]).toEqual([false, false])
  })
})

describe('the view', () => {
  test('says what the organization says, for how long it keeps what is given, and how long others waited', async () => {
    const { id } = await host.createOrganization('measured', 'Measured', 1)
    await host.store.organizationBrands.set(id, { privacyUrl: 'https://m.example/p', wordsDe: 'Guten Tag' })
    const decide = (sessionId: string, to: 'submitted' | 'completed' | 'rejected') =>
      host.identity.changes.changeStatus({
        organizationId: id,
        sessionId,
        to,
        actor: 'operator:test',
        override: 'person',
      })
    const viewOf = async () => {
      const { sessionId, link } = await host.registerFor(id)
      const person = createVisitor(host.url)
      await person.visit(link)
      return (await person.view(sessionId)).organization
    }
    const waits = [600, 3_600, 7_200, 60, 86_400]
    for (const [index, seconds] of waits.entries()) {
      expect(await host.store.sessions.findUsualWait(id, 'live')).toBeNull()
      const { sessionId } = await host.registerFor(id)
      await decide(sessionId, 'submitted')
      await markChecksMade(host.store, id, sessionId)
      host.passTime(seconds)
      await decide(sessionId, index === 0 ? 'rejected' : 'completed')
    }
    expect(await host.store.sessions.findUsualWait(id, 'test')).toBeNull()
    expect(await viewOf()).toMatchObject({
      privacyUrl: 'https://m.example/p',
      supportEmail: null,
      words: { en: null, de: 'Guten Tag' },
      keptDays: { completed: 1_826, rejected: 365, abandoned: 30 },
      usualWaitSeconds: 3_600,
    })
  })

  test('shows what is asked, what is missing, and where the person came from, by its host in ASCII', async () => {
    const { person, sessionId } = await enter({ originUrl: 'https://xn--80ak6aa92e.example/path' })
    const view = await person.view(sessionId)
    expect(view).toMatchObject({
      checkType: 'kyc',
      status: 'pending',
      test: false,
      organization: { name: 'Acme Exchange', color: null, logo: null },
      lockedWallet: null,
      walletsMax: 20,
      origin: { url: 'https://xn--80ak6aa92e.example/path', host: 'xn--80ak6aa92e.example' },
      missing: ['wallets', 'fullName', 'birthDate', 'country', 'identity-document', 'portrait'],
      corrections: [],
      contractChains: [],
    })
    expect(view.chains).toContainEqual({ name: 'bsc', title: 'BNB Smart Chain', chainId: 56 })
  })

  test('never shows what is inside a document or a field', async () => {
    const inside = await insider()
    await complete(inside)
    const text = JSON.stringify(await inside.person.view(inside.sessionId))
    expect(text).not.toContain('Ada')
    expect((await inside.person.call('GET', `${inside.path}/fields`)).body).toEqual(PERSON)
  })

  test('carries the organization’s colour and logo, served as a picture and nothing else', async () => {
    const branded = await host.createOrganization('branded', 'Branded', 1)
    await host.store.organizationBrands.set(branded.id, {
      color: '#aa3366',
      logo: { type: 'image/png', bytes: picture() },
    })
    const { sessionId, link } = await host.registerFor(branded.id)
    const person = createVisitor(host.url)
    await person.visit(link)
    const { organization } = await person.view(sessionId)
    expect(organization.color).toBe('#aa3366')
    const logo = await fetch(`${host.url}/${organization.logo}`, { headers: { cookie: person.cookieHeader() } })
    expect(logo.headers.get('content-type')).toBe('image/png')
    expect(logo.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
    expect(new Uint8Array(await logo.arrayBuffer())).toEqual(new Uint8Array(picture()))
    expect((await fetch(`${host.url}/${organization.logo}`)).status).toBe(404)
  })
})

describe('wallets', () => {
  test('of both families connect, on several chains, and can be taken out again', async () => {
    const inside = await insider()
    expect((await connectEvm(inside, 'mine', 1)).status).toBe(200)
    expect((await connectEvm(inside, 'mine', 8453)).status).toBe(200)
    expect((await connectEvm(inside, 'mine', 137)).status).toBe(200)
    const key = solanaKey('mine')
    const sign = async (message: string) => `0x${Buffer.from(key.sign(Buffer.from(message))).toString('hex')}`
    const { body } = await inside.person.connect(inside.sessionId, key.address, sign, 0)
    const { wallets } = body as unknown as SessionView
    expect(wallets.map(({ chainTitle }) => chainTitle)).toEqual(['Ethereum', 'Base', 'Polygon', 'Solana'])
    const [first] = wallets
    const path = `${inside.path}/wallets/${first?.id}`
    const removed = await inside.person.call<SessionView>('DELETE', path)
    expect(removed.body.wallets).toHaveLength(3)
    // Removed in another tab before: what was wanted is so.
    expect((await inside.person.call('DELETE', path)).status).toBe(200)
  })

  test('with a forged, foreign or repeated proof are refused', async () => {
    const inside = await insider()
    const { address } = evmAccount('mine')
    const { nonce, message } = await challenge(inside, address, 1)
    const send = (signature: string) => inside.person.call('POST', `${inside.path}/wallets`, { nonce, signature })
    const forged = await evmAccount('forger').signMessage({ message: String(message) })
    expect((await send(forged)).body['reason']).toBe('proof-invalid')
    const other = await evmAccount('mine').signMessage({ message: `${message} ` })
    expect((await send(other)).body['reason']).toBe('proof-invalid')
    const good = await evmAccount('mine').signMessage({ message: String(message) })
    expect((await send(good)).status).toBe(200)
    expect((await send(good)).body['reason']).toBe('proof-invalid')
    // In another session of the same organization.
    const elsewhere = await insider()
    const again = await elsewhere.person.call('POST', `${elsewhere.path}/wallets`, { nonce, signature: good })
    expect(again.body['reason']).toBe('proof-invalid')
  })

  test('number at most 20, also when several come at once', async () => {
    const inside = await insider()
    for (let number = 1; number <= 17; number++) expect((await connectEvm(inside, `many ${number}`)).status).toBe(200)
    const late = await Promise.all([18, 19, 20, 21, 22].map((number) => connectEvm(inside, `many ${number}`)))
    expect(late.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(late.filter(({ body }) => body['reason'] === 'wallet-limit')).toHaveLength(2)
    expect((await inside.person.view(inside.sessionId)).wallets).toHaveLength(20)
  })

  test('other than the one that the session is for are refused from the start', async () => {
    const { address } = evmAccount('locked')
    const inside = await insider({ walletAddress: address })
    expect((await inside.person.view(inside.sessionId)).lockedWallet).toBe(address)
    expect((await challenge(inside, evmAccount('other').address, 1))['reason']).toBe('wallet-locked')
    expect((await connectEvm(inside, 'locked')).status).toBe(200)
  })
})

describe('documents', () => {
  test('of a kind that is not asked for, empty, too large or no document are refused', async () => {
    const inside = await insider()
    expect((await upload(inside, 'proof-of-address')).status).toBe(400)
    expect((await upload(inside, 'diary')).status).toBe(400)
    expect((await upload(inside, 'portrait', new Uint8Array())).status).toBe(400)
    const large = await upload(inside, 'portrait', new Uint8Array(10 * 1024 * 1024 + 1))
    expect([large.status, large.body['reason']]).toEqual([413, 'document-too-large'])
    expect((await upload(inside, 'portrait', Buffer.from('MZ not a picture'))).status).toBe(415)
    expect((await inside.person.view(inside.sessionId)).documents).toEqual([])
  })

  test('keep the name that the person’s device gave them, as text', async () => {
    const inside = await insider()
    const { body } = await upload(inside, 'portrait', picture(), 'image/png', '../<img src=x onerror=alert(1)>.png')
    const [document] = (body as unknown as SessionView).documents
    expect(document?.fileName).toBe('<img src=x onerror=alert(1)>.png')
    expect((await upload(inside, 'portrait')).body['reason']).toBe('document-limit')
  })
})

describe('an eager visitor', () => {
  test('is slowed down, and nobody else', async () => {
    const inside = await insider()
    const untilRefused = async (ask: () => Promise<Answer>): Promise<Answer> => {
      let answer = await ask()
      // Some come back while it is asked.
      for (let count = 0; answer.status !== 429 && count < SESSION_CHANGES.burst * 2; count++) answer = await ask()
      return answer
    }
    const proof = { nonce: 'none', signature: '0x00' }
    const refused = await untilRefused(() => inside.person.call('POST', `${inside.path}/wallets`, proof))
    expect([refused.status, refused.body['reason']]).toEqual([429, 'rate-exceeded'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // The way in by a wallet's proof counts for the link.
    const second = createVisitor(host.url)
    const token = tokenOf(inside.link)
    const answer = await second.call('POST', 'continue', { token, ...proof })
    expect([answer.status, answer.body['reason']]).toEqual([400, 'proof-invalid'])
    expect((await untilRefused(() => second.call('POST', 'continue', { token, ...proof }))).status).toBe(429)
    // Looking is free, and other sessions have their own.
    expect((await inside.person.view(inside.sessionId)).status).toBe('pending')
    const other = await insider()
    expect((await connectEvm(other, 'calm')).status).toBe(200)
  })
})

describe('handing in', () => {
  test('needs everything, and then waits for whoever decides', async () => {
    const inside = await insider()
    expect((await submit(inside)).body['reason']).toBe('evidence-incomplete')
    await complete(inside)
    const { status, body } = await submit(inside)
    expect([status, body['status']]).toEqual([200, 'submitted'])
    // The country of the address is kept, and the address is not.
    const { database } = host.store
    const origins = await database.query('SELECT * FROM session_origins WHERE session_id = ?', [inside.sessionId])
    expect(origins).toMatchObject([{ country: 'FR' }])
    expect(JSON.stringify(origins)).not.toContain('127.0.0.1')
    // Twice, from two tabs for example.
    expect((await submit(inside)).body['reason']).toBe('session-closed')
    expect((await connectEvm(inside, 'late')).body['reason']).toBeDefined()
    expect((await inside.person.call('PUT', `${inside.path}/fields`, PERSON)).body['reason']).toBe('session-closed')
  })

  test('ends the showing of what was typed in, until it is sent back', async () => {
    const inside = await insider()
    await complete(inside)
    const read = () => inside.person.call('GET', `${inside.path}/fields`)
    expect((await read()).body).toEqual(PERSON)
    await submit(inside)
    expect((await read()).body['reason']).toBe('session-closed')
    await host.decide(inside.sessionId, 'retry')
    expect((await read()).body).toEqual(PERSON)
    await host.decide(inside.sessionId, 'rejected')
    const after = await read()
    expect(after.body['reason']).toBe('session-closed')
    expect(JSON.stringify(after.body)).not.toContain(String(PERSON.fullName))
  })

  test('tells the session to share the result only where the person agreed to that', async () => {
    for (const shares of [true, false]) {
      const inside = await insider({}, shares)
      await complete(inside)
      expect((await host.find(inside.sessionId)).session.consentedAtSeconds).toBeNull()
      await submit(inside)
      const { session } = await host.find(inside.sessionId)
      expect(session.consentedAtSeconds === null).toBe(!shares)
      // Sent back, a person withdraws it at once, and gives it with the next submission.
      await host.decide(inside.sessionId, 'retry')
      await inside.person.agree(inside.sessionId, !shares)
      expect((await host.find(inside.sessionId)).session.consentedAtSeconds).toBeNull()
      await submit(inside)
      expect((await host.find(inside.sessionId)).session.consentedAtSeconds === null).toBe(shares)
    }
  })
})

describe('being sent back', () => {
  const sentBack = async (corrections?: readonly string[]) => {
    const inside = await insider()
    await complete(inside)
    await submit(inside)
    await host.decide(inside.sessionId, 'retry', { publicComment: 'Blurred.', ...(corrections && { corrections }) })
    return inside
  }

  test('asks only for what was named, and takes nothing less', async () => {
    const inside = await sentBack(['identity-document', 'birthDate', 'unknown'])
    const view = await inside.person.view(inside.sessionId)
    expect(view).toMatchObject({
      status: 'retry',
      comment: 'Blurred.',
      corrections: ['identity-document', 'birthDate'],
      missing: ['identity-document', 'birthDate'],
    })
    expect((await submit(inside)).body['reason']).toBe('evidence-incomplete')
    const before = view.documents.find(({ kind }) => kind === 'identity-document')?.id
    const { body } = await upload(inside, 'identity-document')
    const after = (body as unknown as SessionView).documents.filter(({ kind }) => kind === 'identity-document')
    // What was not good enough made way.
    expect(after.map(({ id }) => id)).not.toContain(before)
    expect(after).toHaveLength(1)
    expect((await submit(inside)).body['reason']).toBe('evidence-incomplete')
    await inside.person.call('PUT', `${inside.path}/fields`, { birthDate: '1985-12-11' })
    expect((await submit(inside)).body['status']).toBe('submitted')
    expect(await host.store.portalProgress.findCorrections(host.organization.id, inside.sessionId)).not.toBeNull()
    await host.decide(inside.sessionId, 'completed')
    expect(await host.store.portalProgress.findCorrections(host.organization.id, inside.sessionId)).toBeNull()
  })

  test('for the wallets asks for a wallet', async () => {
    const inside = await sentBack(['wallets'])
    expect((await inside.person.view(inside.sessionId)).missing).toEqual(['wallets'])
    await connectEvm(inside, 'better')
    expect((await submit(inside)).body['status']).toBe('submitted')
  })

  /** One change of each part, by the route that the page uses for it. */
  const CHANGES: readonly (readonly [string, (inside: Insider) => Promise<Answer>])[] = [
    ['fullName', ({ person, path }) => person.call('PUT', `${path}/fields`, { fullName: 'Eve Other' })],
    ['birthDate', ({ person, path }) => person.call('PUT', `${path}/fields`, { birthDate: '1999-01-01' })],
    ['country', ({ person, path }) => person.call('PUT', `${path}/fields`, { country: 'FR' })],
    ['identity-document', (inside) => upload(inside, 'identity-document')],
    ['portrait', (inside) => upload(inside, 'portrait')],
    ['wallets', (inside) => connectEvm(inside, 'other')],
  ]
  const REMOVALS: readonly (readonly [string, (inside: Insider, view: SessionView) => Promise<Answer>])[] = [
    ...(['identity-document', 'portrait'] as const).map(
      (kind) =>
        [
          kind,
          ({ person, path }: Insider, { documents }: SessionView) =>
            person.call('DELETE', `${path}/documents/${documents.find((document) => document.kind === kind)?.id}`),
        ] as const,
    ),
    ['wallets', ({ person, path }, { wallets }) => person.call('DELETE', `${path}/wallets/${wallets[0]?.id}`)],
  ]

  test.each(CHANGES.map(([part]) => part))('for %s accepts no change of any other part', async (part) => {
    const inside = await sentBack([part])
    const before = await inside.person.view(inside.sessionId)
    const fields = async () => (await inside.person.call('GET', `${inside.path}/fields`)).body
    for (const [other, change] of [...CHANGES, ...REMOVALS]) {
      if (other === part) continue
      const { status, body } = await change(inside, before)
      // There is one portrait at most.
      const refusal =
        other === 'portrait' && body['reason'] === 'document-limit' ? 'document-limit' : 'part-not-requested'
      expect([other, status, body['reason']]).toEqual([other, 409, refusal])
    }
    // Nor together with the part that was requested.
    const both = await inside.person.call('PUT', `${inside.path}/fields`, { ...PERSON, fullName: 'Eve Other' })
    expect(both.status).toBe(409)
    expect(await fields()).toEqual(PERSON)
    expect(await inside.person.view(inside.sessionId)).toEqual(before)
    for (const [other, change] of CHANGES) if (other === part) expect((await change(inside)).status).toBe(200)
    expect((await submit(inside)).body['status']).toBe('submitted')
  })

  test('also accepts what is missing, which the person may correct until they submit', async () => {
    const inside = await insider()
    await connectEvm(inside, 'mine')
    await host.decide(inside.sessionId, 'retry', { corrections: ['wallets'] })
    const put = (fields: object) => inside.person.call('PUT', `${inside.path}/fields`, fields)
    expect((await put({ ...PERSON, fullName: 'Ada Byrn' })).status).toBe(200)
    expect((await put({ fullName: 'Ada Byron King' })).status).toBe(200)
    for (const kind of ['identity-document', 'portrait']) expect((await upload(inside, kind)).status).toBe(200)
    // The second page of a document that was missing.
    expect((await upload(inside, 'identity-document')).status).toBe(200)
    await connectEvm(inside, 'better')
    expect((await submit(inside)).body['status']).toBe('submitted')
    await host.decide(inside.sessionId, 'retry', { corrections: ['wallets'] })
    expect((await put({ fullName: 'Eve Other' })).status).toBe(409)
  })

  test('takes the old documents of a kind away once, with the first new one, and no others', async () => {
    const inside = await sentBack(['identity-document', 'portrait'])
    // Documents that were stored within one second have no order.
    const kinds = ({ body }: Answer) =>
      (body as unknown as SessionView).documents.map(({ kind, id }) => [kind, id]).toSorted()
    const { documents } = await inside.person.view(inside.sessionId)
    const old = documents.find(({ kind }) => kind === 'identity-document')
    const first = kinds(await upload(inside, 'identity-document'))
    expect(first.map(([kind]) => kind)).toEqual(['identity-document', 'portrait'])
    expect(first.map(([, id]) => id)).not.toContain(old?.id)
    const second = kinds(await upload(inside, 'identity-document'))
    expect(second).toEqual(expect.arrayContaining(first))
    expect(second).toHaveLength(3)
    // Taking a document away gives nothing: the portrait is still to be replaced.
    const portrait = first[1]?.[1]
    const { body } = await inside.person.call('DELETE', `${inside.path}/documents/${portrait}`)
    expect(body['missing']).toEqual(['portrait'])
  })

  test('takes no document away for a kind that was not sent back', async () => {
    const inside = await sentBack()
    const before = (await inside.person.view(inside.sessionId)).documents
    const { body } = await upload(inside, 'identity-document')
    const after = (body as unknown as SessionView).documents
    expect(after).toEqual(expect.arrayContaining([...before]))
    expect(after).toHaveLength(before.length + 1)
  })

  test('for nothing in particular leaves the choice to the person', async () => {
    const inside = await sentBack()
    expect(await inside.person.view(inside.sessionId)).toMatchObject({ corrections: [], missing: [] })
    expect((await submit(inside)).body['status']).toBe('submitted')
  })
})

describe('a business', () => {
  test('is asked for its own', async () => {
    const level3 = await host.createOrganization('strict', 'Strict', 3)
    const { sessionId, link } = await host.registerFor(level3.id, { type: 'business' })
    const person = createVisitor(host.url)
    await person.visit(link)
    await person.agree(sessionId)
    expect((await person.view(sessionId)).missing).toEqual([
      'wallets',
      'registeredName',
      'registrationNumber',
      'country',
      'registration-document',
      'owners',
    ])
    const owners = [{ name: 'Ada King', sharePercent: 60 }]
    const put = await person.call('PUT', `sessions/${sessionId}/fields`, { ...PERSON, owners })
    expect(put.status).toBe(200)
    expect((await person.call('GET', `sessions/${sessionId}/fields`)).body).toEqual({ country: 'GB', owners })
    const bad = await person.call('PUT', `sessions/${sessionId}/fields`, { owners: [{ name: 'x', sharePercent: 101 }] })
    expect(bad.status).toBe(400)
  })
})

describe('the stream', () => {
  const open = (inside: Insider, signal: AbortSignal | null = null) =>
    fetch(`${host.url}/api/${inside.path}/events`, { headers: { cookie: inside.person.cookieHeader() }, signal })

  test('ends for a browser that left, before the session’s next event', async () => {
    const inside = await insider()
    const response = await open(inside)
    await inside.person.call('POST', `${inside.path}/leave`, {})
    await host.decide(inside.sessionId, 'retry')
    const text = await response.text()
    expect(text.match(/"status":"\w+"/g)).toEqual(['"status":"pending"'])
  })

  test('tells the page of every change', async () => {
    const inside = await insider()
    const abort = new AbortController()
    const response = await open(inside, abort.signal)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    let text = ''
    const until = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
        if (done) throw new Error(`the stream ended before ${wanted}`)
        text += decoder.decode(value, { stream: true })
      }
    }
    await until('"status":"pending"')
    await connectEvm(inside, 'followed')
    await until(evmAccount('followed').address)
    await host.decide(inside.sessionId, 'rejected')
    await until('"status":"rejected"')
    abort.abort()
  })
})

// Last: it uses up the limit of the network, which all tests of this file have in common.
describe('a visitor', () => {
  test('with many sessions has one limit for signatures', async () => {
    const proof = { nonce: 'none', signature: '0x00' }
    let checked = 0
    const untilRefused = async (): Promise<void> => {
      while (checked <= NETWORK_PROOFS.burst + 200) {
        const { person, path } = await insider()
        for (let count = 0; count < SESSION_CHANGES.burst / 2; count++) {
          if ((await person.call('POST', `${path}/wallets`, proof)).status === 429) return
          checked += 1
        }
      }
    }
    await untilRefused()
    expect(checked).toBeLessThan(NETWORK_PROOFS.burst + 200)
  })
})
