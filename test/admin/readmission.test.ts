// Whoever loses the right to change something while their request is under way changes nothing: not where the sender
// withholds the end of the body, and not where the right is lost between the admission and the transaction.
import { afterAll, describe, expect, test } from 'bun:test'
import { readmit } from '../../src/admin/gate.ts'
import { isUnsafe, type Route } from '../../src/admin/route.ts'
import { closed } from '../../src/admin/schema.ts'
import { systemClock } from '../../src/lib/time.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { startHarness } from './support/harness.ts'
import { toRequest } from './support/request.ts'

const harness = await startHarness()
afterAll(() => harness.close())
const { store } = harness
const alpha = await harness.organization('alpha')
let made = 0

const pathOf = (route: Route): string => route.path.replace('{organization}', 'alpha').replace(/\{.*?\}/g, 'x')
const CHANGES = ADMIN_ROUTES.filter(
  ({ method, access }) => isUnsafe(method) && access.kind !== 'public' && access.kind !== 'second-factor',
)

interface Caller {
  readonly id: string
  readonly cookie?: string
  readonly key?: string
}

const callerOf = (deploymentAdmin: boolean): Promise<Caller> =>
  harness.person({
    email: `person-${++made}@example.com`,
    deploymentAdmin,
    roles: deploymentAdmin ? {} : { [alpha.id]: 'organization-admin' },
  })
const callerFor = ({ access }: Route): Promise<Caller> => callerOf(access.kind === 'deployment')

/** Answers of a request whose right ends between its admission and its change; and whether the change was made. */
const interrupted = async (route: Route, { cookie, key }: Caller, end: () => Promise<unknown>) => {
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
  const response = await api(toRequest(route.method, pathOf(route), { ...(cookie && { cookie }), ...(key && { key }) }))
  return { status: response.status, changed }
}

const operation = (operationId: string): Route => {
  const found = ADMIN_ROUTES.find((route) => route.operationId === operationId)
  if (found === undefined) throw new Error(operationId)
  return found
}

describe('between the admission and the transaction', () => {
  test('a change fails if its organization cannot be locked', async () => {
    const organizations = { ...store.organizations, lock: () => Promise.reject(new Error('locked')) }
    const { access } = operation('issueKey')
    const caller = { actor: null, organization: await store.organizations.find(alpha.id) }
    expect(caller.organization).not.toBeNull()
    await expect(readmit({ ...store, organizations }, systemClock, access, caller)).rejects.toThrow('locked')
  })

  test.each(CHANGES.map((route) => [route.operationId, route] as const))(
    '%s: an account is disabled',
    async (_, route) => {
      const caller = await callerFor(route)
      expect(await interrupted(route, caller, async () => undefined)).toMatchObject({ changed: true })
      expect(await interrupted(route, caller, () => store.users.setDisabled(caller.id, true))).toEqual({
        status: 401,
        changed: false,
      })
    },
  )

  test.each<[string, number, string, (id: string) => Promise<unknown>]>([
    ['a membership ends', 404, 'issueKey', (id) => store.memberships.remove(alpha.id, id)],
    ['a role is lowered', 403, 'issueKey', (id) => store.memberships.setRole(alpha.id, id, 'reviewer')],
    ['all sessions are ended', 401, 'issueKey', (id) => store.userSessions.endAll(id)],
    ['the deployment is taken away', 403, 'createOrganization', (id) => store.users.setDeploymentAdmin(id, false)],
    [
      'a second factor is required',
      403,
      'issueKey',
      () => store.organizationSettings.requireSecondFactor(alpha.id, true),
    ],
  ])('%s: %i', async (_, status, operationId, end) => {
    const route = operation(operationId)
    const caller = await callerFor(route)
    expect(await interrupted(route, caller, () => end(caller.id))).toEqual({ status, changed: false })
    await store.organizationSettings.requireSecondFactor(alpha.id, false)
  })

  test('another session of the account does not help', async () => {
    const caller = await callerOf(false)
    const ended = await interrupted(operation('issueKey'), caller, async () => {
      await store.userSessions.endAll(caller.id)
      await harness.signIn(caller.id)
    })
    expect(ended).toEqual({ status: 401, changed: false })
  })

  test.each(['issueKey', 'createOrganization', 'refreshListSource'])('%s: a key is revoked', async (operationId) => {
    const key = await harness.issueKey(alpha.id, 'admin', ['admin', 'deployment'])
    const revoke = () => store.apiKeys.revoke(alpha.id, key.slice(9, 21))
    const route = operation(operationId)
    expect(await interrupted(route, { id: '', key }, async () => undefined)).toMatchObject({ changed: true })
    expect(await interrupted(route, { id: '', key }, revoke)).toEqual({ status: 401, changed: false })
  })
})

describe('while the sender withholds the end of the body', () => {
  test.each(CHANGES.filter(({ body }) => body !== null).map((route) => [route.operationId, route] as const))(
    '%s: an account is disabled',
    async (_, route) => {
      const caller = await callerFor(route)
      let handled = 0
      const api = harness.apiOver([
        {
          ...route,
          body: closed({}),
          query: null,
          needsFresh: () => false,
          handle: async () => {
            handled += 1
            return undefined
          },
        },
      ])
      const send = (before: () => Promise<unknown>): Promise<Response> => {
        const parts = ['{', '}']
        const body = new ReadableStream<Uint8Array>({
          pull: async (controller) => {
            const part = parts.shift()
            if (part === undefined) return controller.close()
            if (parts.length === 0) await before()
            controller.enqueue(new TextEncoder().encode(part))
          },
        })
        const whole = toRequest(route.method, pathOf(route), { cookie: caller.cookie ?? '', body: {} })
        return api(new Request(whole.url, { method: whole.method, headers: whole.headers, body }))
      }
      await send(async () => undefined)
      expect(handled).toBe(1)
      const response = await send(() => store.users.setDisabled(caller.id, true))
      expect([response.status, handled]).toEqual([401, 1])
    },
  )

  test('a list is neither made nor filled', async () => {
    const caller = await callerOf(false)
    const parts = [`0x${'1'.repeat(40)}\n`, `0x${'2'.repeat(40)}\n`]
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const part = parts.shift()
        if (part === undefined) return controller.close()
        if (parts.length === 0) await store.memberships.remove(alpha.id, caller.id)
        controller.enqueue(new TextEncoder().encode(part))
      },
    })
    const headers = { 'content-type': 'text/plain' }
    const whole = toRequest('PUT', '/organizations/alpha/lists/allow/content', { cookie: caller.cookie ?? '', headers })
    const response = await harness.api(new Request(whole.url, { method: 'PUT', headers: whole.headers, body }))
    expect(response.status).toBe(401)
    expect(await store.lists.find(alpha.id, 'allow')).toBeNull()
  })
})

describe('while a download is received', () => {
  const ends: [string, (id: string) => Promise<unknown>][] = [
    ['the account is disabled', (id) => store.users.setDisabled(id, true)],
    ['the membership ends', (id) => store.memberships.remove(alpha.id, id)],
    ['its sessions are ended', (id) => store.userSessions.endAll(id)],
  ]
  test.each(['/lists/deny/content', '/audit/export?format=csv', '/audit/export?format=ndjson'])(
    '%s: the rest is not sent after a loss of rights',
    async (path) => {
      const admin = await callerOf(false)
      const rows = Array.from({ length: 1_700 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}\n`).join('')
      const upload = toRequest('PUT', '/organizations/alpha/lists/deny/content', {
        cookie: admin.cookie ?? '',
        headers: { 'content-type': 'text/plain' },
      })
      await harness.api(new Request(upload.url, { method: 'PUT', headers: upload.headers, body: rows }))
      await store.transaction(async ({ audit }) => {
        for (let n = 0; n < 600; n++)
          await audit.append({
            organizationId: alpha.id,
            actor: 'service',
            actorName: '',
            action: 'key.issue',
            subject: `${n}`,
            detail: {},
            requestId: '',
            address: '',
          })
      })
      const download = async (cookie: string) => {
        const response = await harness.api(toRequest('GET', `/organizations/alpha${path}`, { cookie }))
        expect(response.status).toBe(200)
        return response
      }
      const whole = (await (await download(admin.cookie ?? '')).text()).length
      for (const [name, end] of ends) {
        const caller = await callerOf(false)
        const reader = (await download(caller.cookie ?? '')).body?.getReader()
        const first = await reader?.read()
        expect([name, first?.done, (first?.value?.length ?? 0) < whole]).toEqual([name, false, true])
        await end(caller.id)
        await expect(reader?.read()).rejects.toThrow()
      }
    },
  )
})
