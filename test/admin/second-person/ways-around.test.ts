// Attempts of one administrator to approve a change alone, and changes that need no approval.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { addressKey } from '../../../src/domain/address-key.ts'
import { LIST_EDITS_MAX } from '../../../src/domain/list.ts'
import { openOver } from '../../cli/admin-client-over.ts'
import { runWords } from '../../cli/run-words.ts'
import type { Person } from '../support/harness.ts'
import { type CallOptions, textFile } from '../support/request.ts'
import { type Answer, OTHER_WALLET, startWorld, WALLET, type World } from './world.ts'

let world: World

beforeEach(async () => {
  world = await startWorld()
  await world.setRule(true)
})
afterEach(() => world.close())

const BASE = '/organizations/alpha'
const MEMBERS = `${BASE}/members`
const ADMIN = 'organization-admin'

const accountOf = async (email: string): Promise<string> => (await world.store.users.findByEmail(email))?.id ?? ''
const disable = async (...people: readonly Person[]): Promise<void> => {
  for (const { id } of people) await world.store.users.setDisabled(id, true)
}
const invite = (caller: CallOptions, email: string, role = ADMIN) =>
  world.call('POST', MEMBERS, { ...caller, body: { email, name: 'Member', role } })
/** The body's `changes`, as the approver sees them. */
const changesOf = ({ body }: Answer) =>
  body['changes'] as readonly { readonly what: string; readonly before: string | null; readonly after: string }[]
/** Approves a request as each person in order, and compares the statuses. */
const expectApprovals = async (requested: Answer, ...expected: readonly (readonly [Person, number])[]) => {
  expect(requested.status).toBe(202)
  for (const [approver, status] of expected) {
    expect((await world.decide(requested.body.id, true, approver)).status).toBe(status)
  }
}
const expectRefusal = ({ status, body }: Answer, detail: unknown, expected = 409): void =>
  expect([status, body.detail]).toEqual([expected, detail as string])

describe('an account', () => {
  /** Invites an administrator, with the approval of another administrator. */
  const createMember = async (creator: Person, approver: Person, email: string): Promise<Person> => {
    await expectApprovals(await invite(creator, email), [approver, 200])
    return world.signIn(await accountOf(email))
  }

  test('and its creator cannot request a change if they are the only possible approvers', async () => {
    const { ada, bob, carol, root, rita, rob, alpha, store } = world
    const first = await createMember(ada, bob, 'first@example.com')
    for (const { id } of [bob, carol]) await store.memberships.setRole(alpha.id, id, 'viewer')
    await disable(root, rita, rob)
    for (const requester of [ada, first]) {
      const refused = await world.request(requester, 'activateRevision')
      expectRefusal(refused, expect.stringContaining('nobody could approve'))
    }
    expect(await store.approvals.countPending(alpha.id)).toBe(0)
  })

  test.each([
    ['an invisible character', 'bob\u200b@example.com'],
    ['a Cyrillic letter', 'b\u043eb@example.com'],
    ['a domain in Cyrillic letters', 'bob@ex\u0430mple.com'],
  ])('cannot have an address that looks like that of a colleague: %s', async (_, email) => {
    for (const { status, body } of [
      await invite(world.ada, email),
      await world.request(world.root, 'addUser', { body: { email, name: 'Bob', deployment_admin: false } }),
    ]) {
      expect([status, body['field']]).toEqual([400, 'email'])
    }
  })

  test('and its creator cannot approve each other’s changes, nor can accounts further down the chain', async () => {
    const { ada, bob } = world
    const first = await createMember(ada, bob, 'first@example.com')
    const second = await createMember(first, bob, 'second@example.com')
    for (const [requester, approver] of [
      [ada, first],
      [ada, second],
      [first, ada],
      [second, ada],
    ] as const) {
      const requested = await world.request(requester, 'activateRevision')
      expectRefusal(
        await world.decide(requested.body.id, true, approver),
        'you or the requester created, invited or recovered the other’s account, or one person received links to both: an independent administrator must approve this change',
      )
      expect((await world.decide(requested.body.id, false, bob)).status).toBe(200)
    }
  })

  test('created before the rule depends on its creator, too', async () => {
    await world.setRule(false)
    expect((await invite(world.ada, 'early@example.com')).status).toBe(201)
    await world.setRule(true)
    const early = await world.signIn(await accountOf('early@example.com'))
    expect((await world.requestAndApprove(world.ada, early)).status).toBe(409)
  })

  test('depends on the person who promoted, invited or recovered it', async () => {
    const { ada, bob, carol, root, alpha, invited, viewer, store } = world
    await expectApprovals(await world.request(ada, 'changeMember'), [bob, 200])
    const renewed = await world.call('POST', `${MEMBERS}/${invited.id}/invitation`, { cookie: ada.cookie, body: {} })
    expect(renewed.status).toBe(200)
    await store.memberships.setRole(alpha.id, invited.id, ADMIN)
    const requested = await world.request(ada, 'activateRevision')
    await expectApprovals(requested, [await world.signIn(viewer.id), 409], [await world.signIn(invited.id), 409])
    // A deployment admin who could sign in as two administrators is one person with both.
    for (const { id } of [bob, carol]) {
      expect((await world.call('POST', `/users/${id}/recovery`, { cookie: root.cookie, body: {} })).status).toBe(200)
    }
    await expectApprovals(await world.request(bob, 'activateRevision'), [carol, 409], [root, 409], [ada, 200])
  })

  test('depends on another account if one person renewed the unused invitations of both', async () => {
    const { ada, bob, carol, root } = world
    const create = async (email: string): Promise<string> => {
      await expectApprovals(await invite(bob, email), [carol, 200])
      const id = await accountOf(email)
      const renewed = await world.call('POST', `${MEMBERS}/${id}/invitation`, { cookie: ada.cookie, body: {} })
      expect(renewed.status).toBe(200)
      return id
    }
    const ids = [await create('dan@example.com'), await create('eve@example.com')] as const
    const [dan, eve] = [await world.signIn(ids[0]), await world.signIn(ids[1])]
    await expectApprovals(await world.request(dan, 'activateRevision'), [eve, 409], [ada, 409], [root, 200])
  })

  const promote = async (userId: string): Promise<void> => {
    const options = { cookie: world.root.cookie, body: { deployment_admin: true } }
    expect((await world.call('PATCH', `/users/${userId}`, options)).status).toBe(200)
  }
  /** Two deployment admins that root creates alone, as such or as accounts to promote, while the deployment has no rule. */
  const deploymentAdmins = async (isAtOnce: boolean): Promise<readonly [Person, Person]> => {
    const create = async (name: string): Promise<Person> => {
      const body = { email: `${name}@example.com`, name, deployment_admin: isAtOnce }
      const created = await world.call('POST', '/users', { cookie: world.root.cookie, body })
      const { id } = created.body['user'] as { id: string }
      if (!isAtOnce) await promote(id)
      return world.signIn(id)
    }
    return [await create('first'), await create('second')]
  }

  test.each([true, false])(
    'of a deployment admin depends on its creator while the organization has the rule (created as one: %p)',
    async (isAtOnce) => {
      const [first, second] = await deploymentAdmins(isAtOnce)
      const requested = await world.request(first, 'changeSettings')
      expect(requested.status).toBe(202)
      for (const dependent of [second, world.root]) {
        const { body } = await world.decide(requested.body.id, true, dependent)
        expect(body.detail).toContain('an independent administrator')
      }
      await expectApprovals(requested, [world.ada, 200])
    },
  )

  test('of a deployment admin created before the rule, or with approval, is independent', async () => {
    const { root, rita } = world
    await world.setRule(false)
    const before = await deploymentAdmins(true)
    await world.setRule(true)
    await world.setDeploymentRule(true)
    const create = async (email: string): Promise<Person> => {
      const body = { email, name: 'Admin', deployment_admin: true }
      const { status, body: requested } = await world.call('POST', '/users', { cookie: root.cookie, body })
      expect(status).toBe(202)
      expect((await world.decide(requested.id, true, rita, true)).status).toBe(200)
      return world.signIn(await accountOf(email))
    }
    const approved = [await create('third@example.com'), await create('fourth@example.com')] as const
    expect((await world.requestAndApprove(...before, 'activateRevision')).status).toBe(200)
    expect((await world.requestAndApprove(...approved, 'addMember')).status).toBe(200)
  })

  test('of an administrator who becomes a deployment admin stays independent', async () => {
    for (const { id } of [world.ada, world.bob]) await promote(id)
    expect((await world.requestAndApprove(world.ada, world.bob)).status).toBe(200)
  })

  describe('that joins by an offer', () => {
    const OFFERS = `${BASE}/member-offers`
    const JOINER = 'joiner@example.com'
    let joiner: Person
    beforeEach(async () => {
      joiner = await world.harness.person({ email: JOINER })
    })
    const accept = async (url: unknown): Promise<number> => {
      const [offer = '', code = ''] = new URL(String(url)).hash.slice(1).split('.')
      const options = { cookie: joiner.cookie, body: { code } }
      return (await world.call('POST', `/me/offers/${offer}/accept`, options)).status
    }
    const offerPath = async (): Promise<string> =>
      `${OFFERS}/${(await world.store.membershipOffers.listOf(joiner.id))[0]?.id}`
    const acceptNewLink = async ({ cookie }: Person): Promise<void> => {
      const { body } = await world.call('POST', `${await offerPath()}/link`, { cookie, body: {} })
      expect(await accept(body['url'])).toBe(204)
      world.harness.clock.advance(1)
    }
    const acceptanceOf = ({ body }: Answer): string => (body['acceptance'] as { url: string }).url

    test('depends on the requester and on the person who chose its role', async () => {
      const { ada, alpha, bob, carol, store } = world
      const requested = await invite(ada, JOINER, 'reviewer')
      expect(requested.status).toBe(202)
      const approved = await world.decide(requested.body.id, true, bob)
      expect(approved.status).toBe(200)
      // No link was shown or stored. Only the new link works.
      const kept = [requested.body, approved.body, await store.approvals.find(alpha.id, requested.body.id)]
      expect(JSON.stringify(kept)).not.toMatch(/account#/)
      const options = { cookie: carol.cookie, body: { role: ADMIN } }
      await expectApprovals(await world.call('PATCH', await offerPath(), options), [bob, 200])
      await acceptNewLink(ada)
      for (const [requester, approver, status] of [
        [ada, joiner, 409],
        [joiner, ada, 409],
        [carol, joiner, 409],
        [bob, joiner, 200],
      ] as const) {
        expect((await world.requestAndApprove(requester, approver)).status).toBe(status)
      }
    })

    test('depends on the person who renewed its link', async () => {
      const { ada, bob, carol } = world
      await expectApprovals(await invite(ada, JOINER), [bob, 200])
      await acceptNewLink(carol)
      await expectApprovals(await world.request(carol, 'activateRevision'), [joiner, 409], [bob, 200])
    })

    test('of a key depends on the recipient of the key', async () => {
      const { ada, bob } = world
      await world.setRule(false)
      const body = { name: 'automation', kind: 'admin' }
      const issued = await world.call('POST', `${BASE}/keys`, { cookie: ada.cookie, body })
      expect(await accept(acceptanceOf(await invite({ key: String(issued.body['key']) }, JOINER)))).toBe(204)
      await world.setRule(true)
      await expectApprovals(await world.request(ada, 'activateRevision'), [joiner, 409], [bob, 200])
    })

    test('cannot accept an offer from before the rule', async () => {
      await world.setRule(false)
      const link = acceptanceOf(await invite(world.ada, JOINER))
      const enabled = await world.request(world.ada, 'changeSettings', { body: { second_person: true } })
      expect([enabled.status, await accept(link)]).toEqual([200, 401])
    })
  })

  test('recovered at the command line depends on the other accounts recovered there', async () => {
    const { ada, bob, carol, harness } = world
    for (const email of ['ada@example.com', 'bob@example.com']) {
      const { code } = await runWords(['account', 'recover', email], { open: openOver(harness), clock: harness.clock })
      expect(code).toBe(0)
    }
    await expectApprovals(await world.request(ada, 'activateRevision'), [bob, 409], [carol, 200])
  })

  test('does not reveal its invitation link to a key, whose holder is unknown', async () => {
    const path = `${MEMBERS}/${world.invited.id}/invitation`
    expect((await world.call('POST', path, { key: world.alpha.key, body: {} })).status).toBe(403)
  })

  test('that became an administrator after the request, even in the same second, cannot approve it', async () => {
    const { alpha, harness, store, viewer } = world
    const requested = await world.request(world.ada, 'activateRevision')
    const late = await harness.member(alpha, 'late')
    await store.memberships.setRole(alpha.id, viewer.id, ADMIN)
    for (const newer of [late, viewer]) {
      expectRefusal(
        await world.decide(requested.body.id, true, newer),
        'you were not an administrator when this was requested: another administrator must approve it',
      )
    }
  })
})

describe('lists', () => {
  const edit = (caller: CallOptions, list: string, body: object) =>
    world.call('POST', `${BASE}/lists/${list}/entries`, { ...caller, body })
  const add = (...addresses: string[]) => ({ add: addresses.map((address) => ({ address })) })
  const store = (list: string, addresses: Readonly<Record<string, string>>) =>
    world.store.lists.edit(
      world.alpha.id,
      list,
      Object.entries(addresses).map(([address, memo]) => ({
        key: addressKey(address as never),
        memo,
        author: 'a',
        addedAtSeconds: 0,
        present: true,
      })),
    )
  const isListed = async (name: string, address = WALLET): Promise<boolean> => {
    const list = await world.store.lists.find(world.alpha.id, name)
    return list !== null && (await world.store.lists.findEntry(list, addressKey(address))) !== null
  }
  const addressesTo = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`)

  test('an address is removed from the allow list and added to the deny list immediately, even by a key', async () => {
    const { ada, alpha } = world
    expect((await edit(ada, 'allow', add(WALLET))).status).toBe(202)
    expect(await isListed('allow')).toBe(false)
    await world.store.lists.create({ owner: alpha.id, name: 'allow' })
    await store('allow', { [WALLET]: '' })
    expect((await edit(ada, 'allow', { remove: [WALLET] })).status).toBe(200)
    expect(await isListed('allow')).toBe(false)

    expect((await edit({ key: alpha.key }, 'deny', add(WALLET))).status).toBe(200)
    // An edit that includes a change that needs approval is not made immediately.
    for (const body of [{ remove: [WALLET] }, { ...add(OTHER_WALLET), remove: [WALLET] }]) {
      expect((await edit(ada, 'deny', body)).status).toBe(202)
    }
    expect(await isListed('deny')).toBe(true)
  })

  test('a file is merged into the deny list immediately, without a comparison, but does not replace it', async () => {
    const { lists } = world.harness.services.store
    const { readEdits } = lists
    let reads = 0
    lists.readEdits = (listId) => {
      reads += 1
      return readEdits(listId)
    }
    const upload = async (query: string) => {
      const file = textFile(`${query === '' ? OTHER_WALLET : WALLET}\n`)
      return (await world.call('PUT', `${BASE}/lists/deny/content${query}`, { ...world.ada, ...file })).status
    }
    expect([await upload('?merge=true'), reads]).toEqual([200, 1])
    expect([await upload(''), reads]).toEqual([202, 2])
    expect(await isListed('deny')).toBe(true)
  })

  test('an approved edit of a list with many edits rewrites the list outside the transaction', async () => {
    const { ada, alpha, bob, harness } = world
    await store('kept_own', Object.fromEntries(addressesTo(LIST_EDITS_MAX).map((address) => [address, ''])))
    const requested = await edit(ada, 'kept_own', add(OTHER_WALLET))
    const { listUploads } = harness.services
    const { rewrite } = listUploads
    let rewrites = 0
    Object.assign(listUploads, {
      rewrite: (...given: Parameters<typeof rewrite>) => {
        rewrites += 1
        return rewrite(...given)
      },
    })
    await expectApprovals(requested, [bob, 200])
    expect([rewrites, await isListed('kept_own', OTHER_WALLET)]).toEqual([1, true])
    expect(await harness.audited({ organizationId: alpha.id, action: 'approval.approve' })).toHaveLength(1)
  })

  test('the view of a file shows the kinds and numbers of changes, and a hash of the result', async () => {
    const { ada, bob } = world
    const removed = `0x${'f'.repeat(40)}`
    await store('kept_own', { [WALLET]: 'one', [OTHER_WALLET]: '', [removed]: 'old' })
    const added = addressesTo(60)
    const requested = await world.request(ada, 'uploadList', {
      raw: [...added, `${WALLET},two`, OTHER_WALLET].join('\n'),
      headers: { 'content-type': 'text/csv' },
    })
    const { body } = await world.call('GET', `${BASE}/approvals`, bob)
    const [{ changes }] = body['data'] as [{ changes: ReturnType<typeof changesOf> }]
    expect(changes[0]).toEqual({ what: 'content', before: '3 entries', after: '62 entries' })
    expect(changes[3]?.after).toBe('60 added, 1 removed, 1 with a new memo; 10 not shown')
    expect(changes.slice(4, 54).map(({ what }) => what)).toEqual(added.slice(0, 50))
    expect(changes.slice(54)).toEqual([
      { what: WALLET, before: 'in the list: one', after: 'in the list: two' },
      { what: removed, before: 'in the list: old', after: null as never },
    ])

    await expectApprovals(requested, [bob, 200])
    const exported = await world.harness.request('GET', `${BASE}/lists/kept_own/content?format=text`, ada)
    const sha256 = new Bun.CryptoHasher('sha256').update(await exported.text()).digest('hex')
    expect(sha256).toBe(changes[2]?.after ?? '')
  })

  test('a file must be uploaded again if the list changed while it was read', async () => {
    const { lists } = world.harness.services.store
    const { readEdits } = lists
    lists.readEdits = async (listId) => {
      lists.readEdits = readEdits
      await store('kept_own', { [WALLET]: '' })
      return readEdits(listId)
    }
    const refused = await world.request(world.ada, 'uploadList')
    expectRefusal(refused, expect.stringContaining('upload the file again'))
  })

  test('a file is kept while its request is pending, and deleted after the rejection', async () => {
    const sweep = async () => {
      while ((await world.store.listBases.sweep()) > 0);
    }
    const requested = await world.request(world.ada, 'uploadList')
    world.harness.clock.advance(500_000)
    await sweep()
    const [ada, bob] = [await world.signIn(world.ada.id), await world.signIn(world.bob.id)]
    await expectApprovals(requested, [bob, 200])
    expect(await isListed('kept_own')).toBe(true)

    const unwanted = await world.request(ada, 'uploadList', { raw: `${OTHER_WALLET}\n` })
    const bases = async () => (await world.store.database.query('SELECT id FROM list_bases')).length
    const before = await bases()
    await world.decide(unwanted.body.id, false, bob)
    await sweep()
    expect(await bases()).toBe(before - 1)
  })

  test('a file does not replace a list that changed after the request', async () => {
    const requested = await world.request(world.ada, 'uploadList')
    await store('kept_own', { [OTHER_WALLET]: '' })
    await expectApprovals(requested, [world.bob, 409])
    expect(await isListed('kept_own', OTHER_WALLET)).toBe(true)
  })

  test('an impossible change is refused without a request', async () => {
    for (const [list, address, status] of [
      ['sourced_own', WALLET, 409],
      ['nowhere', WALLET, 404],
      ['allow', 'nonsense', 400],
    ] as const) {
      expect((await edit(world.ada, list, add(address))).status).toBe(status)
    }
    expect(await world.store.approvals.countPending(world.alpha.id)).toBe(0)
  })

  test('the URL of a source is shown with its path, and without the values of its query, which may be keys', async () => {
    const { ada, bob, harness, viewer } = world
    const body = { url: 'https://lists.example/acme/b.csv?key=topsecret', format: 'csv' }
    const requested = await world.request(ada, 'setListSource', { body })
    const [seen] = changesOf(requested)
    expect(seen?.after).toMatch(/^lists\.example\/acme\/b\.csv\?key=… \(sha256 [0-9a-f]{16}\), csv, every 86400 s$/)
    const page = await world.call('GET', `${BASE}/approvals`, viewer)
    await expectApprovals(requested, [bob, 200])
    const audited = await harness.audited({ action: 'list.source' })
    for (const shown of [page.body, audited]) expect(JSON.stringify(shown)).toContain('lists.example/acme/b.csv')
    expect(JSON.stringify([requested.body, page.body, audited])).not.toContain('topsecret')

    const other = await world.request(ada, 'setListSource', { body: { ...body, format: 'text' } })
    expect(changesOf(other)[0]?.before).toBe(seen?.after as string)
    // A change whose view is the same before and after is refused.
    for (const unchanged of [
      await world.request(ada, 'setListSource', { body }),
      await world.request(ada, 'changeVerificationTrust', { body: { trusts: 'all' } }),
    ]) {
      expectRefusal(unchanged, 'the request changes nothing that an approver could review')
    }
  })

  test('a changed memo is shown', async () => {
    await world.store.lists.create({ owner: world.alpha.id, name: 'allow' })
    await store('allow', { [WALLET]: 'a' })
    const requested = await edit(world.ada, 'allow', { add: [{ address: WALLET, memo: 'b' }] })
    expect(changesOf(requested)[0]).toMatchObject({ before: 'in the list: a', after: 'in the list: b' })
  })
})

/** Activates a revision of the source in the policy. */
const activate = async (policyId: string, source: string): Promise<void> => {
  const { alpha, store } = world
  const saved = await store.policies.saveRevision({ organizationId: alpha.id, policyId, source, quorum: 1 })
  await store.policies.activateRevision(alpha.id, policyId, saved?.id ?? '')
}
const CHANGED = 'has changed since the request: reject it and request the change again'

describe('a project', () => {
  const policyOfProject = async (): Promise<string | undefined> =>
    (await world.store.projects.find(world.alpha.id, world.project.id))?.policyId

  test('moves to another active policy after an approval', async () => {
    const { strict, lax } = world
    const requested = await world.request(world.ada, 'changeProject')
    expect(requested.body).toMatchObject({ action: 'project.change', name: 'Vault' })
    expect(changesOf(requested)).toEqual([
      { what: 'policy', before: `Strict (${strict.id})`, after: `Lax (${lax.id})` },
    ])
    expect(await policyOfProject()).toBe(strict.id)
    await expectApprovals(requested, [world.bob, 200])
    expect(await policyOfProject()).toBe(lax.id)
  })

  test('shows the ids of policies with the same name', async () => {
    const { ada, alpha, store, strict } = world
    const { id } = await store.policies.create({ organizationId: alpha.id, name: 'Strict' })
    await activate(id, 'name: Strict\nrules: []\n')
    const policy = { what: 'policy', before: `Strict (${strict.id})`, after: `Strict (${id})` }
    const moved = await world.request(ada, 'changeProject', { body: { policy_id: id, lifetime_seconds: 60 } })
    expect(changesOf(moved)).toEqual([policy, expect.objectContaining({ what: 'lifetime in seconds' })])
    const created = await world.request(ada, 'createProject', { body: { name: 'New', policy_id: id } })
    expect(changesOf(created)).toContainEqual({ ...policy, before: null })
  })

  test('does not move to a policy that changed after the request', async () => {
    const { alpha, bob, lax, store, strict } = world
    const requested = await world.request(world.ada, 'changeProject')
    await activate(lax.id, 'name: Lax\ndefault: deny\nrules: []\n')
    expectRefusal(await world.decide(requested.body.id, true, bob), `Vault ${CHANGED}`)
    expect(await policyOfProject()).toBe(strict.id)
    expect((await store.approvals.find(alpha.id, requested.body.id))?.state).toBe('pending')
  })

  test('is bound to a contract only with the lifetime that the approver saw', async () => {
    const requested = await world.request(world.ada, 'bindAddress')
    expect(changesOf(requested)).toContainEqual({ what: 'lifetime in seconds', before: null, after: '300' })
    await world.store.projects.update(world.alpha.id, world.project.id, { lifetimeSeconds: 3_600 })
    await expectApprovals(requested, [world.bob, 409])
  })

  test('is renamed immediately', async () => {
    expect((await world.request(world.ada, 'changeProject', { body: { name: 'Safe' } })).status).toBe(200)
  })
})

describe('a policy that is selected to decide sessions', () => {
  test('is refused if it already decides sessions, and is shown with its id', async () => {
    const { ada, alpha, ofSessions, store } = world
    await store.sessionPolicies.set(alpha.id, ofSessions.id)
    expect((await world.request(ada, 'changeSessionPolicy')).status).toBe(409)
    await store.sessionPolicies.set(alpha.id, null)
    const [change] = changesOf(await world.request(ada, 'changeSessionPolicy'))
    expect(change).toMatchObject({ before: 'people', after: `People (${ofSessions.id}), revision 1` })
  })

  test('is selected only with the revision that the approver saw', async () => {
    const { alpha, bob, ofSessions, store } = world
    const requested = await world.request(world.ada, 'changeSessionPolicy')
    await activate(ofSessions.id, 'name: People\ndecides: sessions\nrules: [{ id: all, allow: "true" }]\n')
    expectRefusal(await world.decide(requested.body.id, true, bob), `alpha ${CHANGED}`)
    expect(await store.sessionPolicies.find(alpha.id)).toBeNull()
  })
})

describe('a request', () => {
  test('for an activation shows the policy, the changes of its rules, its projects and the result of its shadow', async () => {
    const { alpha, next, store, strict } = world
    await store.policies.shadowRevision(alpha.id, strict.id, next)
    const { body } = await world.request(world.ada, 'activateRevision')
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

  test('of a former administrator cannot be approved', async () => {
    const requested = await world.request(world.ada, 'activateRevision')
    await world.store.memberships.setRole(world.alpha.id, world.ada.id, 'viewer')
    expectRefusal(
      await world.decide(requested.body.id, true, world.bob),
      'the requester is no longer an administrator: reject the request, and make the change yourself if it is correct',
    )
  })

  test('that two people approve at the same time is performed once', async () => {
    const requested = await world.request(world.ada, 'createProject')
    const both = [world.bob, world.carol].map((approver) => world.decide(requested.body.id, true, approver))
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409])
    const projects = await world.store.projects.list(world.alpha.id)
    expect(projects.filter(({ name }) => name === 'New')).toHaveLength(1)
  })

  test('with X-Approval: refuse is refused and not stored', async () => {
    const refused = await world.request(world.ada, 'activateRevision', { headers: { 'x-approval': 'refuse' } })
    expect([refused.status, refused.body['code']]).toEqual([409, 'APPROVAL_REQUIRED'])
    expect(await world.store.approvals.countPending(world.alpha.id)).toBe(0)
  })

  test('is stored once per Idempotency-Key', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const send = () => world.request(world.ada, 'activateRevision', { headers })
    const [one, two] = [await send(), await send()]
    expect([one.status, two.status, two.body.id]).toEqual([202, 202, one.body.id])
  })

  test('is shown with its invisible characters escaped', async () => {
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
    const { body } = await world.call('GET', `${BASE}/approvals`, bob)
    expect((body['data'] as object[])[0]).toMatchObject({
      name: 'Str\\u{200b}ict',
      differences: [{ expression: 'true\n// \\u{2066}all' }],
    })
  })
})

describe('with too few administrators,', () => {
  test('the rule cannot be enabled, and the refusal names a remedy', async () => {
    const { ada, alpha, bob, carol, root, rita, rob, store } = world
    const enable = () => world.request(ada, 'changeSettings', { body: { second_person: true } })
    await world.setRule(false)
    for (const { id } of [bob, carol]) await store.memberships.setRole(alpha.id, id, 'viewer')
    await disable(root, rita, rob)
    expectRefusal(
      await enable(),
      'the second-person rule requires two administrators of the organization, or ' +
        'deployment admins who can approve each other’s changes. There is only ada@example.com. Invite two others: two ' +
        'people whom the same person invited can approve each other’s changes if both accept before the rule is enabled',
    )
    const inviteAndSignIn = async (email: string): Promise<void> => {
      expect((await invite(ada, email)).status).toBe(201)
      await world.signIn(await accountOf(email))
    }
    // One invited account depends on ada.
    await inviteAndSignIn('p@example.com')
    expect((await enable()).body.detail).toContain(
      'or one person received links to both. Invite one more person: two people whom the same person',
    )
    // A deployment admin is independent.
    await store.users.setDisabled(root.id, false)
    expect((await enable()).status).toBe(200)
    // A second invited account is independent of the first.
    await world.setRule(false)
    await disable(root)
    expect((await enable()).status).toBe(409)
    await inviteAndSignIn('q@example.com')
    expect((await enable()).status).toBe(200)
  })

  test('the rule of the deployment cannot be enabled', async () => {
    await disable(world.rita, world.rob)
    const options = { cookie: world.root.cookie, body: { second_person: true } }
    expectRefusal(
      await world.call('PATCH', '/deployment/settings', options),
      expect.stringContaining('requires two deployment admins who can approve each other’s changes'),
    )
  })

  test('a change that would leave one administrator is refused at the request and at the approval', async () => {
    const { ada, bob, carol, root, rita, rob } = world
    await disable(root, rita, rob)
    const remove = ({ id }: Person) => world.call('DELETE', `${MEMBERS}/${id}`, { cookie: ada.cookie })
    const [first, second] = [await remove(bob), await remove(carol)]
    await expectApprovals(first, [carol, 200])
    expect((await remove(carol)).status).toBe(409)
    await expectApprovals(second, [carol, 409])
    expect(await world.store.memberships.find(world.alpha.id, carol.id)).not.toBeNull()
  })
})
