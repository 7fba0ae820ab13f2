// Permissions that are lost during a request. The change is not made, whether the sender delays the end of the body or
// the permission is lost between the admission and the transaction.
import { describe, expect, test } from 'bun:test'
import { readmit } from '../../src/admin/gate.ts'
import { isUnsafe, type Route } from '../../src/admin/route.ts'
import { closed } from '../../src/admin/schema.ts'
import { systemClock } from '../../src/lib/time.ts'
import { ADMIN_ROUTES, pathIn, routeOf } from './support/all-routes.ts'
import { harnessOfFile, type Person } from './support/harness.ts'
import { textFile, toRequest } from './support/request.ts'

const harness = await harnessOfFile()
const { store } = harness
const alpha = await harness.organization('alpha')
let accounts = 0

const CHANGES = ADMIN_ROUTES.filter(
  ({ method, access }) => isUnsafe(method) && access.kind !== 'public' && access.kind !== 'second-factor',
).map((route) => [route.operationId, route] as const)

const createAdmin = (): Promise<Person> => harness.member(alpha, `admin-${++accounts}`)
const callerFor = ({ access }: Route): Promise<Person> =>
  access.kind === 'deployment'
    ? harness.person({ email: `root-${++accounts}@example.com`, deploymentAdmin: true })
    : createAdmin()

/** Runs `end` between the admission and the transaction of a request. */
const interrupted = async (
  route: Route,
  { cookie, key }: { readonly cookie?: string; readonly key?: string },
  end: () => Promise<unknown>,
) => {
  let changed = false
  const api = harness.apiOver([
    {
      ...route,
      query: null,
      body: null,
      rawBody: [],
      secondPerson: null,
      needsFresh: () => false,
      handle: async ({ write }) => {
        await end()
        await write(async () => {
          changed = true
        })
        return undefined
      },
    },
  ])
  const options = { ...(cookie && { cookie }), ...(key && { key }) }
  const { status } = await api(toRequest(route.method, pathIn('alpha', route), options))
  return { status, changed }
}

/** A request whose body is sent in parts. Runs `before` before the last part. */
const withParts = (request: Request, parts: readonly string[], before: () => Promise<unknown>): Request => {
  const rest = [...parts]
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const part = rest.shift()
      if (part === undefined) return controller.close()
      if (rest.length === 0) await before()
      controller.enqueue(new TextEncoder().encode(part))
    },
  })
  return new Request(request.url, { method: request.method, headers: request.headers, body })
}

describe('between the admission and the transaction', () => {
  test('a change fails if its organization cannot be locked', async () => {
    const organizations = { ...store.organizations, lock: () => Promise.reject(new Error('locked')) }
    const caller = { actor: null, organization: await store.organizations.find(alpha.id) }
    expect(caller.organization).not.toBeNull()
    const { access } = routeOf('issueKey')
    await expect(readmit({ ...store, organizations }, systemClock, access, caller)).rejects.toThrow('locked')
  })

  test.each(CHANGES)('%s is refused if the account is disabled', async (_, route) => {
    const caller = await callerFor(route)
    expect(await interrupted(route, caller, async () => undefined)).toMatchObject({ changed: true })
    const disable = () => store.users.setDisabled(caller.id, true)
    expect(await interrupted(route, caller, disable)).toEqual({ status: 401, changed: false })
  })

  test.each<[string, number, string, (id: string) => Promise<unknown>]>([
    ['the membership ends', 404, 'issueKey', (id) => store.memberships.remove(alpha.id, id)],
    ['the role is lowered', 403, 'issueKey', (id) => store.memberships.setRole(alpha.id, id, 'reviewer')],
    ['all sessions end', 401, 'issueKey', (id) => store.userSessions.endAll(id)],
    ['the deployment admin is demoted', 403, 'createOrganization', (id) => store.users.setDeploymentAdmin(id, false)],
    [
      'a second factor is required',
      403,
      'issueKey',
      () => store.organizationSettings.requireSecondFactor(alpha.id, true),
    ],
    [
      'the session is replaced by another session',
      401,
      'issueKey',
      async (id) => {
        await store.userSessions.endAll(id)
        await harness.signIn(id)
      },
    ],
  ])('a change is refused if %s: %i', async (_, status, operationId, end) => {
    const route = routeOf(operationId)
    const caller = await callerFor(route)
    expect(await interrupted(route, caller, () => end(caller.id))).toEqual({ status, changed: false })
    await store.organizationSettings.requireSecondFactor(alpha.id, false)
  })

  test.each(['issueKey', 'createOrganization', 'refreshListSource'])(
    '%s is refused if the key is revoked',
    async (operationId) => {
      const key = await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment'])
      const revoke = () => store.apiKeys.revoke(alpha.id, key.slice(9, 21))
      const route = routeOf(operationId)
      expect(await interrupted(route, { key }, async () => undefined)).toMatchObject({ changed: true })
      expect(await interrupted(route, { key }, revoke)).toEqual({ status: 401, changed: false })
    },
  )
})

describe('while the sender delays the end of the body', () => {
  test.each(CHANGES.filter(([, { body }]) => body !== null))(
    '%s is refused if the account is disabled',
    async (_, route) => {
      const caller = await callerFor(route)
      let handled = 0
      const handle = async (): Promise<undefined> => {
        handled += 1
      }
      const api = harness.apiOver([{ ...route, body: closed({}), query: null, needsFresh: () => false, handle }])
      const request = toRequest(route.method, pathIn('alpha', route), { cookie: caller.cookie, body: {} })
      const send = (before: () => Promise<unknown>) => api(withParts(request, ['{', '}'], before))
      await send(async () => undefined)
      expect(handled).toBe(1)
      const { status } = await send(() => store.users.setDisabled(caller.id, true))
      expect([status, handled]).toEqual([401, 1])
    },
  )

  test('a list is neither created nor filled', async () => {
    const { id, cookie } = await createAdmin()
    const request = toRequest('PUT', '/organizations/alpha/lists/allow/content', { ...textFile(''), cookie })
    const parts = [`0x${'1'.repeat(40)}\n`, `0x${'2'.repeat(40)}\n`]
    const response = await harness.api(withParts(request, parts, () => store.memberships.remove(alpha.id, id)))
    expect(response.status).toBe(401)
    expect(await store.lists.find(alpha.id, 'allow')).toBeNull()
  })
})

test.each(['/lists/deny/content', '/audit/export?format=csv', '/audit/export?format=ndjson'])(
  'the download of %s is aborted if the permissions are lost',
  async (path) => {
    const admin = await createAdmin()
    const rows = Array.from({ length: 1_700 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}\n`).join('')
    await harness.api(toRequest('PUT', '/organizations/alpha/lists/deny/content', { ...admin, ...textFile(rows) }))
    const entry = { organizationId: alpha.id, actor: 'service', actorName: '', action: 'key.issue', detail: {} }
    await store.transaction(async ({ audit }) => {
      for (let n = 0; n < 600; n++) await audit.append({ ...entry, subject: `${n}`, requestId: '', address: '' })
    })
    const download = async ({ cookie }: Person) => {
      const response = await harness.api(toRequest('GET', `/organizations/alpha${path}`, { cookie }))
      expect(response.status).toBe(200)
      return response
    }
    const whole = (await (await download(admin)).text()).length
    for (const [name, end] of [
      ['disabled', (id: string) => store.users.setDisabled(id, true)],
      ['no member', (id: string) => store.memberships.remove(alpha.id, id)],
      ['no session', (id: string) => store.userSessions.endAll(id)],
    ] as const) {
      const caller = await createAdmin()
      const reader = (await download(caller)).body?.getReader()
      const first = await reader?.read()
      expect([name, first?.done, (first?.value?.length ?? 0) < whole]).toEqual([name, false, true])
      await end(caller.id)
      await expect(reader?.read()).rejects.toThrow()
    }
  },
)
