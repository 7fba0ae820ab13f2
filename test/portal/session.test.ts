// Changes of a session by its page: their order, and refusals (threat model rows 3, 5, 6 and 18).
import { afterAll, describe, expect, test } from 'bun:test'
import { PNG } from 'pngjs'
import { AGREEMENT_VERSION, type SessionView } from '../../src/portal/contract.ts'
import { NETWORK_PROOFS, SESSION_CHANGES } from '../../src/portal/session-limit.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { type Registered, type RegisterOptions, startPortalHost } from './support/portal-host.ts'
import { type Answer, createVisitor, tokenOf } from './support/visitor.ts'
import { evmAccount, solanaKey } from './support/wallets.ts'

const host = await startPortalHost({ level: 2, name: 'Acme Exchange' })
afterAll(() => host.stop())

const PERSON = { fullName: 'Ada Byron King', birthDate: '1985-12-10', country: 'GB' }

const image = (): Uint8Array => {
  const png = new PNG({ width: 40, height: 30 })
  for (let i = 0; i < png.data.length; i++) png.data[i] = (i * 37) % 256
  return PNG.sync.write(png)
}

/** Opens a session's link in a new browser. */
const open = async ({ sessionId, link }: Registered) => {
  const person = createVisitor(host.url)
  await person.visit(link)
  const path = `sessions/${sessionId}`
  return {
    person,
    sessionId,
    link,
    path,
    view: () => person.view(sessionId),
    putFields: (fields: object) => person.call('PUT', `${path}/fields`, fields),
    getFields: () => person.call('GET', `${path}/fields`),
    submit: () => person.call('POST', `${path}/submit`, {}),
    connect: (name: string, chainId = 1) => person.connectEvm(sessionId, name, chainId),
    upload: (kind: string, content: Uint8Array = image(), name = 'a.png'): Promise<Answer> =>
      person.call('POST', `${path}/documents/${kind}`, content, {
        'content-type': 'image/png',
        'x-file-name': encodeURIComponent(name),
      }),
  }
}
const enter = async (settings: RegisterOptions = {}) => open(await host.register(settings))
type Insider = Awaited<ReturnType<typeof enter>>

/** Opens the link of a new session, and agrees. */
const insider = async (settings: RegisterOptions = {}, shares = true): Promise<Insider> => {
  const inside = await enter(settings)
  await inside.person.agree(inside.sessionId, shares)
  return inside
}

const challenge = async ({ person, path }: Insider, address: string, chainId: number) =>
  (await person.call('POST', `${path}/wallets/challenge`, { address, chainId })).body

const reasonOf = async (answer: Promise<Answer>) => (await answer).body['reason']
const statusOf = async (answer: Promise<Answer>) => (await answer).body['status']

/** Submits everything that level 2 requires of a person, except the submission itself. */
const complete = async ({ connect, putFields, upload }: Insider): Promise<void> => {
  await connect('mine')
  await putFields(PERSON)
  await upload('identity-document')
  await upload('portrait')
}

describe('before the agreement', () => {
  test('every change is refused', async () => {
    const { person, path } = await enter()
    const attempts: readonly [string, string, unknown][] = [
      ['PUT', 'fields', PERSON],
      ['POST', 'wallets/challenge', { address: evmAccount('a').address, chainId: 1 }],
      ['POST', 'wallets', { nonce: 'x', signature: '0x' }],
      ['POST', 'documents/portrait', image()],
      ['POST', 'submit', {}],
    ]
    for (const [method, what, body] of attempts) {
      expect(await reasonOf(person.call(method, `${path}/${what}`, body))).toBe('agreement-missing')
    }
  })

  test('an agreement to another version or language is refused', async () => {
    const { person, path } = await enter()
    for (const body of [
      { version: '0', language: 'en', shares: true },
      { version: AGREEMENT_VERSION, language: 'fr', shares: true },
    ]) {
      expect(await reasonOf(person.call('POST', `${path}/agreement`, body))).toBe('agreement-outdated')
    }
    const incomplete = { version: AGREEMENT_VERSION, language: 'en' }
    expect((await person.call('POST', `${path}/agreement`, incomplete)).status).toBe(400)
  })

  test('the agreement is recorded with its version and language, and can change', async () => {
    const { person, sessionId, path, view } = await enter()
    await person.call('POST', `${path}/agreement`, { version: AGREEMENT_VERSION, language: 'de', shares: true })
    expect((await view()).agreement).toMatchObject({ version: `${AGREEMENT_VERSION}.de`, shares: true })
    await person.agree(sessionId, false)
    expect((await view()).agreement).toMatchObject({ version: `${AGREEMENT_VERSION}.en`, shares: false })
  })

  test('country and age are used only with the setting and the agreement of an individual, with events', async () => {
    const { id } = await host.createOrganization('asking', 'Asking', 1)
    const { person, sessionId, view } = await open(await host.registerFor(id))
    const answer = async (usesDetails?: boolean) => {
      expect((await person.agree(sessionId, true, usesDetails === undefined ? {} : { usesDetails })).status).toBe(200)
      const { agreement, asksDetails } = await view()
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
    const kinds = ['details-consented', 'details-consent-withdrawn', 'details-consented', 'details-consent-withdrawn']
    expect(noted.map(({ kind, actor, privateComment }) => [kind, actor, privateComment])).toEqual(
      kinds.map((kind) => [kind, 'person', `${AGREEMENT_VERSION}.en`]),
    )
    const business = await open(await host.registerFor(id, { type: 'business' }))
    await business.person.agree(business.sessionId, true, { usesDetails: true })
    const { asksDetails, agreement } = await business.view()
    expect([asksDetails, agreement?.usesDetails]).toEqual([false, false])
  })
})

describe('the view', () => {
  test('contains the texts of the organization, its retention periods and its usual waiting time', async () => {
    const { id } = await host.createOrganization('measured', 'Measured', 1)
    await host.store.organizationBrands.set(id, { privacyUrl: 'https://m.example/p', wordsDe: 'Guten Tag' })
    const decide = (sessionId: string, to: 'submitted' | 'completed' | 'rejected') => {
      const target = { organizationId: id, sessionId, actor: 'operator:test', override: 'person' } as const
      return host.identity.changes.changeStatus({ ...target, to })
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
    const { view } = await open(await host.registerFor(id))
    expect((await view()).organization).toMatchObject({
      privacyUrl: 'https://m.example/p',
      supportEmail: null,
      words: { en: null, de: 'Guten Tag' },
      keptDays: { completed: 1_826, rejected: 365, abandoned: 30 },
      usualWaitSeconds: 3_600,
    })
  })

  test('contains the required and missing parts, and the origin with its host in ASCII', async () => {
    const view = await (await enter({ originUrl: 'https://xn--80ak6aa92e.example/path' })).view()
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

  test('contains neither fields nor documents', async () => {
    const inside = await insider()
    await complete(inside)
    expect(JSON.stringify(await inside.view())).not.toContain('Ada')
    expect((await inside.getFields()).body).toEqual(PERSON)
  })

  test('contains the color and the logo of the organization, which is served only as an image', async () => {
    const { id } = await host.createOrganization('branded', 'Branded', 1)
    await host.store.organizationBrands.set(id, { color: '#aa3366', logo: { type: 'image/png', bytes: image() } })
    const { person, view } = await open(await host.registerFor(id))
    const { organization } = await view()
    expect(organization.color).toBe('#aa3366')
    const logo = await fetch(`${host.url}/${organization.logo}`, { headers: { cookie: person.cookieHeader() } })
    expect(logo.headers.get('content-type')).toBe('image/png')
    expect(logo.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
    expect(new Uint8Array(await logo.arrayBuffer())).toEqual(new Uint8Array(image()))
    expect((await fetch(`${host.url}/${organization.logo}`)).status).toBe(404)
  })
})

describe('wallets', () => {
  test('of both families connect on several chains, and can be removed', async () => {
    const inside = await insider()
    for (const chainId of [1, 8453, 137]) expect((await inside.connect('mine', chainId)).status).toBe(200)
    const key = solanaKey('mine')
    const sign = async (message: string) => `0x${Buffer.from(key.sign(Buffer.from(message))).toString('hex')}`
    const { body } = await inside.person.connect(inside.sessionId, key.address, sign, 0)
    const { wallets } = body as unknown as SessionView
    expect(wallets.map(({ chainTitle }) => chainTitle)).toEqual(['Ethereum', 'Base', 'Polygon', 'Solana'])
    const [first] = wallets
    const path = `${inside.path}/wallets/${first?.id}`
    expect((await inside.person.call<SessionView>('DELETE', path)).body.wallets).toHaveLength(3)
    // Another tab can repeat the removal.
    expect((await inside.person.call('DELETE', path)).status).toBe(200)
  })

  test('of a session for one wallet are limited to that wallet', async () => {
    const { address } = evmAccount('locked')
    const inside = await insider({ walletAddress: address })
    expect((await inside.view()).lockedWallet).toBe(address)
    expect((await challenge(inside, evmAccount('other').address, 1))['reason']).toBe('wallet-locked')
    expect((await inside.connect('locked')).status).toBe(200)
  })
})

describe('documents', () => {
  test('of a kind that is not required, empty, too large or of another type are refused', async () => {
    const { upload, view } = await insider()
    for (const [kind, content] of [
      ['proof-of-address', image()],
      ['diary', image()],
      ['portrait', new Uint8Array()],
    ] as const) {
      expect((await upload(kind, content)).status).toBe(400)
    }
    const large = await upload('portrait', new Uint8Array(10 * 1024 * 1024 + 1))
    expect([large.status, large.body['reason']]).toEqual([413, 'document-too-large'])
    expect((await upload('portrait', Buffer.from('MZ not an image'))).status).toBe(415)
    expect((await view()).documents).toEqual([])
  })

  test('keep their file name as text', async () => {
    const { upload } = await insider()
    const { body } = await upload('portrait', image(), '../<img src=x onerror=alert(1)>.png')
    const [document] = (body as unknown as SessionView).documents
    expect(document?.fileName).toBe('<img src=x onerror=alert(1)>.png')
    expect(await reasonOf(upload('portrait'))).toBe('document-limit')
  })
})

describe('a visitor with too many requests', () => {
  test('is limited without affecting other sessions', async () => {
    const inside = await insider()
    const untilRefused = async (request: () => Promise<Answer>): Promise<Answer> => {
      let answer = await request()
      // The limit refills during the loop.
      for (let count = 0; answer.status !== 429 && count < SESSION_CHANGES.burst * 2; count++) answer = await request()
      return answer
    }
    const proof = { nonce: 'none', signature: '0x00' }
    const refused = await untilRefused(() => inside.person.call('POST', `${inside.path}/wallets`, proof))
    expect([refused.status, refused.body['reason']]).toEqual([429, 'rate-exceeded'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Proofs of another browser count for the link.
    const second = createVisitor(host.url)
    const token = tokenOf(inside.link)
    const answer = await second.call('POST', 'continue', { token, ...proof })
    expect([answer.status, answer.body['reason']]).toEqual([400, 'proof-invalid'])
    expect((await untilRefused(() => second.call('POST', 'continue', { token, ...proof }))).status).toBe(429)
    // Reads are not limited, and other sessions have their own limit.
    expect((await inside.view()).status).toBe('pending')
    expect((await (await insider()).connect('calm')).status).toBe(200)
  })
})

describe('a submission', () => {
  test('requires all parts, and closes the session until the decision', async () => {
    const inside = await insider()
    expect(await reasonOf(inside.submit())).toBe('evidence-incomplete')
    await complete(inside)
    const { status, body } = await inside.submit()
    expect([status, body['status']]).toEqual([200, 'submitted'])
    // The country of the address is stored, the address is not.
    const { database } = host.store
    const origins = await database.query('SELECT * FROM session_origins WHERE session_id = ?', [inside.sessionId])
    expect(origins).toMatchObject([{ country: 'FR' }])
    expect(JSON.stringify(origins)).not.toContain('127.0.0.1')
    // Two tabs can submit.
    expect(await reasonOf(inside.submit())).toBe('session-closed')
    expect(await reasonOf(inside.connect('late'))).toBeDefined()
    expect(await reasonOf(inside.putFields(PERSON))).toBe('session-closed')
  })

  test('makes the fields unreadable until the session is sent back', async () => {
    const inside = await insider()
    await complete(inside)
    expect((await inside.getFields()).body).toEqual(PERSON)
    await inside.submit()
    expect(await reasonOf(inside.getFields())).toBe('session-closed')
    await host.decide(inside.sessionId, 'retry')
    expect((await inside.getFields()).body).toEqual(PERSON)
    await host.decide(inside.sessionId, 'rejected')
    const { body } = await inside.getFields()
    expect(body['reason']).toBe('session-closed')
    expect(JSON.stringify(body)).not.toContain(PERSON.fullName)
  })
})

describe('a session that is sent back', () => {
  const sentBack = async (corrections?: readonly string[]) => {
    const inside = await insider()
    await complete(inside)
    await inside.submit()
    await host.decide(inside.sessionId, 'retry', { publicComment: 'Blurred.', ...(corrections && { corrections }) })
    return inside
  }

  test('accepts only the requested parts, and requires all of them', async () => {
    const { sessionId, view, submit, upload, putFields } = await sentBack(['identity-document', 'birthDate', 'unknown'])
    const before = await view()
    expect(before).toMatchObject({
      status: 'retry',
      comment: 'Blurred.',
      corrections: ['identity-document', 'birthDate'],
      missing: ['identity-document', 'birthDate'],
    })
    expect(await reasonOf(submit())).toBe('evidence-incomplete')
    const old = before.documents.find(({ kind }) => kind === 'identity-document')?.id
    const { body } = await upload('identity-document')
    const after = (body as unknown as SessionView).documents.filter(({ kind }) => kind === 'identity-document')
    // The new document replaces the old one.
    expect(after.map(({ id }) => id)).not.toContain(old)
    expect(after).toHaveLength(1)
    expect(await reasonOf(submit())).toBe('evidence-incomplete')
    await putFields({ birthDate: '1985-12-11' })
    expect(await statusOf(submit())).toBe('submitted')
    const corrections = () => host.store.portalProgress.findCorrections(host.organization.id, sessionId)
    expect(await corrections()).not.toBeNull()
    await host.decide(sessionId, 'completed')
    expect(await corrections()).toBeNull()
  })

  test('for its wallets requires a wallet', async () => {
    const { view, connect, submit } = await sentBack(['wallets'])
    expect((await view()).missing).toEqual(['wallets'])
    await connect('better')
    expect(await statusOf(submit())).toBe('submitted')
  })

  /** A change of each part, by the route that the page uses. */
  const CHANGES: readonly (readonly [string, (inside: Insider) => Promise<Answer>])[] = [
    ['fullName', ({ putFields }) => putFields({ fullName: 'Eve Other' })],
    ['birthDate', ({ putFields }) => putFields({ birthDate: '1999-01-01' })],
    ['country', ({ putFields }) => putFields({ country: 'FR' })],
    ['identity-document', ({ upload }) => upload('identity-document')],
    ['portrait', ({ upload }) => upload('portrait')],
    ['wallets', ({ connect }) => connect('other')],
  ]
  const removeDocument = ({ person, path }: Insider, { documents }: SessionView, kind: string) =>
    person.call('DELETE', `${path}/documents/${documents.find((document) => document.kind === kind)?.id}`)
  const REMOVALS: readonly (readonly [string, (inside: Insider, view: SessionView) => Promise<Answer>])[] = [
    ['identity-document', (inside, view) => removeDocument(inside, view, 'identity-document')],
    ['portrait', (inside, view) => removeDocument(inside, view, 'portrait')],
    ['wallets', ({ person, path }, { wallets }) => person.call('DELETE', `${path}/wallets/${wallets[0]?.id}`)],
  ]

  test.each(CHANGES.map(([part]) => part))('for %s accepts no change of another part', async (part) => {
    const inside = await sentBack([part])
    const before = await inside.view()
    for (const [other, change] of [...CHANGES, ...REMOVALS]) {
      if (other === part) continue
      const { status, body } = await change(inside, before)
      // A second portrait exceeds the limit.
      const refusal =
        other === 'portrait' && body['reason'] === 'document-limit' ? 'document-limit' : 'part-not-requested'
      expect([other, status, body['reason']]).toEqual([other, 409, refusal])
    }
    // A field that is not requested is refused even if a requested field is sent with it.
    expect((await inside.putFields({ ...PERSON, fullName: 'Eve Other' })).status).toBe(409)
    expect((await inside.getFields()).body).toEqual(PERSON)
    expect(await inside.view()).toEqual(before)
    for (const [other, change] of CHANGES) if (other === part) expect((await change(inside)).status).toBe(200)
    expect(await statusOf(inside.submit())).toBe('submitted')
  })

  test('also accepts missing parts, which the person can correct until they submit', async () => {
    const { sessionId, connect, putFields, upload, submit } = await insider()
    await connect('mine')
    await host.decide(sessionId, 'retry', { corrections: ['wallets'] })
    for (const fields of [{ ...PERSON, fullName: 'Ada Byrn' }, { fullName: PERSON.fullName }]) {
      expect((await putFields(fields)).status).toBe(200)
    }
    // The last upload is the second page of a missing document.
    for (const kind of ['identity-document', 'portrait', 'identity-document']) {
      expect((await upload(kind)).status).toBe(200)
    }
    await connect('better')
    expect(await statusOf(submit())).toBe('submitted')
    await host.decide(sessionId, 'retry', { corrections: ['wallets'] })
    expect((await putFields({ fullName: 'Eve Other' })).status).toBe(409)
  })

  test('replaces the old documents of a requested kind with the first new one', async () => {
    const inside = await sentBack(['identity-document', 'portrait'])
    // Documents that were stored within one second have no order.
    const kinds = ({ body }: Answer) =>
      (body as unknown as SessionView).documents.map(({ kind, id }) => [kind, id]).toSorted()
    const { documents } = await inside.view()
    const old = documents.find(({ kind }) => kind === 'identity-document')
    const first = kinds(await inside.upload('identity-document'))
    expect(first.map(([kind]) => kind)).toEqual(['identity-document', 'portrait'])
    expect(first.map(([, id]) => id)).not.toContain(old?.id)
    const second = kinds(await inside.upload('identity-document'))
    expect(second).toEqual(expect.arrayContaining(first))
    expect(second).toHaveLength(3)
    // A removed document is still required.
    const { body } = await removeDocument(inside, (await inside.view()) as SessionView, 'portrait')
    expect(body['missing']).toEqual(['portrait'])
  })

  test('without requested parts keeps all documents, and can be submitted unchanged', async () => {
    const { view, upload } = await sentBack()
    const before = await view()
    expect(before).toMatchObject({ corrections: [], missing: [] })
    const { body } = await upload('identity-document')
    const after = (body as unknown as SessionView).documents
    expect(after).toEqual(expect.arrayContaining([...before.documents]))
    expect(after).toHaveLength(before.documents.length + 1)
    expect(await statusOf((await sentBack()).submit())).toBe('submitted')
  })
})

test('a business submits its own fields', async () => {
  const level3 = await host.createOrganization('strict', 'Strict', 3)
  const { person, sessionId, view, putFields, getFields } = await open(
    await host.registerFor(level3.id, { type: 'business' }),
  )
  await person.agree(sessionId)
  const missing = ['wallets', 'registeredName', 'registrationNumber', 'country', 'registration-document', 'owners']
  expect<readonly string[]>((await view()).missing).toEqual(missing)
  const owners = [{ name: 'Ada King', sharePercent: 60 }]
  expect((await putFields({ ...PERSON, owners })).status).toBe(200)
  expect((await getFields()).body).toEqual({ country: 'GB', owners })
  expect((await putFields({ owners: [{ name: 'x', sharePercent: 101 }] })).status).toBe(400)
})

describe('the stream', () => {
  const openStream = (inside: Insider, signal: AbortSignal | null = null) =>
    fetch(`${host.url}/api/${inside.path}/events`, { headers: { cookie: inside.person.cookieHeader() }, signal })

  test('ends for a browser that left, before the next event of the session', async () => {
    const inside = await insider()
    const response = await openStream(inside)
    await inside.person.call('POST', `${inside.path}/leave`, {})
    await host.decide(inside.sessionId, 'retry')
    expect((await response.text()).match(/"status":"\w+"/g)).toEqual(['"status":"pending"'])
  })

  test('notifies the page of every change', async () => {
    const inside = await insider()
    const abort = new AbortController()
    const response = await openStream(inside, abort.signal)
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
    await inside.connect('followed')
    await until(evmAccount('followed').address)
    await host.decide(inside.sessionId, 'rejected')
    await until('"status":"rejected"')
    abort.abort()
  })
})

// Last, because it exhausts the limit of the network that all tests of this file share.
test('a network with many sessions has one limit for signatures', async () => {
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
