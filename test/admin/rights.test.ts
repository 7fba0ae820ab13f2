// The permissions of resources: each operation on a key, an account, a membership or an attester is refused to callers with
// fewer permissions than the resource, even if they may use the route.
import { describe, expect, test } from 'bun:test'
import { namedHolders, namedThings } from '../../src/admin/rights.ts'
import type { Route } from '../../src/admin/route.ts'
import { allKeys } from '../support/all-rows.ts'
import { words } from '../support/words.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { harnessOfFile } from './support/harness.ts'

interface Caller {
  readonly key?: string
  readonly cookie?: string
}

const harness = await harnessOfFile()
const { store } = harness
const alpha = await harness.organization('alpha')
// An attester can be retired only if another one is active.
await store.attesters.add({ kind: 'secp256k1', address: `0x${'f'.repeat(40)}`, keystoreFile: 'first.json' })
const callers = {
  'plain key': { key: alpha.key },
  admin: await harness.member(alpha, 'admin'),
  reviewer: await harness.member(alpha, 'reviewer', 'reviewer'),
  viewer: await harness.member(alpha, 'viewer', 'viewer'),
  'deployment key': { key: await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment']) },
  root: await harness.person({ email: 'root@example.com', deploymentAdmin: true }),
}
let targets = 0

/** Resources without permissions, for which the role of the route is sufficient. */
const WITHOUT_PERMISSIONS = words`
  approvals/{approval} bindings/{binding} decisions/{uuid} entries/{address} documents/{document} offers/{offer}
  openapi/{document} jobs/{job} lists/{hit} lists/{list} organizations/{organization} passkeys/{passkey}
  wallets/{wallet} policies/{policy} projects/{project} revisions/{revision} sessions/{session}
  webhook-messages/{message} webhooks/{endpoint}
`

interface Target {
  readonly id: string
  /** Callers with fewer permissions. */
  readonly refused: readonly (keyof typeof callers)[]
}
const OF_ORGANIZATION = ['plain key', 'admin', 'reviewer', 'viewer'] as const

const createKey = async (): Promise<Target> => {
  const key = await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment'])
  return { id: key.slice(9, 21), refused: OF_ORGANIZATION }
}
const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  'keys/{key}': createKey,
  'members/{user}': async () => {
    const email = `target-${++targets}@example.com`
    const { id } = await harness.person({ email, deploymentAdmin: true, roles: { [alpha.id]: 'viewer' } })
    return { id, refused: OF_ORGANIZATION }
  },
  'member-offers/{offer}': async () => {
    const { id: userId } = await harness.person({ email: `target-${++targets}@example.com` })
    const offer = {
      organizationId: alpha.id,
      userId,
      role: 'organization-admin',
      askedBy: 'user:x',
      askedByName: 'x',
      expiresAtSeconds: harness.clock.unixSeconds() + 60,
    } as const
    const id = await store.membershipOffers.make(offer, crypto.getRandomValues(new Uint8Array(32)))
    return { id, refused: ['reviewer', 'viewer'] }
  },
  'users/{user}': async () => {
    const { id } = await harness.person({ email: `target-${++targets}@example.com`, deploymentAdmin: true })
    return { id, refused: [...OF_ORGANIZATION, 'deployment key'] }
  },
  'attesters/{attester}': async () => {
    const address = `0x${String(++targets).padStart(40, '0')}`
    const { id } = await store.attesters.add({ kind: 'secp256k1', address, keystoreFile: `${targets}.json` })
    return { id, refused: OF_ORGANIZATION }
  },
}

/** A valid body for each operation. */
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

const OPERATIONS = ADMIN_ROUTES.flatMap((route) =>
  namedHolders(route.path).map((part) => [route.operationId, part, route] as const),
)

const send = (route: Route, part: string, id: string, { key, cookie }: Caller): Promise<number> =>
  harness.status(
    route.method,
    route.path.replace('{organization}', 'alpha').replace(part, part.replace(/\{.*\}/, id)),
    {
      ...(key && { key }),
      ...(cookie && { cookie }),
      body: route.body === null ? undefined : BODIES[route.operationId],
    },
  )

const snapshot = async () => {
  const all = { after: null, limit: 200 }
  return [
    (await allKeys(store, alpha.id)).map((key) => ({ ...key, lastUsedAtSeconds: null })),
    (await store.memberships.page(alpha.id, all)).items,
    (await store.users.page(all)).items,
    await store.attesters.list(),
    await store.database.query('SELECT id, role, expires_at_seconds FROM membership_offers ORDER BY id'),
    await store.database.query('SELECT user_id, purpose FROM user_links ORDER BY hash'),
    await store.database.query('SELECT id FROM user_sessions ORDER BY id'),
  ]
}

describe('the operations on resources with permissions', () => {
  test('are listed in this test, and all other resources in paths have no permissions', () => {
    const named = new Set(ADMIN_ROUTES.flatMap(({ path }) => namedThings(path)))
    expect([...named].sort()).toEqual([...Object.keys(TARGETS), ...WITHOUT_PERMISSIONS].sort())
    expect(new Set(OPERATIONS.map(([, part]) => part))).toEqual(new Set(Object.keys(TARGETS)))
    const withBody = OPERATIONS.filter(([, , { body }]) => body !== null).map(([operationId]) => operationId)
    expect(withBody.sort()).toEqual(Object.keys(BODIES).sort())
    expect(OPERATIONS.length).toBeGreaterThan(9)
  })

  test.each(OPERATIONS)('%s is refused to callers with fewer permissions than %s', async (_, part, route) => {
    const { id, refused } = await TARGETS[part]!()
    const before = await snapshot()
    for (const name of refused) expect([name, await send(route, part, id, callers[name])]).toEqual([name, 403])
    expect(await snapshot()).toEqual(before)
    // A caller with the permissions gets 409 if the operation is impossible for the resource.
    expect([200, 201, 204, 409]).toContain(await send(route, part, id, callers.root))
  })
})

describe('a key', () => {
  const KEYS = '/organizations/alpha/keys'

  /** Revokes a key. Runs `meanwhile` between the gate and the transaction; returns the status. */
  const revokeInterrupted = async (caller: Caller, meanwhile: () => Promise<unknown>): Promise<number> => {
    const { id } = await createKey()
    const { transaction } = store
    const interrupted: typeof transaction = async (work, options) => {
      Object.assign(store, { transaction })
      await meanwhile()
      return transaction(work, options)
    }
    Object.assign(store, { transaction: interrupted })
    const status = await harness.status('POST', `${KEYS}/${id}/revoke`, { ...caller, body: {} })
    expect((await store.apiKeys.find(alpha.id, id))?.revokedAtSeconds).toBeNull()
    return status
  }

  test('appears only in lists of callers who may read it', async () => {
    const ids = await Promise.all(
      [
        harness.issueKey(alpha.id, 'attestation'),
        harness.issueKey(alpha.id, 'admin'),
        harness.issueKey(alpha.id, 'admin', ['admin', 'deployment']),
      ].map(async (key) => (await key).slice(9, 21)),
    )
    for (const [name, expected] of [
      ['viewer', [true, false, false]],
      ['reviewer', [true, false, false]],
      ['admin', [true, true, false]],
      ['plain key', [true, true, false]],
      ['deployment key', [true, true, true]],
      ['root', [true, true, true]],
    ] as const) {
      const caller: Caller = callers[name]
      const { body } = await harness.call<{ data: { id: string }[] }>('GET', `${KEYS}?limit=200`, caller)
      const listed = ids.map((id) => body.data.some((key) => key.id === id))
      const read = await Promise.all(
        ids.map(async (id) => (await harness.status('GET', `${KEYS}/${id}`, caller)) === 200),
      )
      expect([name, listed, read]).toEqual([name, [...expected], [...expected]])
    }
  })

  test('cannot have an expiration time in the past', async () => {
    for (const [seconds, status] of [
      [0, 400],
      [1, 201],
    ] as const) {
      const expires_at = new Date((harness.clock.unixSeconds() + seconds) * 1_000).toISOString()
      const body = { name: 'x', kind: 'attestation', expires_at }
      expect(await harness.status('POST', KEYS, { ...callers.admin, body })).toBe(status)
    }
  })

  test.each([
    ['attestation', 201],
    ['identity', 201],
    // It would have all permissions of the live environment.
    ['admin', 400],
  ])('of the test environment and the kind %s: %i', async (kind, status) => {
    const body = { name: 'x', kind, environment: 'test' }
    expect(await harness.status('POST', KEYS, { ...callers.admin, body })).toBe(status)
  })

  test('cannot be changed by a caller who loses the permissions during the request', async () => {
    const createRoot = (name: string) => harness.person({ email: `${name}@example.com`, deploymentAdmin: true })
    const demoted = await createRoot('demoted')
    const demote = async () => {
      await store.users.setDeploymentAdmin(demoted.id, false)
      await store.memberships.add(alpha.id, demoted.id, 'organization-admin')
    }
    expect(await revokeInterrupted(demoted, demote)).toBe(403)
    const key = await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment'])
    expect(await revokeInterrupted({ key }, () => store.apiKeys.revoke(alpha.id, key.slice(9, 21)))).toBe(401)
    const disabled = await createRoot('disabled')
    expect(await revokeInterrupted(disabled, () => store.users.setDisabled(disabled.id, true))).toBe(401)
  })
})
