// The attacked deployment: a service with two organizations, accounts of each role, keys of each kind, and a person's
// session in each organization. Each attack has its own client address, set by the trusted proxy.
import { randomBytes } from 'node:crypto'
import { createPeople } from '../dashboard/support/people.ts'
import { createVisitor } from '../portal/support/visitor.ts'
import { type RunningService, startAlone } from '../service/start-service.ts'

export const PASSWORD = 'nine violet herons waiting'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: attacks look into whatever was answered
  readonly body: any
}

export interface CallOptions {
  readonly key?: string
  readonly cookie?: string
  readonly body?: unknown
  /** Client address that the proxy reports. */
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Person {
  readonly id: string
  readonly email: string
  readonly cookie: string
}

export interface Tenant {
  readonly slug: string
  readonly id: string
  /** Text that occurs only in the tenant's data. */
  readonly canary: string
  readonly keys: { readonly admin: string; readonly attestation: string; readonly identity: string }
  readonly people: Readonly<Record<'organization-admin' | 'reviewer' | 'viewer', Person>>
  /** Values of this tenant by name of a path parameter or body member. Replaced after `renew`. */
  things: Readonly<Record<string, string>>
  /** The person's session on the verification page, with its link and cookie. */
  portal: { readonly sessionId: string; readonly link: string; readonly cookie: string }
}

export interface Deployment {
  readonly service: RunningService
  readonly ports: Readonly<Record<'api' | 'portal' | 'dashboard', number>>
  readonly urls: Readonly<Record<'api' | 'portal' | 'dashboard', string>>
  readonly deploymentKey: string
  readonly root: Person
  readonly alpha: Tenant
  readonly beta: Tenant
  /** Texts that must not occur in an answer or log line. */
  readonly secrets: ReadonlySet<string>
  /** Calls the admin API. With a cookie, the call is sent as a page sends it. */
  admin(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** @throws Error unless the call succeeds */
  must(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Calls the attestation and identity APIs. */
  api(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Creates an account by invitation. */
  invite(slug: string, adminKey: string, email: string, role: string): Promise<Person>
  /** Sets the password for a link. @returns the session cookie */
  welcome(url: string): Promise<string>
  /** Creates policies, lists, keys and other objects for routes that use them up. */
  renew(tenant: Tenant): Promise<void>
  /** Opens another session, follows its link and gives consent. */
  openSession(identityKey: string): Promise<Tenant['portal']>
}

const toAnswer = async (response: Response): Promise<Answer> => {
  const text = await response.text()
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  return { status: response.status, headers: response.headers, text, body }
}

const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0] ?? '')
    .join('; ')

export const policySource = (name: string): string =>
  `name: ${name}\ndefault: allow\nrules:\n  - id: dead\n    deny: wallet.address == address("0x000000000000000000000000000000000000dEaD")\n    code: DENIED\n    message: Denied.\n`

export const startDeployment = async (environment: Readonly<Record<string, string>> = {}): Promise<Deployment> => {
  const service = await startAlone({
    environment: {
      COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.1/32',
      COUNTERSIGN_STREAMS_PER_KEY_MAX: '20',
      COUNTERSIGN_WORKERS: '1',
      ...environment,
    },
  })
  const value = (name: string): string => service.quickstart[name] ?? ''
  const urls = { api: service.url, portal: value('PORTAL_URL'), dashboard: value('DASHBOARD_URL') }
  const portOf = (url: string): number => Number(new URL(url).port)
  const secrets = new Set<string>([PASSWORD])
  const remember = (text: string): string => {
    if (text.length >= 16) secrets.add(text)
    return text
  }
  let address = 0
  const nextAddress = (): string => `198.51.${100 + (++address >> 8)}.${address & 255}`

  const call = async (url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const { key, cookie, body, from, headers = {} } = options
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(method === 'GET' ? {} : { origin: url, 'sec-fetch-site': 'same-origin' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}`, 'x-api-key': key }),
        ...(cookie === undefined ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(from === undefined ? {} : { 'x-forwarded-for': from }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return toAnswer(response)
  }
  const admin: Deployment['admin'] = (method, path, options) =>
    call(urls.dashboard, method, `/admin/v1${path}`, options)
  const must: Deployment['must'] = async (method, path, options) => {
    const answer = await admin(method, path, options)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }

  const welcome = async (url: string, extra: object = {}): Promise<string> => {
    const token = url.split('#')[1] ?? ''
    const used = await must('POST', '/welcome', { body: { token, password: PASSWORD, ...extra }, from: nextAddress() })
    const cookie = cookieOf(used.headers)
    for (const pair of cookie.split('; ')) remember(pair.slice(pair.indexOf('=') + 1))
    return cookie
  }
  const invite: Deployment['invite'] = async (slug, adminKey, email, role) => {
    const body = { email, name: email.split('@')[0], role }
    const added = (await must('POST', `/organizations/${slug}/members`, { key: adminKey, body })).body
    return { id: added.member.user_id, email, cookie: await welcome(added.invitation.url) }
  }

  const openSession: Deployment['openSession'] = async (identityKey) => {
    const people = createPeople({ url: urls.api, quickstart: service.quickstart }, identityKey)
    const { sessionId, link } = await people.register('individual')
    const visitor = createVisitor(new URL(link).origin)
    await visitor.visit(link)
    await visitor.agree(sessionId)
    const cookie = [...visitor.cookies].map(([name, text]) => `${name}=${remember(text)}`).join('; ')
    remember(link.slice(link.lastIndexOf('/') + 1))
    return { sessionId, link, cookie }
  }

  let made = 0
  const renew: Deployment['renew'] = async (tenant) => {
    const { slug, canary, keys } = tenant
    const n = ++made
    const post = async (path: string, body: object) =>
      (await must('POST', `/organizations/${slug}${path}`, { key: keys.admin, body })).body
    const { policy } = await post('/policies', { source: policySource(`${canary} ${n}`) })
    const revision = await post(`/policies/${policy.id}/revisions`, { source: policySource(`${canary} ${n} b`) })
    await post(`/policies/${policy.id}/activate`, { revision_id: revision.id })
    const project = await post('/projects', { name: `${canary} ${n}`, policy_id: policy.id })
    const bound = `0x${randomBytes(20).toString('hex')}`
    const binding = await post('/bindings', { project_id: project.id, chain: 'base', address: bound })
    const list = `list_${slug}_${n}`
    await post('/lists', { name: list })
    const listed = `0x${randomBytes(20).toString('hex')}`
    await post(`/lists/${list}/entries`, { add: [{ address: listed, memo: canary }] })
    const key = await post('/keys', { name: canary, kind: 'attestation' })
    remember(key.key)
    const email = `${canary}-${n}@example.com`
    const member = await post('/members', { email, name: canary, role: 'viewer' })
    // An organization has at most 20 webhook endpoints.
    const previous = tenant.things['endpoint']
    if (previous !== undefined)
      await admin('DELETE', `/organizations/${slug}/webhooks/${previous}`, { key: keys.admin })
    const webhook = await post('/webhooks', { url: `https://${canary}.example/hook` })
    remember(webhook.secret ?? '')
    const attested = await call(urls.api, 'POST', '/v2/attestation', {
      key: keys.attestation,
      body: { from: `0x${'1'.repeat(40)}`, chain: 'base', verification_hash: project.verification_hash },
    })
    tenant.portal = await openSession(keys.identity)
    tenant.things = {
      organization: slug,
      organization_id: tenant.id,
      user: member.member.user_id,
      user_id: tenant.people.reviewer.id,
      policy: policy.id,
      policy_id: policy.id,
      revision: revision.id,
      revision_id: revision.id,
      from: `0x${'1'.repeat(40)}`,
      to: bound,
      project: project.id,
      project_id: project.id,
      verification_hash: project.verification_hash,
      binding: binding.id,
      list,
      address: listed,
      key: key.record.id,
      session: tenant.portal.sessionId,
      sessionId: tenant.portal.sessionId,
      document: 'evidence_0000000000000000',
      endpoint: webhook.endpoint.id,
      endpointId: webhook.endpoint.id,
      message: 'message_0000000000000000',
      uuid: attested.body?.attestation?.uuid ?? '',
      job: 'job_0000000000000000',
      approval: 'approval_0000000000000000',
      offer: 'offer_0000000000000000',
      passkey: 'passkey_0000000000000000',
      attester: 'attester_0000000000000000',
    }
  }

  const deploymentKey = remember(value('ADMIN_API_KEY'))
  for (const name of ['ATTESTATION_API_KEY', 'IDENTITY_API_KEY', 'IDENTITY_TEST_API_KEY']) remember(value(name))
  const firstToken = /^\s*http\S+\/welcome#(\S+)$/m.exec(service.output().stdout)?.[1] ?? ''
  const rootEmail = 'root@example.com'
  const rootCookie = await welcome(`#${firstToken}`, { name: 'Root', email: rootEmail })
  const users = (await must('GET', '/users', { cookie: rootCookie })).body
  const root = { id: users.data[0].id, email: rootEmail, cookie: rootCookie }

  const tenant = async (slug: string): Promise<Tenant> => {
    const canary = `${slug}-${randomBytes(6).toString('hex')}`
    const created = (
      await must('POST', '/organizations', { key: deploymentKey, body: { slug, name: slug, admin_key: true } })
    ).body
    const first = remember(created.admin_key)
    const issue = async (kind: string): Promise<string> => {
      const body = { name: kind, kind, rate_limit: null }
      return remember((await must('POST', `/organizations/${slug}/keys`, { key: first, body })).body.key)
    }
    const keys = {
      admin: await issue('admin'),
      attestation: await issue('attestation'),
      identity: await issue('identity'),
    }
    const person = (role: string) => invite(slug, keys.admin, `${role}@${slug}.example`, role)
    const people = {
      'organization-admin': await person('organization-admin'),
      reviewer: await person('reviewer'),
      viewer: await person('viewer'),
    }
    const portal = { sessionId: '', link: '', cookie: '' }
    const it: Tenant = { slug, id: created.id, canary, keys, people, things: {}, portal }
    await renew(it)
    return it
  }
  try {
    return {
      service,
      urls,
      deploymentKey,
      root,
      secrets,
      admin,
      must,
      invite,
      welcome,
      renew,
      openSession,
      ports: { api: portOf(urls.api), portal: portOf(urls.portal), dashboard: portOf(urls.dashboard) },
      alpha: await tenant('alpha'),
      beta: await tenant('beta'),
      api: (method, path, options) => call(urls.api, method, path, options),
    }
  } catch (error) {
    await service.stop()
    throw error
  }
}
