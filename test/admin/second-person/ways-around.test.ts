// What an administrator alone tried in order to be signed for against the rule, one way a test; and what may be done at once.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { addressKey } from '../../../src/domain/address-key.ts'
import { LIST_EDITS_MAX } from '../../../src/domain/list.ts'
import { openOver } from '../../cli/admin-client-over.ts'
import { runWords } from '../../cli/run-words.ts'
import type { Person } from '../support/harness.ts'
import { type Answer, OTHER_WALLET, startWorld, WALLET, type World } from './world.ts'

let world: World

beforeEach(async () => {
  world = await startWorld()
  await world.setRule(true)
})
afterEach(() => world.close())

const MEMBERS = '/organizations/alpha/members'
const signIn = async (userId: string): Promise<Person> => {
  const { store, harness } = world
  await store.users.setPassword(userId, await harness.services.passwords.hash('correct horse battery staple', []))
  harness.clock.advance(1)
  return { id: userId, cookie: await harness.signIn(userId) }
}
const listed = async (name: string, address = WALLET): Promise<boolean> => {
  const list = await world.store.lists.find(world.alpha.id, name)
  return list !== null && (await world.store.lists.findEntry(list, addressKey(address))) !== null
}
const edit = (who: { readonly cookie?: string; readonly key?: string }, list: string, body: object) =>
  world.call('POST', `/organizations/alpha/lists/${list}/entries`, { ...who, body })
const policyOfProject = async (): Promise<string | undefined> =>
  (await world.store.projects.find(world.alpha.id, world.project.id))?.policyId

describe('a puppet', () => {
  /** Added by one administrator, with another's approval. */
  const puppetOf = async (maker: Person, approver: Person, email: string): Promise<Person> => {
    const body = { email, name: 'Puppet', role: 'organization-admin' }
    const asked = await world.call('POST', MEMBERS, { cookie: maker.cookie, body })
    expect(asked.status).toBe(202)
    expect((await world.decide(asked.body.id, true, approver)).status).toBe(200)
    return signIn((await world.store.users.findByEmail(email))?.id ?? '')
  }

  test('asks for nothing that its maker alone could approve', async () => {
    const { ada, bob, carol, root, rita, rob } = world
    const first = await puppetOf(ada, bob, 'first@example.com')
    const unable = [bob, carol].map(({ id }) => world.store.memberships.setRole(world.alpha.id, id, 'viewer'))
    await Promise.all([...unable, ...[root, rita, rob].map(({ id }) => world.store.users.setDisabled(id, true))])
    for (const asker of [ada, first]) {
      const refused = await world.asks(asker, 'activateRevision')
      expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('nobody could approve')])
    }
    expect(await world.store.approvals.countPending(world.alpha.id)).toBe(0)
  })

  test('is nobody before someone else approves it', async () => {
    const asked = await world.asks(world.ada, 'addMember')
    const own = await world.decide(asked.body.id, true, world.ada)
    expect([own.status, own.body.detail]).toEqual([409, 'a person other than the requester must approve this change'])
    expect(await world.store.users.findByEmail('new@example.com')).toBeNull()
  })

  test.each([
    ['an invisible character', 'bob\u200b@example.com'],
    ['a Cyrillic letter', 'b\u043eb@example.com'],
    ['a domain in Cyrillic letters', 'bob@ex\u0430mple.com'],
  ])('has no address that looks like a colleague’s: %s', async (_what, email) => {
    const asked = [
      await world.asks(world.ada, 'addMember', { body: { email, name: 'Bob', role: 'organization-admin' } }),
      await world.asks(world.root, 'addUser', { body: { email, name: 'Bob', deployment_admin: false } }),
    ]
    for (const { status, body } of asked) expect([status, body['field']]).toEqual([400, 'email'])
  })

  test('neither approves for its maker nor is approved by it, and a puppet’s puppet neither', async () => {
    const first = await puppetOf(world.ada, world.bob, 'first@example.com')
    const second = await puppetOf(first, world.bob, 'second@example.com')
    for (const [asker, approver] of [
      [world.ada, first],
      [world.ada, second],
      [first, world.ada],
      [second, world.ada],
    ] as const) {
      const asked = await world.asks(asker, 'activateRevision')
      const answer = await world.decide(asked.body.id, true, approver)
      expect([answer.status, answer.body.detail]).toEqual([
        409,
        'you or the requester created, invited or recovered the other’s account, or one person received links to both: an independent administrator must approve this change',
      ])
      expect((await world.decide(asked.body.id, false, world.bob)).status).toBe(200)
    }
  })

  test('made while the rule was off is one all the same', async () => {
    await world.setRule(false)
    const body = { email: 'early@example.com', name: 'Early', role: 'organization-admin' }
    expect((await world.call('POST', MEMBERS, { cookie: world.ada.cookie, body })).status).toBe(201)
    await world.setRule(true)
    const early = await signIn((await world.store.users.findByEmail('early@example.com'))?.id ?? '')
    const asked = await world.asks(world.ada, 'activateRevision')
    expect((await world.decide(asked.body.id, true, early)).status).toBe(409)
  })

  test('is an account as well whose role one gave, whose invitation one renewed, or that one recovered', async () => {
    const { ada, bob, root, invited, viewer } = world
    const promoted = await world.asks(ada, 'changeMember')
    expect((await world.decide(promoted.body.id, true, bob)).status).toBe(200)
    const again = await world.call('POST', `${MEMBERS}/${invited.id}/invitation`, { cookie: ada.cookie, body: {} })
    expect(again.status).toBe(200)
    await world.store.memberships.setRole(world.alpha.id, invited.id, 'organization-admin')
    const asked = await world.asks(ada, 'activateRevision')
    for (const puppet of [await signIn(viewer.id), await signIn(invited.id)]) {
      expect((await world.decide(asked.body.id, true, puppet)).status).toBe(409)
    }
    // A deployment admin who could sign in as two of them is alone.
    for (const { id } of [bob, world.carol]) {
      expect((await world.call('POST', `/users/${id}/recovery`, { cookie: root.cookie, body: {} })).status).toBe(200)
    }
    const byBob = await world.asks(bob, 'activateRevision')
    for (const approver of [world.carol, root]) {
      expect((await world.decide(byBob.body.id, true, approver)).status).toBe(409)
    }
    expect((await world.decide(byBob.body.id, true, ada)).status).toBe(200)
  })

  test('is each of two accounts whose unused invitations one renews: neither approves for the other', async () => {
    const { ada, bob, carol } = world
    const invited = async (email: string): Promise<string> => {
      const body = { email, name: 'Invited', role: 'organization-admin' }
      const asked = await world.call('POST', MEMBERS, { cookie: bob.cookie, body })
      expect((await world.decide(asked.body.id, true, carol)).status).toBe(200)
      const { id } = (await world.store.users.findByEmail(email)) ?? { id: '' }
      const renewed = await world.call('POST', `${MEMBERS}/${id}/invitation`, { cookie: ada.cookie, body: {} })
      expect(renewed.status).toBe(200)
      return id
    }
    const ids = [await invited('dan@example.com'), await invited('eve@example.com')] as const
    const [dan, eve] = [await signIn(ids[0]), await signIn(ids[1])]
    const asked = await world.asks(dan, 'activateRevision')
    for (const puppet of [eve, ada]) expect((await world.decide(asked.body.id, true, puppet)).status).toBe(409)
    expect((await world.decide(asked.body.id, true, world.root)).status).toBe(200)
  })

  /** Two deployment admins whom root alone makes, at once or out of plain accounts: the deployment's rule is off. */
  const deploymentAdmins = async (isAtOnce: boolean): Promise<readonly [Person, Person]> => {
    const make = async (name: string): Promise<Person> => {
      const body = { email: `${name}@example.com`, name, deployment_admin: isAtOnce }
      const made = await world.call('POST', '/users', { cookie: world.root.cookie, body })
      const { id } = made.body['user'] as { id: string }
      if (!isAtOnce) await promote(id)
      return signIn(id)
    }
    return [await make('first'), await make('second')]
  }
  const promote = async (userId: string): Promise<void> => {
    const body = { deployment_admin: true }
    expect((await world.call('PATCH', `/users/${userId}`, { cookie: world.root.cookie, body })).status).toBe(200)
  }

  test.each([true, false])(
    'is each of two deployment admins whom one makes while the organization’s rule is on (at once: %p)',
    async (isAtOnce) => {
      const [first, second] = await deploymentAdmins(isAtOnce)
      const asked = await world.asks(first, 'changeSettings')
      expect(asked.status).toBe(202)
      for (const puppet of [second, world.root]) {
        expect((await world.decide(asked.body.id, true, puppet)).body.detail).toContain('an independent administrator')
      }
      expect((await world.decide(asked.body.id, true, world.ada)).status).toBe(200)
    },
  )

  test('is none of two who were made deployment admins before the rule, or with approval', async () => {
    await world.setRule(false)
    const before = await deploymentAdmins(true)
    await world.setRule(true)
    await world.setDeploymentRule(true)
    for (const name of ['third', 'fourth']) {
      const body = { email: `${name}@example.com`, name, deployment_admin: true }
      const asked = await world.call('POST', '/users', { cookie: world.root.cookie, body })
      expect(asked.status).toBe(202)
      expect((await world.decide(asked.body.id, true, world.rita, true)).status).toBe(200)
    }
    const approved = await Promise.all(
      ['third@example.com', 'fourth@example.com'].map(async (email) =>
        signIn((await world.store.users.findByEmail(email))?.id ?? ''),
      ),
    )
    for (const [operation, [asker, approver]] of [
      ['activateRevision', before],
      ['addMember', approved],
    ] as const) {
      if (asker === undefined || approver === undefined) throw new Error('not made')
      const asked = await world.asks(asker, operation)
      expect((await world.decide(asked.body.id, true, approver)).status).toBe(200)
    }
  })

  test('is no administrator of the organization who is made a deployment admin as well', async () => {
    for (const { id } of [world.ada, world.bob]) await promote(id)
    const asked = await world.asks(world.ada, 'activateRevision')
    expect((await world.decide(asked.body.id, true, world.bob)).status).toBe(200)
  })

  const OFFERS = '/organizations/alpha/member-offers'
  const accept = async (who: Person, url: string): Promise<number> => {
    const [offer = '', code = ''] = new URL(url).hash.slice(1).split('.')
    return (await world.call('POST', `/me/offers/${offer}/accept`, { cookie: who.cookie, body: { code } })).status
  }
  const offerTo = ({ cookie }: Person, email: string, role: string) =>
    world.call('POST', MEMBERS, { cookie, body: { email, name: 'P', role } })

  test('that joins by an offer is its asker’s, and so it is of who gave the offer its role', async () => {
    const { ada, bob, carol, harness } = world
    const joiner = await harness.person({ email: 'joiner@example.com' })
    const asked = await offerTo(ada, 'joiner@example.com', 'reviewer')
    expect(asked.status).toBe(202)
    const approved = await world.decide(asked.body.id, true, bob)
    expect(approved.status).toBe(200)
    const [offer] = (await world.store.membershipOffers.listOf(joiner.id)).map(({ id }) => id)
    // No link was shown to anybody, and none is kept: the one that is made now is the one that works.
    expect(
      JSON.stringify([asked.body, approved.body, await world.store.approvals.find(world.alpha.id, asked.body.id)]),
    ).not.toMatch(/account#/)
    const raised = await world.call('PATCH', `${OFFERS}/${offer}`, {
      cookie: carol.cookie,
      body: { role: 'organization-admin' },
    })
    expect((await world.decide(raised.body.id, true, bob)).status).toBe(200)
    const made = await world.call('POST', `${OFFERS}/${offer}/link`, { cookie: ada.cookie, body: {} })
    expect(await accept(joiner, String(made.body['url']))).toBe(204)
    harness.clock.advance(1)
    for (const [asker, approver, status] of [
      [ada, joiner, 409],
      [joiner, ada, 409],
      [carol, joiner, 409],
      [bob, joiner, 200],
    ] as const) {
      const change = await world.asks(asker, 'activateRevision')
      expect((await world.decide(change.body.id, true, approver)).status).toBe(status)
    }
  })

  test('that joins by an offer is also of whoever renewed the offer’s link', async () => {
    const { ada, bob, carol, harness } = world
    const joiner = await harness.person({ email: 'joiner@example.com' })
    const asked = await offerTo(ada, 'joiner@example.com', 'organization-admin')
    expect((await world.decide(asked.body.id, true, bob)).status).toBe(200)
    const [offer] = (await world.store.membershipOffers.listOf(joiner.id)).map(({ id }) => id)
    const renewed = await world.call('POST', `${OFFERS}/${offer}/link`, { cookie: carol.cookie, body: {} })
    expect(await accept(joiner, String(renewed.body['url']))).toBe(204)
    const change = await world.asks(carol, 'activateRevision')
    expect((await world.decide(change.body.id, true, joiner)).status).toBe(409)
    expect((await world.decide(change.body.id, true, bob)).status).toBe(200)
  })

  test('that joins by an offer of a key is also of whoever was handed the key', async () => {
    const { ada, bob, harness } = world
    const joiner = await harness.person({ email: 'joiner@example.com' })
    await world.setRule(false)
    const issued = await world.call('POST', '/organizations/alpha/keys', {
      cookie: ada.cookie,
      body: { name: 'automation', kind: 'admin' },
    })
    const offered = await world.call('POST', MEMBERS, {
      key: String(issued.body['key']),
      body: { email: 'joiner@example.com', name: 'P', role: 'organization-admin' },
    })
    expect(await accept(joiner, (offered.body['acceptance'] as { url: string }).url)).toBe(204)
    await world.setRule(true)
    const change = await world.asks(ada, 'activateRevision')
    expect((await world.decide(change.body.id, true, joiner)).status).toBe(409)
    expect((await world.decide(change.body.id, true, bob)).status).toBe(200)
  })

  test('does not join under the rule by what one offered before it', async () => {
    await world.setRule(false)
    const joiner = await world.harness.person({ email: 'joiner@example.com' })
    const offered = await offerTo(world.ada, 'joiner@example.com', 'organization-admin')
    const { url } = offered.body['acceptance'] as { url: string }
    expect((await world.asks(world.ada, 'changeSettings', { body: { second_person: true } })).status).toBe(200)
    expect(await accept(joiner, url)).toBe(401)
  })

  test('is an account as well that was recovered at the command line, together with the others that were', async () => {
    const { ada, bob, carol, harness } = world
    for (const email of ['ada@example.com', 'bob@example.com']) {
      const { code } = await runWords(['account', 'recover', email], { open: openOver(harness), clock: harness.clock })
      expect(code).toBe(0)
    }
    const asked = await world.asks(ada, 'activateRevision')
    expect((await world.decide(asked.body.id, true, bob)).status).toBe(409)
    expect((await world.decide(asked.body.id, true, carol)).status).toBe(200)
  })

  test('gets no link for a key, whose holder is unknown', async () => {
    const { key } = world.alpha
    const again = await world.call('POST', `${MEMBERS}/${world.invited.id}/invitation`, { key, body: {} })
    expect(again.status).toBe(403)
  })

  test('that is newer than the request, even within its second, does not approve it', async () => {
    const asked = await world.asks(world.ada, 'activateRevision')
    const late = await world.harness.person({
      email: 'late@example.com',
      roles: { [world.alpha.id]: 'organization-admin' as const },
    })
    await world.store.memberships.setRole(world.alpha.id, world.viewer.id, 'organization-admin')
    for (const newer of [late, world.viewer]) {
      const { status, body } = await world.decide(asked.body.id, true, newer)
      expect([status, body.detail]).toEqual([
        409,
        'you were not an administrator when this was requested: another administrator must approve it',
      ])
    }
  })
})

describe('lists', () => {
  test('an address comes onto the allow list with a second person only, and leaves it at once', async () => {
    expect((await edit(world.ada, 'allow', { add: [{ address: WALLET }] })).status).toBe(202)
    expect(await listed('allow')).toBe(false)
    await world.store.lists.create({ owner: world.alpha.id, name: 'allow' })
    const entry = { key: addressKey(WALLET as never), memo: '', author: 'a', addedAtSeconds: 0, present: true }
    await world.store.lists.edit(world.alpha.id, 'allow', [entry])
    expect((await edit(world.ada, 'allow', { remove: [WALLET] })).status).toBe(200)
    expect(await listed('allow')).toBe(false)
  })

  test('an address comes onto the deny list at once, for a key as well, and leaves it with a second person only', async () => {
    expect((await edit({ key: world.alpha.key }, 'deny', { add: [{ address: WALLET }] })).status).toBe(200)
    expect((await edit(world.ada, 'deny', { remove: [WALLET] })).status).toBe(202)
    // Together with what may be done at once as well.
    const both = { add: [{ address: OTHER_WALLET }], remove: [WALLET] }
    expect((await edit(world.ada, 'deny', both)).status).toBe(202)
    expect(await listed('deny')).toBe(true)
  })

  test('a file that needs no second person is not compared with the list for one', async () => {
    const { lists } = world.harness.services.store
    const { readEdits } = lists
    let reads = 0
    lists.readEdits = (listId) => {
      reads += 1
      return readEdits(listId)
    }
    const upload = (query: string) =>
      world.harness.request('PUT', `/organizations/alpha/lists/deny/content${query}`, {
        cookie: world.ada.cookie,
        raw: `${WALLET}\n`,
        headers: { 'content-type': 'text/plain' },
      })
    expect([(await upload('?merge=true')).status, reads]).toEqual([200, 1])
    expect([(await upload('')).status, reads]).toEqual([202, 2])
    lists.readEdits = readEdits
  })

  test('a file may be added to the deny list at once, and not replace it', async () => {
    const file = { raw: `${WALLET}\n`, headers: { 'content-type': 'text/plain' }, cookie: world.ada.cookie }
    const path = '/organizations/alpha/lists/deny/content'
    expect((await world.call('PUT', `${path}?merge=true`, file)).status).toBe(200)
    expect((await world.call('PUT', path, { ...file, raw: `${OTHER_WALLET}\n` })).status).toBe(202)
    expect(await listed('deny')).toBe(true)
  })

  test('an approved edit of a list with many edits rewrites the list outside the transaction, then is made', async () => {
    const { ada, alpha, bob, harness, store } = world
    const note = { memo: '', author: 'a', addedAtSeconds: 0, present: true }
    const many = Array.from({ length: LIST_EDITS_MAX }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`)
    await store.lists.edit(
      alpha.id,
      'kept_own',
      many.map((address) => ({ key: addressKey(address as never), ...note })),
    )
    const asked = await edit(ada, 'kept_own', { add: [{ address: OTHER_WALLET }] })
    expect(asked.status).toBe(202)
    const { listUploads } = harness.services
    const { rewrite } = listUploads
    let rewrites = 0
    Object.assign(listUploads, {
      rewrite: (...given: Parameters<typeof rewrite>) => {
        rewrites += 1
        return rewrite(...given)
      },
    })
    expect((await world.decide(asked.body.id, true, bob)).status).toBe(200)
    expect(rewrites).toBe(1)
    expect(await listed('kept_own', OTHER_WALLET)).toBe(true)
    const { items } = await store.audit.page({ organizationId: alpha.id }, { after: null, limit: 20 })
    expect(items.filter(({ action }) => action === 'approval.approve')).toHaveLength(1)
  })

  test('of a file, the approver sees each kind of change, how many there are, and a hash of the result', async () => {
    const { ada, alpha, bob, store } = world
    const entry = (address: string, memo: string) => ({
      key: addressKey(address as never),
      memo,
      author: 'a',
      addedAtSeconds: 0,
      present: true,
    })
    const leaves = `0x${'f'.repeat(40)}`
    await store.lists.edit(alpha.id, 'kept_own', [entry(WALLET, 'one'), entry(OTHER_WALLET, ''), entry(leaves, 'old')])
    const added = Array.from({ length: 60 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`)
    const lines = [...added, `${WALLET},two`, OTHER_WALLET]
    const asked = await world.asks(ada, 'uploadList', {
      raw: lines.join('\n'),
      headers: { 'content-type': 'text/csv' },
    })
    expect(asked.status).toBe(202)
    const { body } = await world.call('GET', '/organizations/alpha/approvals', { cookie: bob.cookie })
    const [{ changes }] = body['data'] as [{ changes: { what: string; before: string | null; after: string }[] }]
    expect(changes[0]).toEqual({ what: 'content', before: '3 entries', after: '62 entries' })
    expect(changes[3]?.after).toBe('60 added, 1 removed, 1 with a new memo; 10 not shown')
    expect(changes.slice(4, 54).map(({ what }) => what)).toEqual(added.slice(0, 50))
    expect(changes.slice(54)).toEqual([
      { what: WALLET, before: 'in the list: one', after: 'in the list: two' },
      { what: leaves, before: 'in the list: old', after: null as never },
    ])

    expect((await world.decide(asked.body.id, true, bob)).status).toBe(200)
    const path = '/organizations/alpha/lists/kept_own/content?format=text'
    const exported = await (await world.harness.request('GET', path, { cookie: ada.cookie })).text()
    expect(new Bun.CryptoHasher('sha256').update(exported).digest('hex')).toBe(changes[2]?.after ?? '')
  })

  test('a file is asked for again if the list changed while it was read', async () => {
    const { alpha, store } = world
    const { lists } = world.harness.services.store
    const { readEdits } = lists
    lists.readEdits = async (listId) => {
      lists.readEdits = readEdits
      const entry = { key: addressKey(WALLET as never), memo: '', author: 'a', addedAtSeconds: 0, present: true }
      await store.lists.edit(alpha.id, 'kept_own', [entry])
      return readEdits(listId)
    }
    const { status, body } = await world.asks(world.ada, 'uploadList')
    expect([status, body.detail]).toEqual([409, expect.stringContaining('upload the file again')])
  })

  test('a file that waits stays for as long as it may wait, and goes when it is rejected', async () => {
    const sweep = async () => {
      while ((await world.store.listBases.sweep()) > 0);
    }
    const asked = await world.asks(world.ada, 'uploadList')
    world.harness.clock.advance(500_000)
    await sweep()
    const bob = await signIn(world.bob.id)
    expect((await world.decide(asked.body.id, true, bob)).status).toBe(200)
    expect(await listed('kept_own')).toBe(true)

    const ada = await signIn(world.ada.id)
    const unwanted = await world.asks(ada, 'uploadList', { raw: `${OTHER_WALLET}\n` })
    const bases = async () => (await world.store.database.query('SELECT id FROM list_bases')).length
    const before = await bases()
    await world.decide(unwanted.body.id, false, bob)
    await sweep()
    expect(await bases()).toBe(before - 1)
  })

  test('a file is not put over what the list became meanwhile', async () => {
    const asked = await world.asks(world.ada, 'uploadList')
    const entry = { key: addressKey(OTHER_WALLET as never), memo: '', author: 'a', addedAtSeconds: 0, present: true }
    await world.store.lists.edit(world.alpha.id, 'kept_own', [entry])
    expect((await world.decide(asked.body.id, true, world.bob)).status).toBe(409)
    expect(await listed('kept_own', OTHER_WALLET)).toBe(true)
  })

  test('what can’t be done is refused at once', async () => {
    expect((await edit(world.ada, 'sourced_own', { add: [{ address: WALLET }] })).status).toBe(409)
    expect((await edit(world.ada, 'nowhere', { add: [{ address: WALLET }] })).status).toBe(404)
    expect((await edit(world.ada, 'allow', { add: [{ address: 'nonsense' }] })).status).toBe(400)
    expect(await world.store.approvals.countPending(world.alpha.id)).toBe(0)
  })

  const BRANCH = 'https://lists.example/acme/b.csv?key=topsecret'
  const askForSource = (changes: object) =>
    world.asks(world.ada, 'setListSource', { body: { url: BRANCH, format: 'csv', ...changes } })
  const seenOf = ({ body }: Answer) => (body['changes'] as readonly { before: string; after: string }[])[0]

  test('a source’s URL is shown with its path, and its query’s values, which may be keys, to nobody', async () => {
    const asked = await askForSource({})
    expect(asked.status).toBe(202)
    expect(seenOf(asked)?.after).toMatch(
      /^lists\.example\/acme\/b\.csv\?key=… \(sha256 [0-9a-f]{16}\), csv, every 86400 s$/,
    )
    const page = await world.call('GET', '/organizations/alpha/approvals', { cookie: world.viewer.cookie })
    expect(JSON.stringify(page.body)).toContain('lists.example/acme/b.csv')
    expect((await world.decide(asked.body.id, true, world.bob)).status).toBe(200)
    const audited = await world.harness.audited({ action: 'list.source' })
    expect(JSON.stringify(audited)).toContain('lists.example/acme/b.csv')
    expect(JSON.stringify([asked.body, page.body, audited])).not.toContain('topsecret')
  })

  test('each setting of a source that differs makes what is approved look different', async () => {
    expect((await world.decide((await askForSource({})).body.id, true, world.bob)).status).toBe(200)
    for (const changes of [
      { url: BRANCH.replace('acme', 'mallory') },
      { url: BRANCH.replace('topsecret', 'another') },
      { url: BRANCH.replace('.example', '.example:8443') },
      { format: 'text' },
      { every_seconds: 3_600 },
      { skip_bad_lines: true },
    ]) {
      const seen = seenOf(await askForSource(changes))
      expect(seen?.before).toStartWith('lists.example/acme')
      expect(seen?.after).not.toBe(seen?.before ?? '')
    }
  })

  test('what looks the same before and after is not asked for', async () => {
    expect((await world.decide((await askForSource({})).body.id, true, world.bob)).status).toBe(200)
    for (const asked of [
      await askForSource({}),
      await world.asks(world.ada, 'changeVerificationTrust', { body: { trusts: 'all' } }),
    ]) {
      expect([asked.status, asked.body.detail]).toEqual([
        409,
        'the request changes nothing that an approver could review',
      ])
    }
  })

  test('a memo that is changed looks different', async () => {
    const { store, alpha } = world
    await store.lists.create({ owner: alpha.id, name: 'allow' })
    const entry = { key: addressKey(WALLET as never), memo: 'a', author: 'a', addedAtSeconds: 0, present: true }
    await store.lists.edit(alpha.id, 'allow', [entry])
    const asked = await edit(world.ada, 'allow', { add: [{ address: WALLET, memo: 'b' }] })
    expect(seenOf(asked)).toMatchObject({ before: 'in the list: a', after: 'in the list: b' })
  })
})

describe('a project', () => {
  test('moves to another live policy with a second person only', async () => {
    const asked = await world.asks(world.ada, 'changeProject')
    expect(asked.body).toMatchObject({
      action: 'project.change',
      name: 'Vault',
      changes: [{ what: 'policy', before: `Strict (${world.strict.id})`, after: `Lax (${world.lax.id})` }],
    })
    expect(await policyOfProject()).toBe(world.strict.id)
    expect((await world.decide(asked.body.id, true, world.bob)).status).toBe(200)
    expect(await policyOfProject()).toBe(world.lax.id)
  })

  test('does not move to another policy of the same name unseen', async () => {
    const { ada, alpha, strict } = world
    const made = await world.call('POST', '/organizations/alpha/policies', {
      cookie: ada.cookie,
      body: { source: 'name: Strict\nrules: []\n' },
    })
    const { id } = made.body['policy'] as { id: string }
    const revision = made.body['revision'] as { id: string }
    await world.store.policies.activateRevision(alpha.id, id, revision.id)
    const body = { policy_id: id, lifetime_seconds: 60 }
    const policy = { what: 'policy', before: `Strict (${strict.id})`, after: `Strict (${id})` }
    const moved = await world.asks(ada, 'changeProject', { body })
    expect(moved.body['changes']).toEqual([policy, expect.objectContaining({ what: 'lifetime in seconds' })])
    const created = await world.asks(ada, 'createProject', { body: { name: 'New', policy_id: id } })
    expect(created.body['changes']).toContainEqual({ ...policy, before: null })
  })

  test('does not move to a policy that has become another meanwhile', async () => {
    const asked = await world.asks(world.ada, 'changeProject')
    const { store, alpha, lax } = world
    const other = await store.policies.saveRevision({
      organizationId: alpha.id,
      policyId: lax.id,
      source: 'name: Lax\ndefault: deny\nrules: []\n',
      quorum: 1,
    })
    await store.policies.activateRevision(alpha.id, lax.id, other?.id ?? '')
    const { status, body } = await world.decide(asked.body.id, true, world.bob)
    expect([status, body.detail]).toEqual([
      409,
      'Vault has changed since the request: reject it and request the change again',
    ])
    expect(await policyOfProject()).toBe(world.strict.id)
    expect((await store.approvals.find(alpha.id, asked.body.id))?.state).toBe('pending')
  })

  test('is bound to a contract with the lifetime that the approver saw', async () => {
    const { store, alpha, project } = world
    const asked = await world.asks(world.ada, 'bindAddress')
    expect(asked.body['changes']).toContainEqual({ what: 'lifetime in seconds', before: null, after: '300' })
    await store.projects.update(alpha.id, project.id, { lifetimeSeconds: 3_600 })
    expect((await world.decide(asked.body.id, true, world.bob)).status).toBe(409)
  })

  test('may be called otherwise at once', async () => {
    expect((await world.asks(world.ada, 'changeProject', { body: { name: 'Safe' } })).status).toBe(200)
  })
})

describe('a policy that is to decide sessions', () => {
  test('is not chosen again, and another one of its name looks different', async () => {
    const { ada, alpha, ofSessions, store } = world
    await store.sessionPolicies.set(alpha.id, ofSessions.id)
    expect((await world.asks(ada, 'changeSessionPolicy')).status).toBe(409)
    await store.sessionPolicies.set(alpha.id, null)
    const { body } = await world.asks(ada, 'changeSessionPolicy')
    expect(body['changes']).toMatchObject([{ before: 'people', after: `People (${ofSessions.id}), revision 1` }])
  })

  test('is not chosen with another revision than the one that the approver saw', async () => {
    const { store, alpha, ofSessions } = world
    const asked = await world.asks(world.ada, 'changeSessionPolicy')
    const other = await store.policies.saveRevision({
      organizationId: alpha.id,
      policyId: ofSessions.id,
      source: 'name: People\ndecides: sessions\nrules: [{ id: all, allow: "true" }]\n',
      quorum: 1,
    })
    await store.policies.activateRevision(alpha.id, ofSessions.id, other?.id ?? '')
    const { status, body } = await world.decide(asked.body.id, true, world.bob)
    expect([status, body.detail]).toEqual([
      409,
      'alpha has changed since the request: reject it and request the change again',
    ])
    expect(await store.sessionPolicies.find(alpha.id)).toBeNull()
  })
})

describe('an activation', () => {
  test('shows the policy by its name, what changes in its rules, whom it decides for and what its shadow said', async () => {
    await world.store.policies.shadowRevision(world.alpha.id, world.strict.id, world.next)
    const { body } = await world.asks(world.ada, 'activateRevision')
    expect(body).toMatchObject({
      name: 'Strict',
      changes: [
        { what: 'decides', before: 'revision 1', after: 'revision 2' },
        { what: 'projects', before: 'Vault', after: 'Vault' },
      ],
      differences: [{ kind: 'rule-removed', rule: 'all', place: 1 }],
      effects: ['Shadow: no decisions yet'],
    })
  })

  test('is not approved for someone who is no administrator any more', async () => {
    const asked = await world.asks(world.ada, 'activateRevision')
    await world.store.memberships.setRole(world.alpha.id, world.ada.id, 'viewer')
    const { status, body } = await world.decide(asked.body.id, true, world.bob)
    expect([status, body.detail]).toEqual([
      409,
      'the requester is no longer an administrator: reject the request, and make the change yourself if it is correct',
    ])
  })

  test('that two approve at the same moment is done once', async () => {
    const asked = await world.asks(world.ada, 'createProject')
    const answers = await Promise.all([world.bob, world.carol].map((who) => world.decide(asked.body.id, true, who)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const projects = await world.store.projects.list(world.alpha.id)
    expect(projects.filter(({ name }) => name === 'New')).toHaveLength(1)
  })

  test('does not wait for a caller who would rather be refused', async () => {
    const refused = await world.asks(world.ada, 'activateRevision', { headers: { 'x-approval': 'refuse' } })
    expect([refused.status, refused.body['code']]).toEqual([409, 'APPROVAL_REQUIRED'])
    expect(await world.store.approvals.countPending(world.alpha.id)).toBe(0)
  })

  test('that is asked for twice with one Idempotency-Key waits once', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const [one, two] = [
      await world.asks(world.ada, 'activateRevision', { headers }),
      await world.asks(world.ada, 'activateRevision', { headers }),
    ]
    expect([one.status, two.status, two.body.id]).toEqual([202, 202, one.body.id])
  })
})

test('an approver sees characters that would be invisible', async () => {
  const { ada, alpha, bob, store } = world
  await store.approvals.request({
    organizationId: alpha.id,
    action: 'policy.activate',
    subject: 'policy_1',
    detail: {
      name: 'Str\u200bict',
      changes: [{ what: 'revision', before: null, after: 'revision 1' }],
      differences: [{ kind: 'rule-added', expression: 'true\n// \u2066all' }],
      effects: [],
      comment: '',
    },
    request: { operation: 'activateRevision' },
    requestedBy: ada.id,
    lifeSeconds: 60,
  })
  const { body } = await world.call('GET', '/organizations/alpha/approvals', { cookie: bob.cookie })
  expect((body['data'] as object[])[0]).toMatchObject({
    name: 'Str\\u{200b}ict',
    differences: [{ expression: 'true\n// \\u{2066}all' }],
  })
})

describe('too few people', () => {
  const alone = async (): Promise<void> => {
    const { store, alpha } = world
    for (const { id } of [world.bob, world.carol]) await store.memberships.setRole(alpha.id, id, 'viewer')
    for (const { id } of [world.root, world.rita, world.rob]) await store.users.setDisabled(id, true)
  }
  const turnOn = () => world.asks(world.ada, 'changeSettings', { body: { second_person: true } })

  test('turning it on is refused, and says who is missing', async () => {
    await world.setRule(false)
    await alone()
    const refused = await turnOn()
    expect(refused.status).toBe(409)
    expect(refused.body.detail).toBe(
      'the second-person rule requires two administrators of the organization, or ' +
        'deployment admins who can approve each other’s changes. There is only ada@example.com. Invite two others: two ' +
        'people whom the same person invited can approve each other’s changes if both accept before the rule is enabled',
    )
    const invite = async (email: string): Promise<void> => {
      const body = { email, name: 'P', role: 'organization-admin' }
      expect((await world.call('POST', MEMBERS, { cookie: world.ada.cookie, body })).status).toBe(201)
      await signIn((await world.store.users.findByEmail(email))?.id ?? '')
    }
    // A puppet does not help.
    await invite('p@example.com')
    expect((await turnOn()).body.detail).toContain(
      'or one person received links to both. Invite one more person: two people whom the same person',
    )
    // Someone else does.
    await world.store.users.setDisabled(world.root.id, false)
    expect((await turnOn()).status).toBe(200)
    // So does what the refusal advises.
    await world.setRule(false)
    await world.store.users.setDisabled(world.root.id, true)
    expect((await turnOn()).status).toBe(409)
    await invite('q@example.com')
    expect((await turnOn()).status).toBe(200)
  })

  test('the deployment’s as well', async () => {
    for (const { id } of [world.rita, world.rob]) await world.store.users.setDisabled(id, true)
    const body = { second_person: true }
    const refused = await world.call('PATCH', '/deployment/settings', { cookie: world.root.cookie, body })
    expect(refused.status).toBe(409)
    expect(refused.body.detail).toContain('requires two deployment admins who can approve each other’s changes')
  })

  test('a change that would leave them is refused, when it is asked for and when it is approved', async () => {
    for (const { id } of [world.root, world.rita, world.rob]) await world.store.users.setDisabled(id, true)
    const remove = (who: Person) => world.call('DELETE', `${MEMBERS}/${who.id}`, { cookie: world.ada.cookie })
    const bob = await remove(world.bob)
    const carol = await remove(world.carol)
    expect([bob.status, carol.status]).toEqual([202, 202])
    expect((await world.decide(bob.body.id, true, world.carol)).status).toBe(200)
    expect((await remove(world.carol)).status).toBe(409)
    const second = await world.decide(carol.body.id, true, world.carol)
    expect(second.status).toBe(409)
    expect(await world.store.memberships.find(world.alpha.id, world.carol.id)).not.toBeNull()
  })
})
