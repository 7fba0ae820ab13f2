// To touch a thing one needs at least the rights that it has: every operation of the route table that names a key, an
// account, a membership or an attester, by callers who may use the route and have fewer rights than the thing.
import { afterAll, describe, expect, test } from 'bun:test'
import { namedHolders, namedThings } from '../../src/admin/rights.ts'
import type { Route } from '../../src/admin/route.ts'
import { allKeys } from '../support/all-rows.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { startHarness } from './support/harness.ts'

interface Caller {
  readonly key?: string
  readonly cookie?: string
}

const harness = await startHarness()
afterAll(() => harness.close())
const alpha = await harness.organization('alpha')
// Attesters of which one can retire.
await harness.store.attesters.add({ kind: 'secp256k1', address: `0x${'f'.repeat(40)}`, keystoreFile: 'first.json' })
const person = (role: 'organization-admin' | 'reviewer' | 'viewer') =>
  harness.person({ email: `${role}@alpha.example`, roles: { [alpha.id]: role } })
const callers = {
  'plain key': { key: alpha.key },
  admin: await person('organization-admin'),
  reviewer: await person('reviewer'),
  viewer: await person('viewer'),
  'deployment key': { key: await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment']) },
  root: await harness.person({ email: 'root@example.com', deploymentAdmin: true }),
}
let made = 0

/** What has no rights of its own: the role that its route declares is all that it takes. */
const RIGHTLESS = [
  'approvals/{approval}',
  'bindings/{binding}',
  'decisions/{uuid}',
  'entries/{address}',
  'documents/{document}',
  'offers/{offer}',
  'openapi/{document}',
  'jobs/{job}',
  'lists/{hit}',
  'lists/{list}',
  'organizations/{organization}',
  'passkeys/{passkey}',
  'wallets/{wallet}',
  'policies/{policy}',
  'projects/{project}',
  'revisions/{revision}',
  'sessions/{session}',
  'webhook-messages/{message}',
  'webhooks/{endpoint}',
]

/** A new thing, and who has fewer rights than it though some routes that name it are open to them. */
const TARGETS: Readonly<
  Record<string, () => Promise<{ readonly id: string; readonly beneath: readonly (keyof typeof callers)[] }>>
> = {
  'keys/{key}': async () => {
    const key = await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment'])
    return { id: key.slice(9, 21), beneath: ['plain key', 'admin', 'reviewer', 'viewer'] }
  },
  'members/{user}': async () => {
    const email = `target-${++made}@example.com`
    const { id } = await harness.person({ email, deploymentAdmin: true, roles: { [alpha.id]: 'viewer' } })
    return { id, beneath: ['plain key', 'admin', 'reviewer', 'viewer'] }
  },
  'member-offers/{offer}': async () => {
    const { id: userId } = await harness.person({ email: `target-${++made}@example.com` })
    const id = await harness.store.membershipOffers.make(
      {
        organizationId: alpha.id,
        userId,
        role: 'organization-admin',
        askedBy: 'user:x',
        askedByName: 'x',
        expiresAtSeconds: harness.clock.unixSeconds() + 60,
      },
      crypto.getRandomValues(new Uint8Array(32)),
    )
    return { id, beneath: ['reviewer', 'viewer'] }
  },
  'users/{user}': async () => {
    const { id } = await harness.person({ email: `target-${++made}@example.com`, deploymentAdmin: true })
    return { id, beneath: ['plain key', 'admin', 'reviewer', 'viewer', 'deployment key'] }
  },
  'attesters/{attester}': async () => {
    const address = `0x${String(++made).padStart(40, '0')}`
    const { id } = await harness.store.attesters.add({ kind: 'secp256k1', address, keystoreFile: `${made}.json` })
    return { id, beneath: ['plain key', 'admin', 'reviewer', 'viewer'] }
  },
}

/** What each operation needs to be whole, so that nothing but the rights is wrong. */
const BODIES: Readonly<Record<string, object>> = {
  regenerateKey: { overlap_seconds: 0 },
  revokeKey: {},
  changeMember: { role: 'reviewer' },
  inviteMemberAgain: {},
  changeMemberOffer: { role: 'viewer' },
  renewMemberOffer: {},
  changeUser: { disabled: true },
  recoverUser: { remove_second_factors: true },
  retireAttester: { final: true },
}

const OPERATIONS = ADMIN_ROUTES.flatMap((route) => namedHolders(route.path).map((part) => ({ route, part })))

const send = (route: Route, part: string, id: string, { key, cookie }: Caller): Promise<Response> =>
  harness.request(
    route.method,
    route.path.replace('{organization}', 'alpha').replace(part, part.replace(/\{.*\}/, id)),
    {
      ...(key && { key }),
      ...(cookie && { cookie }),
      body: route.body === null ? undefined : BODIES[route.operationId],
    },
  )

const ALL = { after: null, limit: 200 }

const snapshot = async () => {
  const { store } = harness
  return {
    keys: (await allKeys(store, alpha.id)).map((key) => ({ ...key, lastUsedAtSeconds: null })),
    members: (await store.memberships.page(alpha.id, ALL)).items,
    users: (await store.users.page(ALL)).items,
    attesters: await store.attesters.list(),
    offers: await harness.store.database.query(
      'SELECT id, role, expires_at_seconds FROM membership_offers ORDER BY id',
    ),
    links: await store.database.query('SELECT user_id, purpose FROM user_links ORDER BY hash'),
    sessions: await store.database.query('SELECT id FROM user_sessions ORDER BY id'),
  }
}

describe('every operation that names a key, an account, a membership or an attester', () => {
  test('is known here, and every other thing in a path was decided to have no rights', () => {
    const named = new Set(ADMIN_ROUTES.flatMap(({ path }) => namedThings(path)))
    const known = new Set([...Object.keys(TARGETS), ...RIGHTLESS])
    expect([...named].filter((part) => !known.has(part))).toEqual([])
    expect([...known].filter((part) => !named.has(part))).toEqual([])
    expect(new Set(OPERATIONS.map(({ part }) => part))).toEqual(new Set(Object.keys(TARGETS)))
    expect(OPERATIONS.length).toBeGreaterThan(9)
  })

  test('has a body here where it takes one', () => {
    const bodied = OPERATIONS.filter(({ route }) => route.body !== null).map(({ route }) => route.operationId)
    expect(bodied.sort()).toEqual(Object.keys(BODIES).sort())
  })

  for (const { route, part } of OPERATIONS) {
    test(`${route.operationId}: refused to whoever has fewer rights than ${part}, and nothing changes`, async () => {
      const target = await (TARGETS[part] as NonNullable<(typeof TARGETS)[string]>)()
      const before = await snapshot()
      for (const name of target.beneath) {
        const response = await send(route, part, target.id, callers[name])
        expect([name, response.status]).toEqual([name, 403])
      }
      expect(await snapshot()).toEqual(before)
      // And to whoever has them it is not: 409 is for what can't be done to such a thing at all.
      const { status } = await send(route, part, target.id, callers.root)
      expect([200, 201, 204, 409]).toContain(status)
    })
  }
})

describe('a key', () => {
  const list = async (caller: Caller): Promise<string[]> => {
    const path = '/organizations/alpha/keys?limit=200'
    return (await harness.call<{ data: { id: string }[] }>('GET', path, caller)).body.data.map(({ id }) => id)
  }

  /** Asks for a key's end; between the gate and the change something else happens. The key works afterwards. */
  const revokeInterrupted = async (caller: Caller, meanwhile: () => Promise<unknown>): Promise<number> => {
    const { id } = await (TARGETS['keys/{key}'] as NonNullable<(typeof TARGETS)[string]>)()
    const { store } = harness
    const { transaction } = store
    const interrupted: typeof transaction = async (work, options) => {
      Object.assign(store, { transaction })
      await meanwhile()
      return transaction(work, options)
    }
    Object.assign(store, { transaction: interrupted })
    const { status } = await harness.request('POST', `/organizations/alpha/keys/${id}/revoke`, { ...caller, body: {} })
    expect((await store.apiKeys.find(alpha.id, id))?.revokedAtSeconds).toBeNull()
    return status
  }

  test('of which a caller may not read one by one is in no list either', async () => {
    const issue = async (kind: 'attestation' | 'admin', scopes?: readonly ('admin' | 'deployment')[]) =>
      (await harness.issueKey(alpha.id, kind, scopes)).slice(9, 21)
    const plain = await issue('attestation')
    const admin = await issue('admin')
    const deployment = await issue('admin', ['admin', 'deployment'])
    const seen = async (caller: Caller) => {
      const ids = await list(caller)
      const one = async (id: string) =>
        (await harness.request('GET', `/organizations/alpha/keys/${id}`, { ...caller })).status === 200
      const listed = [plain, admin, deployment].map((id) => ids.includes(id))
      expect(listed).toEqual([await one(plain), await one(admin), await one(deployment)])
      return listed
    }
    for (const caller of [callers.viewer, callers.reviewer]) expect(await seen(caller)).toEqual([true, false, false])
    for (const caller of [callers.admin, callers['plain key']]) expect(await seen(caller)).toEqual([true, true, false])
    for (const caller of [callers['deployment key'], callers.root])
      expect(await seen(caller)).toEqual([true, true, true])
  })

  test('is not made with an end that has passed', async () => {
    const { clock } = harness
    const make = async (seconds: number): Promise<number> => {
      const body = { name: 'x', kind: 'attestation', expires_at: new Date(seconds * 1_000).toISOString() }
      return (await harness.request('POST', '/organizations/alpha/keys', { ...callers.admin, body })).status
    }
    expect(await make(clock.unixSeconds())).toBe(400)
    expect(await make(clock.unixSeconds() + 1)).toBe(201)
  })

  test('for tests is not an admin key, which would have all live rights', async () => {
    const statuses = ['attestation', 'identity', 'admin'].map(async (kind) => {
      const body = { name: 'x', kind, environment: 'test' }
      return (await harness.request('POST', '/organizations/alpha/keys', { ...callers.admin, body })).status
    })
    expect(await Promise.all(statuses)).toEqual([201, 201, 400])
  })

  test('is judged by what the caller may do when the change is made, not when the request came', async () => {
    const second = await harness.person({ email: 'second@example.com', deploymentAdmin: true })
    // Another administrator takes the deployment away.
    const status = await revokeInterrupted(second, async () => {
      await harness.store.users.setDeploymentAdmin(second.id, false)
      await harness.store.memberships.add(alpha.id, second.id, 'organization-admin')
    })
    expect(status).toBe(403)
  })

  test('is touched by no key that was revoked, and by no account that was disabled, since the request came', async () => {
    const key = await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment'])
    expect(await revokeInterrupted({ key }, () => harness.store.apiKeys.revoke(alpha.id, key.slice(9, 21)))).toBe(401)
    const third = await harness.person({ email: 'third@example.com', deploymentAdmin: true })
    expect(await revokeInterrupted(third, () => harness.store.users.setDisabled(third.id, true))).toBe(401)
  })
})
