// Every operation that changes something declares whether it waits for a second person while the rule is on. One that waits
// changes nothing before someone else approves it. Whoever makes an account, or a link to one, is recorded as its maker.
import { describe, expect, test } from 'bun:test'
import { isUnsafe } from '../../../src/admin/route.ts'
import { ADMIN_ROUTES, COMMAND_ROUTES } from '../support/all-routes.ts'
import type { CallOptions } from '../support/request.ts'
import { startWorld, type World } from './world.ts'

const covered = ADMIN_ROUTES.filter(({ secondPerson }) => secondPerson !== null)
/** Need a person, and nobody's approval. */
const PERSONAL = ['inviteMemberAgain', 'renewMemberOffer', 'rotateWebhookSecret']
const waiting = covered.filter(({ operationId }) => !PERSONAL.includes(operationId))

describe('every operation that changes something', () => {
  test('declares what it needs, or why it needs nobody', () => {
    const undeclared = COMMAND_ROUTES.filter(
      ({ method, secondPerson, alone }) => isUnsafe(method) && (secondPerson === null) === (alone === null),
    )
    expect(undeclared.map(({ operationId }) => operationId)).toEqual([])
  })

  test('that the rule covers has a request here', async () => {
    const world = await startWorld()
    try {
      expect(Object.keys(world.requests).sort()).toEqual(waiting.map(({ operationId }) => operationId).sort())
      expect(Object.keys(world.personal).sort()).toEqual([...PERSONAL].sort())
    } finally {
      await world.close()
    }
  })
})

test.each([
  [{ disabled: true }, 'nothing'],
  [{ disabled: false }, 'second-person'],
  [{ deployment_admin: true }, 'second-person'],
  [{ deployment_admin: false }, 'second-person'],
  [{ disabled: true, deployment_admin: true }, 'second-person'],
] as const)('a change of an account to %j needs %s', async (body, needs) => {
  const rule = covered.find(({ operationId }) => operationId === 'changeUser')?.secondPerson
  expect(await rule?.needs?.({} as never, { body } as never)).toBe(needs)
})

describe('where an account, a role or a link to an account is made', () => {
  /** Accounts whose own row, memberships, offers or links are new or changed. */
  const concerned = async ({ store }: World) => {
    const rows: [string, string][] = []
    for (const table of ['users', 'memberships', 'membership_offers', 'user_links']) {
      for (const row of await store.database.query<Record<string, unknown>>(`SELECT * FROM ${table}`)) {
        const text = JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
        rows.push([text, String(row[table === 'users' ? 'id' : 'user_id'])])
      }
    }
    return new Map(rows)
  }

  for (const by of [
    'a person',
    'a key of that person',
    'a key that replaced it',
    'a key that the key issued',
  ] as const) {
    test(`the maker is recorded: ${by}`, async () => {
      const seen: string[] = []
      for (const { operationId, method } of covered) {
        const world = await startWorld()
        try {
          const [path, { deployment = false, ...options }] = { ...world.requests, ...world.personal }[operationId] ?? [
            '',
            {},
          ]
          if (!/member|user/i.test(path)) continue
          const asker = deployment ? world.root : world.ada
          const issue = (as: CallOptions) =>
            world.call('POST', '/organizations/alpha/keys', { ...as, body: { name: 'k', kind: 'admin' } })
          const keyOf = async (): Promise<string> => {
            const { body } = await issue({ cookie: asker.cookie })
            const key = String(body['key'])
            if (by === 'a key of that person') return key
            if (by === 'a key that the key issued') return String((await issue({ key })).body['key'])
            const { id } = body['record'] as { id: string }
            const other = await world.call('POST', `/organizations/alpha/keys/${id}/regenerate`, {
              cookie: world.bob.cookie,
              body: {},
            })
            return String(other.body['key'])
          }
          const maker = by === 'a key that replaced it' ? world.bob : asker
          const as = by === 'a person' ? { cookie: asker.cookie } : { key: await keyOf() }
          const before = await concerned(world)
          const { status } = await world.call(method, path, { ...options, ...as })
          if (by !== 'a person' && status >= 400) continue
          expect([operationId, status < 300]).toEqual([operationId, true])
          const makers = async (userId: string) =>
            (await world.store.accountMakers.relations(world.alpha.id, [userId]))(userId).makers
          for (const [row, userId] of await concerned(world)) {
            if (before.has(row)) continue
            seen.push(operationId)
            expect([operationId, row, (await makers(userId)).has(maker.id)]).toEqual([operationId, row, true])
          }
        } finally {
          await world.close()
        }
      }
      const ofPeople = by === 'a person' ? ['addUser', 'changeUser'] : []
      const expected = ['addMember', 'changeMember', 'changeMemberOffer', 'inviteMemberAgain', 'renewMemberOffer']
      expect([...new Set(seen)].sort()).toEqual([...expected, ...ofPeople].sort())
    })
  }
})

test('the first key of an organization is that of whoever made the organization', async () => {
  const world = await startWorld()
  try {
    const { root, store, call } = world
    const body = { slug: 'gamma', name: 'Gamma', admin_key: true }
    const gamma = await call('POST', '/organizations', { cookie: root.cookie, body })
    const added = await call('POST', '/organizations/gamma/members', {
      key: String(gamma.body['admin_key']),
      body: { email: 'first@example.com', name: 'First', role: 'organization-admin' },
    })
    expect(added.status).toBe(201)
    const { id } = (await store.users.findByEmail('first@example.com')) ?? { id: '' }
    const relationsOf = await store.accountMakers.relations(gamma.body.id, [id])
    expect(relationsOf(id).makers.has(root.id)).toBe(true)
  } finally {
    await world.close()
  }
})

test('who gives a right that is there already, or takes it away, makes nobody', async () => {
  const world = await startWorld()
  try {
    const { ada, root, rita, rob, viewer, offered, store, alpha } = world
    const offers = (await store.membershipOffers.listOf(offered.id)).map(({ id }) => id)
    for (const [path, maker, body, userId] of [
      [`/users/${rita.id}`, root, { deployment_admin: true }, rita.id],
      [`/users/${rob.id}`, root, { deployment_admin: false }, rob.id],
      [`/users/${viewer.id}`, root, { deployment_admin: false }, viewer.id],
      [`/organizations/alpha/members/${viewer.id}`, ada, { role: 'viewer' }, viewer.id],
      [`/organizations/alpha/member-offers/${offers[0]}`, ada, { role: 'viewer' }, offered.id],
    ] as const) {
      expect([path, (await world.call('PATCH', path, { cookie: maker.cookie, body })).status]).toEqual([path, 200])
      const relationsOf = await store.accountMakers.relations(alpha.id, [userId])
      expect([path, relationsOf(userId).makers.has(maker.id)]).toEqual([path, false])
    }
  } finally {
    await world.close()
  }
})

describe('where the rule is on', () => {
  for (const operationId of PERSONAL) {
    test(`${operationId} is refused to a key, and to a person whose sign-in is old`, async () => {
      const world = await startWorld(operationId)
      try {
        await world.setRule(true)
        const [path, options] = world.personal[operationId] ?? ['', {}]
        const before = await world.state()
        expect((await world.call('POST', path, { ...options, key: world.alpha.key })).status).toBe(403)
        world.harness.clock.advance(301)
        const old = await world.call('POST', path, { ...options, cookie: world.ada.cookie })
        expect([old.status, old.body['code']]).toEqual([403, 'CONFIRMATION_REQUIRED'])
        expect(await world.state()).toBe(before)
      } finally {
        await world.close()
      }
    })
  }

  for (const { operationId, method } of waiting) {
    test(`${operationId} is refused to a key, waits, and is done when someone else approves`, async () => {
      const world = await startWorld(operationId)
      try {
        await world.setRule(true)
        await world.setDeploymentRule(true)
        const [path, { deployment = false, ...options }] = world.requests[operationId] ?? ['', {}]
        const [asker, approver] = deployment ? [world.root, world.rita] : [world.ada, world.bob]
        const ask = () => world.call(method, `${path}?comment=because`, { ...options, cookie: asker.cookie })
        const key = await world.harness.issueKey(
          world.alpha.id,
          'admin',
          deployment ? ['admin', 'deployment'] : ['admin'],
        )
        const before = await world.state()
        // Whoever holds a key can't be told from who asks with it.
        expect((await world.call(method, path, { ...options, key })).status).toBe(403)
        expect(await world.state()).toBe(before)

        const unwanted = await ask()
        expect((await world.decide(unwanted.body.id, false, approver, deployment)).body['state']).toBe('rejected')
        expect((await world.decide(unwanted.body.id, true, approver, deployment)).status).toBe(409)
        expect(await world.state()).toBe(before)

        const asked = await ask()
        expect([asked.status, asked.body['state'], asked.body['comment']]).toEqual([202, 'pending', 'because'])
        expect([asked.body['name'] === '', asked.body['changes']]).not.toEqual([true, []])
        expect(await world.state()).toBe(before)
        // The one who asked can't let it pass.
        expect((await world.decide(asked.body.id, true, asker, deployment)).status).toBe(409)
        expect(await world.state()).toBe(before)
        const approved = await world.decide(asked.body.id, true, approver, deployment)
        expect([approved.status, approved.body['state']]).toEqual([200, 'approved'])
        expect(await world.state()).not.toBe(before)
      } finally {
        await world.close()
      }
    })
  }
})
