// Every operation that makes a change declares whether it needs a second person. With the rule, such an operation changes
// nothing before its approval. The creator of an account, or of a link to it, is recorded.
import { describe, expect, test } from 'bun:test'
import { isUnsafe } from '../../../src/admin/route.ts'
import { ADMIN_ROUTES, COMMAND_ROUTES, routeOf } from '../support/all-routes.ts'
import type { CallOptions } from '../support/request.ts'
import { startWorld, type World } from './world.ts'

const covered = ADMIN_ROUTES.filter(({ secondPerson }) => secondPerson !== null)
/** Operations that require a person and no approval. */
const PERSONAL = ['inviteMemberAgain', 'renewMemberOffer', 'rotateWebhookSecret']
const approved = covered.filter(({ operationId }) => !PERSONAL.includes(operationId))

test('every operation that makes a change declares when it needs a second person, or why it never does', () => {
  const undeclared = COMMAND_ROUTES.filter(
    ({ method, secondPerson, alone }) => isUnsafe(method) && (secondPerson === null) === (alone === null),
  )
  expect(undeclared.map(({ operationId }) => operationId)).toEqual([])
})

test('every operation that the rule covers has a request in these tests', async () => {
  await using world = await startWorld()
  expect(Object.keys(world.requests).sort()).toEqual(approved.map(({ operationId }) => operationId).sort())
  expect(Object.keys(world.personal).sort()).toEqual([...PERSONAL].sort())
})

test.each([
  [{ disabled: true }, 'nothing'],
  [{ disabled: false }, 'second-person'],
  [{ deployment_admin: true }, 'second-person'],
  [{ deployment_admin: false }, 'second-person'],
  [{ disabled: true, deployment_admin: true }, 'second-person'],
] as const)('the change of an account to %j needs %s', async (body, needs) => {
  expect(await routeOf('changeUser').secondPerson?.needs?.({} as never, { body } as never)).toBe(needs)
})

describe('the recorded creator', () => {
  /** Account ids by the rows of accounts, memberships, offers and links. */
  const accountsByRow = async ({ store }: World) => {
    const rows: [string, string][] = []
    for (const table of ['users', 'memberships', 'membership_offers', 'user_links']) {
      for (const row of await store.database.query<Record<string, unknown>>(`SELECT * FROM ${table}`)) {
        const text = JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
        rows.push([text, String(row[table === 'users' ? 'id' : 'user_id'])])
      }
    }
    return new Map(rows)
  }
  const creatorsOf = async ({ store, alpha }: World, userId: string, organizationId = alpha.id) =>
    (await store.accountMakers.relations(organizationId, [userId]))(userId).makers

  test.each([
    'a person',
    'the holder of a key',
    'the holder of a replaced key',
    'the holder of the key that issued a key',
  ])('of an account, a role or a link is recorded: %s', async (by) => {
    const seen = new Set<string>()
    for (const { operationId, method } of covered) {
      await using world = await startWorld()
      const { bob, call, personal, requests } = world
      const [path, { deployment = false, ...options }] = { ...requests, ...personal }[operationId] ?? ['', {}]
      if (!/member|user/i.test(path)) continue
      const requester = deployment ? world.root : world.ada
      const issue = (as: CallOptions) =>
        call('POST', '/organizations/alpha/keys', { ...as, body: { name: 'k', kind: 'admin' } })
      const issueKey = async (): Promise<string> => {
        const { body } = await issue({ cookie: requester.cookie })
        const key = String(body['key'])
        if (by === 'the holder of a key') return key
        if (by === 'the holder of the key that issued a key') return String((await issue({ key })).body['key'])
        const { id } = body['record'] as { id: string }
        const regenerate = `/organizations/alpha/keys/${id}/regenerate`
        return String((await call('POST', regenerate, { cookie: bob.cookie, body: {} })).body['key'])
      }
      const creator = by === 'the holder of a replaced key' ? bob : requester
      const as = by === 'a person' ? { cookie: requester.cookie } : { key: await issueKey() }
      const before = await accountsByRow(world)
      const { status } = await call(method, path, { ...options, ...as })
      if (by !== 'a person' && status >= 400) continue
      expect([operationId, status < 300]).toEqual([operationId, true])
      for (const [row, userId] of await accountsByRow(world)) {
        if (before.has(row)) continue
        seen.add(operationId)
        expect([operationId, row, (await creatorsOf(world, userId)).has(creator.id)]).toEqual([operationId, row, true])
      }
    }
    const byPeople = by === 'a person' ? ['addUser', 'changeUser'] : []
    const byAll = ['addMember', 'changeMember', 'changeMemberOffer', 'inviteMemberAgain', 'renewMemberOffer']
    expect([...seen].sort()).toEqual([...byAll, ...byPeople].sort())
  })

  test('of an organization holds its first key', async () => {
    await using world = await startWorld()
    const { root, store, call } = world
    const body = { slug: 'gamma', name: 'Gamma', admin_key: true }
    const gamma = await call('POST', '/organizations', { cookie: root.cookie, body })
    const added = await call('POST', '/organizations/gamma/members', {
      key: String(gamma.body['admin_key']),
      body: { email: 'first@example.com', name: 'First', role: 'organization-admin' },
    })
    expect(added.status).toBe(201)
    const { id } = (await store.users.findByEmail('first@example.com')) ?? { id: '' }
    expect((await creatorsOf(world, id, gamma.body.id)).has(root.id)).toBe(true)
  })

  test('is not a person who grants an existing permission or removes a permission', async () => {
    await using world = await startWorld()
    const { ada, root, rita, rob, viewer, offered, store } = world
    const [offer] = await store.membershipOffers.listOf(offered.id)
    for (const [path, person, body, userId] of [
      [`/users/${rita.id}`, root, { deployment_admin: true }, rita.id],
      [`/users/${rob.id}`, root, { deployment_admin: false }, rob.id],
      [`/users/${viewer.id}`, root, { deployment_admin: false }, viewer.id],
      [`/organizations/alpha/members/${viewer.id}`, ada, { role: 'viewer' }, viewer.id],
      [`/organizations/alpha/member-offers/${offer?.id}`, ada, { role: 'viewer' }, offered.id],
    ] as const) {
      const { status } = await world.call('PATCH', path, { cookie: person.cookie, body })
      expect([path, status, (await creatorsOf(world, userId)).has(person.id)]).toEqual([path, 200, false])
    }
  })
})

describe('with the second-person rule', () => {
  test.each(PERSONAL)('%s is refused to a key, and to a person who signed in too long ago', async (operationId) => {
    await using world = await startWorld(operationId)
    await world.setRule(true)
    const [path, options] = world.personal[operationId] ?? ['', {}]
    const before = await world.state()
    expect((await world.call('POST', path, { ...options, key: world.alpha.key })).status).toBe(403)
    world.harness.clock.advance(301)
    const { status, body } = await world.call('POST', path, { ...options, cookie: world.ada.cookie })
    expect([status, body['code']]).toEqual([403, 'CONFIRMATION_REQUIRED'])
    expect(await world.state()).toBe(before)
  })

  test.each(approved.map(({ operationId, method }) => [operationId, method] as const))(
    '%s is refused to a key, and is performed after the approval of another person',
    async (operationId, method) => {
      await using world = await startWorld(operationId)
      await world.setRule(true)
      await world.setDeploymentRule(true)
      const [path, { deployment = false, ...options }] = world.requests[operationId] ?? ['', {}]
      const [requester, approver] = deployment ? [world.root, world.rita] : [world.ada, world.bob]
      const request = () => world.call(method, `${path}?comment=because`, { ...options, cookie: requester.cookie })
      const decide = (id: string, approve: boolean, person = approver) => world.decide(id, approve, person, deployment)
      const scopes = deployment ? (['admin', 'deployment'] as const) : (['admin'] as const)
      const key = await world.harness.issueKey(world.alpha.id, 'admin', scopes)
      const before = await world.state()
      // The holder of a key could be the approver.
      expect((await world.call(method, path, { ...options, key })).status).toBe(403)
      expect(await world.state()).toBe(before)

      const unwanted = (await request()).body.id
      expect((await decide(unwanted, false)).body['state']).toBe('rejected')
      expect((await decide(unwanted, true)).status).toBe(409)
      expect(await world.state()).toBe(before)

      const { status, body } = await request()
      expect([status, body['state'], body['comment']]).toEqual([202, 'pending', 'because'])
      expect([body['name'] === '', body['changes']]).not.toEqual([true, []])
      expect(await world.state()).toBe(before)
      const own = await decide(body.id, true, requester)
      expect([own.status, own.body.detail]).toEqual([409, 'a person other than the requester must approve this change'])
      expect(await world.state()).toBe(before)
      const decided = await decide(body.id, true)
      expect([decided.status, decided.body['state']]).toEqual([200, 'approved'])
      expect(await world.state()).not.toBe(before)
    },
  )
})
