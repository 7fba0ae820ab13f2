// Attacks on accounts, keys and rights.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { hotp, totpStep } from '../../src/admin/accounts/totp.ts'
import { PERSON_RATE_LIMIT } from '../../src/admin/gate.ts'
import { ADMIN_ROUTES } from '../admin/support/all-routes.ts'
import { decodeBase32 } from '../admin/support/base32.ts'
import { runCountersign } from '../service/run-to-end.ts'
import { until } from '../support/until.ts'
import type { Abuse } from './abuse.ts'
import { type Answer, type Deployment, PASSWORD, policySource } from './deployment.ts'

const cookieOf = (answer: Answer): string =>
  answer.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0] ?? '')
    .join('; ')

const signIn = ({ admin }: Deployment, email: string, from: string, password = PASSWORD, cookie?: string) =>
  admin('POST', '/sign-in', { body: { email, password }, from, ...(cookie === undefined ? {} : { cookie }) })

/** A person of an organization of their own, whom other attacks do not meet. */
export const bystander = async (deployment: Deployment, slug: string) => {
  const { must, deploymentKey, invite } = deployment
  const created = await must('POST', '/organizations', {
    key: deploymentKey,
    body: { slug, name: slug, admin_key: true },
  })
  const key: string = created.body.admin_key
  return { key, slug, person: await invite(slug, key, `admin@${slug}.example`, 'organization-admin') }
}

/** Requests at once that a service under load answers within its deadline. */
const AT_ONCE = 20
/** The same where each costs a password's hash: two are made at a time. */
const HASHED_AT_ONCE = 4

/** A listener on this machine that counts who connects. */
const listenInside = () => {
  let opened = 0
  const listener = Bun.listen({
    hostname: 'localhost',
    port: 0,
    socket: {
      open: (socket) => {
        opened += 1
        socket.end()
      },
      data: () => undefined,
    },
  })
  return { connections: () => opened, port: listener.port, stop: () => listener.stop(true) }
}

export const ACCOUNT_ABUSES: readonly Abuse[] = [
  {
    row: 33,
    name: 'invite-taken-address',
    mustHappen: 'no link, no name, no membership for addresses that others invited or that have an account',
    run: async ({ admin, must, alpha, beta, root }, faults) => {
      const invited = 'waits@beta.example'
      await must('POST', '/organizations/beta/members', {
        key: beta.keys.admin,
        body: { email: invited, name: 'Hidden Name', role: 'viewer' },
      })
      for (const email of [invited, root.email, beta.people.viewer.email]) {
        const answer = await admin('POST', '/organizations/alpha/members', {
          key: alpha.keys.admin,
          body: { email, name: 'Mallory', role: 'viewer' },
        })
        faults.status(email, answer, 201)
        faults.holds(`${email}: a link to the account`, answer.body?.invitation == null && answer.body?.member == null)
        faults.silent(email, answer, 'Hidden Name', root.id, beta.people.viewer.id)
      }
      const members = await admin('GET', '/organizations/alpha/members?limit=200', { key: alpha.keys.admin })
      faults.silent('members', members, invited, root.email, beta.people.viewer.email)
    },
  },
  {
    row: 23,
    name: 'plain-key-becomes-deployment-key',
    mustHappen: '403 for issuing, renewing and ending what has more rights than the caller',
    run: async ({ admin, must, alpha, root }, faults) => {
      const { body } = await must('POST', '/organizations/alpha/keys', {
        cookie: root.cookie,
        body: { name: 'deployment', kind: 'admin', deployment: true },
      })
      const id: string = body.record.id
      for (const caller of [{ key: alpha.keys.admin }, { cookie: alpha.people['organization-admin'].cookie }]) {
        const post = (path: string, sent: object) => admin('POST', path, { ...caller, body: sent })
        faults.status('regenerate', await post(`/organizations/alpha/keys/${id}/regenerate`, {}), 403)
        faults.status('revoke', await post(`/organizations/alpha/keys/${id}/revoke`, {}), 403)
        const issue = { name: 'x', kind: 'admin', deployment: true }
        faults.status('issue', await post('/organizations/alpha/keys', issue), 403)
        faults.status('organization', await post('/organizations', { slug: 'mine', name: 'Mine' }), 403)
        faults.status('attester', await post('/attesters', { kind: 'secp256k1' }), 403)
        faults.silent('list', await admin('GET', '/organizations/alpha/keys?limit=200', caller), id)
      }
    },
  },
  {
    row: 1,
    name: 'foreign-ids',
    mustHappen: '404 for another organization’s ids on every route that names one',
    run: async ({ admin, alpha, beta }, faults) => {
      const routes = ADMIN_ROUTES.filter(({ path }) => path.startsWith('/organizations/{organization}'))
      for (const { method, path, body, operationId } of routes) {
        const own = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => beta.things[name] ?? 'x')
        const sent = body === null ? {} : { body: {} }
        // Beta's organization by alpha's key, then beta's things under alpha's organization.
        const whole = await admin(method, own, { key: alpha.keys.admin, ...sent })
        faults.holds(`${operationId} of beta: ${whole.status}`, whole.status === 404)
        faults.silent(operationId, whole, beta.canary)
        if (!/\{.*\{/.test(path)) continue
        const mixed = await admin(method, own.replace('/beta', '/alpha'), { key: alpha.keys.admin, ...sent })
        faults.holds(`${operationId} of alpha: ${mixed.status}`, [400, 403, 404, 415].includes(mixed.status))
        faults.silent(operationId, mixed, beta.canary)
      }
    },
  },
  {
    row: 27,
    name: 'codes-in-parallel',
    mustHappen: 'of 400 parallel one-time codes at most the free attempts are judged, and none gets in',
    run: async (deployment, faults) => {
      const { admin, must } = deployment
      const { person } = await bystander(deployment, 'codes')
      const page = { cookie: person.cookie }
      const { secret } = (await must('POST', '/me/totp', { ...page, body: {} })).body
      const bytes = decodeBase32(secret)
      const step = totpStep(Date.now() / 1000)
      await must('POST', '/me/totp/confirm', { ...page, body: { code: hotp(bytes, step) } })
      const pending = cookieOf(await signIn(deployment, person.email, '198.18.0.1'))
      const right = new Set([-1, 0, 1, 2].map((late) => hotp(bytes, step + late)))
      const codes = Array.from({ length: 400 }, (_, n) => String(n * 2_437).padStart(6, '0')).filter(
        (code) => !right.has(code),
      )
      // As many at once as are certain to be answered: what asks first and counts afterwards judges more than ten of them.
      const statuses = new Set<number>()
      let judged = 0
      for (let at = 0; at < codes.length; at += AT_ONCE) {
        const answers = await Promise.all(
          codes.slice(at, at + AT_ONCE).map((code, n) =>
            admin('POST', '/sign-in/code', {
              cookie: pending,
              body: { code },
              from: `198.18.${1 + ((at + n) >> 8)}.${(at + n) & 255}`,
            }),
          ),
        )
        for (const { status } of answers) statuses.add(status)
        judged += answers.filter(({ status }) => status === 401).length
      }
      faults.holds(`${judged} codes were judged`, judged === 10)
      faults.holds(`statuses ${[...statuses].join(', ')}`, [...statuses].sort().join() === '401,429')
      const now = hotp(bytes, totpStep(Date.now() / 1000))
      const late = await admin('POST', '/sign-in/code', { cookie: pending, body: { code: now }, from: '198.18.3.1' })
      faults.status('the right code after them', late, 429)
      faults.status('with half of the proof', await admin('GET', '/me', { cookie: pending }), 401)
      faults.status(
        'a passkey with half of the proof',
        await admin('POST', '/me/passkeys/options', { cookie: pending, body: {} }),
        401,
      )
    },
  },
  {
    row: 27,
    name: 'sign-in-flood',
    mustHappen: 'known people get in during a flood of wrong passwords; a forged X-Forwarded-For does not help',
    run: async (deployment, faults) => {
      const { person } = await bystander(deployment, 'flood')
      // The leftmost address is the attacker's own invention, the rightmost is what the proxy saw.
      const attempt = (n: number) => signIn(deployment, `nobody-${n}@example.com`, `9.9.9.${n & 255}, 198.18.4.1`)
      const startedMs = performance.now()
      const statuses = new Set<number>()
      let judged = 0
      let sent = 0
      // However slow the machine is: a hundred are free, and one more every ten seconds.
      const free = (): number => 100 + Math.ceil((performance.now() - startedMs) / 10_000)
      while (!statuses.has(429) && sent <= free() + HASHED_AT_ONCE) {
        const answers = await Promise.all(Array.from({ length: HASHED_AT_ONCE }, (_, n) => attempt(sent + n)))
        sent += HASHED_AT_ONCE
        for (const { status } of answers) statuses.add(status)
        judged += answers.filter(({ status }) => status === 401).length
      }
      faults.holds(`${judged} of ${sent} were judged`, judged <= free())
      faults.holds(`statuses ${[...statuses].join(', ')}`, [...statuses].sort().join() === '401,429')
      faults.status('a stranger from elsewhere', await signIn(deployment, person.email, '198.18.5.1'), 200)
      const device = person.cookie.split('; ').find((pair) => pair.startsWith('countersign-device=')) ?? ''
      faults.status('a known device there', await signIn(deployment, person.email, '198.18.4.1', PASSWORD, device), 200)
    },
  },
  {
    row: 35,
    name: 'passkey-challenges',
    mustHappen: '3,000 calls without a session write nothing to the database',
    run: async ({ admin, service, urls }, faults) => {
      const size = (): number =>
        ['', '-wal'].reduce(
          (sum, end) =>
            sum + (statSync(join(service.dataDirectory, `countersign.db${end}`), { throwIfNoEntry: false })?.size ?? 0),
          0,
        )
      const before = size()
      const statuses = new Set<number>()
      // A passkey needs a name.
      const headers = { origin: urls.dashboard.replace('127.0.0.1', 'localhost') }
      for (let round = 0; round < 30; round++) {
        const answers = await Promise.all(
          Array.from({ length: 100 }, () => admin('POST', '/sign-in/passkey/options', { body: {}, headers })),
        )
        for (const { status } of answers) statuses.add(status)
      }
      faults.holds(
        `statuses ${[...statuses].join(', ')}`,
        [...statuses].every((status) => [200, 429, 503].includes(status)),
      )
      faults.holds(`the database grew by ${size() - before} bytes`, size() - before < 1_000_000)
    },
  },
  {
    row: 34,
    name: 'session-fixation-and-leftovers',
    mustHappen:
      'signing in over a cookie ends that session; signing out ends it on the server; unknown cookies are nobody',
    run: async (deployment, faults) => {
      const { admin } = deployment
      const { person } = await bystander(deployment, 'fixation')
      const again = await signIn(deployment, person.email, '198.18.6.1', PASSWORD, person.cookie)
      faults.status('sign-in', again, 200)
      faults.status('the session before', await admin('GET', '/me', { cookie: person.cookie }), 401)
      const cookie = cookieOf(again)
      faults.status('the new one', await admin('GET', '/me', { cookie }), 200)
      await admin('POST', '/sign-out', { cookie, body: {} })
      faults.status('after signing out', await admin('GET', '/me', { cookie }), 401)
      faults.status('an invented one', await admin('GET', '/me', { cookie: `countersign=${'x'.repeat(43)}` }), 401)
    },
  },
  {
    row: 34,
    name: 'easy-passwords',
    mustHappen: '400 for common passwords and for names of the product, the organization and the person',
    run: async (deployment, faults) => {
      const { person } = await bystander(deployment, 'passwords')
      const easy = ['passwordpassword', 'countersign1', 'passwords123', 'qwertyuiop123', 'short']
      for (const password of easy) {
        const body = { current_password: PASSWORD, new_password: password }
        faults.status(password, await deployment.admin('PUT', '/me/password', { cookie: person.cookie, body }), 400)
      }
    },
  },
  {
    row: 23,
    name: 'forged-pages',
    mustHappen: '403 for changes that another site’s page, or no page, sends with the cookie',
    run: async ({ admin, alpha }, faults) => {
      const { cookie } = alpha.people['organization-admin']
      const path = '/organizations/alpha/lists'
      const body = { name: 'forged' }
      for (const headers of [
        { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
        { origin: 'null', 'sec-fetch-site': 'cross-site' },
        { origin: 'http://127.0.0.1.evil.example', 'sec-fetch-site': 'same-site' },
        { origin: '', 'sec-fetch-site': '' },
      ]) {
        faults.status(JSON.stringify(headers), await admin('POST', path, { cookie, body, headers }), 403)
      }
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const asForm = await admin('POST', path, { cookie, body: 'name=forged', headers: form })
      faults.status('a form', asForm, 415)
    },
  },
  {
    row: 23,
    name: 'surplus-fields',
    mustHappen: '400 for members that the route does not declare',
    run: async ({ admin, alpha }, faults) => {
      const { cookie } = alpha.people.viewer
      const tries: ReadonlyArray<readonly [string, string, object, object]> = [
        ['PATCH', '/me', { name: 'Eve', deployment_admin: true }, { cookie }],
        ['PATCH', '/organizations/alpha', { name: 'alpha', id: 'org_x' }, { key: alpha.keys.admin }],
        [
          'POST',
          '/organizations/alpha/keys',
          { name: 'x', kind: 'attestation', scopes: ['admin'] },
          { key: alpha.keys.admin },
        ],
        [
          'POST',
          '/organizations/alpha/members',
          { email: 'a@b.example', name: 'x', role: 'deployment-admin' },
          { key: alpha.keys.admin },
        ],
      ]
      for (const [method, path, body, caller] of tries) {
        faults.status(`${method} ${path}`, await admin(method, path, { ...caller, body }), 400)
      }
    },
  },
  {
    row: 23,
    name: 'roles-above',
    mustHappen: 'viewers and reviewers change nothing of an organization, and nobody reads the deployment',
    run: async ({ admin, alpha }, faults) => {
      for (const role of ['viewer', 'reviewer'] as const) {
        const { cookie, id } = alpha.people[role]
        const promote = { role: 'organization-admin' }
        faults.status(role, await admin('PATCH', `/organizations/alpha/members/${id}`, { cookie, body: promote }), 403)
        faults.status(role, await admin('POST', '/organizations/alpha/lists', { cookie, body: { name: 'mine' } }), 403)
        faults.status(role, await admin('GET', '/users', { cookie }), 403)
        faults.status(role, await admin('GET', '/audit', { cookie }), 403)
      }
      const { cookie } = alpha.people.viewer
      faults.status(
        'evidence',
        await admin('GET', `/organizations/alpha/sessions/${alpha.things['session']}/evidence`, { cookie }),
        403,
      )
    },
  },
  {
    row: 28,
    name: 'second-person-puppet',
    mustHappen: 'neither who asked nor a puppet that they invite afterwards approves a live policy',
    run: async (deployment, faults) => {
      const { admin, must, invite } = deployment
      const { key, slug, person } = await bystander(deployment, 'second')
      await invite(slug, key, `second@${slug}.example`, 'organization-admin')
      const { policy } = (
        await must('POST', `/organizations/${slug}/policies`, { key, body: { source: policySource('A') } })
      ).body
      const revision = (
        await must('POST', `/organizations/${slug}/policies/${policy.id}/revisions`, {
          key,
          body: { source: policySource('B') },
        })
      ).body
      const page = { cookie: person.cookie }
      await must('PATCH', `/organizations/${slug}/settings`, { ...page, body: { second_person: true } })
      const asked = await admin('POST', `/organizations/${slug}/policies/${policy.id}/activate`, {
        ...page,
        body: { revision_id: revision.id },
      })
      faults.status('activate', asked, 202)
      const approval: string = asked.body?.id ?? asked.body?.approval?.id ?? ''
      const decide = (cookie: string) =>
        admin('POST', `/organizations/${slug}/approvals/${approval}/decide`, { cookie, body: { approve: true } })
      faults.status('by who asked', await decide(person.cookie), 403, 409)
      const added = await admin('POST', `/organizations/${slug}/members`, {
        ...page,
        body: { email: `puppet@${slug}.example`, name: 'Puppet', role: 'organization-admin' },
      })
      // Either the puppet waits for a second person itself, or it may not approve what is older than it.
      if (added.body?.invitation?.url !== undefined) {
        const token = String(added.body.invitation.url).split('#')[1]
        const puppet = cookieOf(
          await must('POST', '/welcome', { body: { token, password: PASSWORD }, from: '198.18.7.1' }),
        )
        faults.status('by the puppet', await decide(puppet), 403, 404, 409)
      } else faults.status('puppet', added, 202, 403, 409)
      const now = await must('GET', `/organizations/${slug}/policies/${policy.id}`, page)
      faults.holds('the revision is live', now.body?.active_revision_id !== revision.id)
    },
  },
  {
    row: 28,
    name: 'audit-author',
    mustHappen: 'the author of a command is the operating system’s user, not what $USER says',
    run: async ({ service, admin, root }, faults) => {
      const environment = { COUNTERSIGN_DATA_DIR: service.dataDirectory, USER: 'the-ceo', LOGNAME: 'the-ceo' }
      const issue = 'keys issue --org demo --kind attestation --name n'
      const issued = await runCountersign(environment, ...issue.split(' '))
      faults.holds(`the command failed: ${issued.stderr}`, issued.code === 0)
      const entries = await admin('GET', '/organizations/demo/audit?limit=200', { cookie: root.cookie })
      faults.silent('audit', entries, 'the-ceo')
      faults.holds('no entry names the command line', entries.text.includes('command-line'))
    },
  },
  {
    row: 19,
    name: 'viewer-floods-simulations',
    mustHappen: 'a person’s session has a rate limit of its own',
    run: async ({ admin, alpha }, faults) => {
      const body = { source: policySource('X'), request: { chain: 'base', from: `0x${'1'.repeat(40)}` } }
      const { cookie } = alpha.people.viewer
      const ask = () => admin('POST', '/organizations/alpha/policies/simulate', { cookie, body })
      const startedMs = performance.now()
      const answers: Answer[] = []
      for (let round = 0; round < 45; round++) {
        answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, ask))))
      }
      const { requestsPerSecond, burst } = PERSON_RATE_LIMIT
      // However slow the machine is, no more than these.
      const free = burst + (requestsPerSecond * (performance.now() - startedMs)) / 1_000
      const granted = answers.filter(({ status }) => status === 200).length
      faults.holds(`${granted} were answered, of at most ${free}`, granted <= free)
      for (const answer of answers) faults.status('a simulation', answer, 200, 429, 503)
      const limits = new Set(answers.map(({ headers }) => headers.get('ratelimit-limit')))
      faults.holds(`limits ${[...limits].join(', ')}`, [...limits].join() === String(burst))
    },
  },
  {
    row: 15,
    name: 'inner-addresses',
    mustHappen: '400 for webhooks and list sources that lead inside; no connection to a name that does',
    run: async ({ admin, must, alpha, openSession }, faults) => {
      const inner = [
        'http://127.0.0.1:8082/',
        'https://127.0.0.1/',
        'https://[::1]/',
        'file:///etc/passwd',
        'https://169.254.169.254/latest/meta-data',
        'https://10.0.0.1/',
        'https://[::ffff:127.0.0.1]/',
        'https://0x7f.1/',
        'https://user:password@example.com/',
        'gopher://example.com/',
        'https://2130706433/',
      ]
      for (const url of inner) {
        const hook = await admin('POST', '/organizations/alpha/webhooks', { key: alpha.keys.admin, body: { url } })
        faults.status(`webhook ${url}`, hook, 400)
        const source = await admin('PUT', `/organizations/alpha/lists/${alpha.things['list']}/source`, {
          key: alpha.keys.admin,
          body: { url, format: 'csv' },
        })
        faults.status(`list ${url}`, source, 400)
      }
      // A name is resolved when it is used: it may be saved, and nothing ever connects to it.
      const { connections, port, stop } = listenInside()
      const url = `https://localhost:${port}/`
      const caller = { key: alpha.keys.admin }
      try {
        const hook = await must('POST', '/organizations/alpha/webhooks', { ...caller, body: { url } })
        const sourcePath = `/organizations/alpha/lists/${alpha.things['list']}/source`
        await must('PUT', sourcePath, { ...caller, body: { url, format: 'csv' } })
        await must('POST', `${sourcePath}/refresh`, { ...caller, body: {} })
        await openSession(alpha.keys.identity)
        const failures = async (): Promise<readonly (string | null)[]> => {
          const messages = await must('GET', '/organizations/alpha/webhook-messages?limit=200', caller)
          const ours = messages.body.data.filter(
            (each: { endpoint_id: string }) => each.endpoint_id === hook.body.endpoint.id,
          )
          return [ours[0]?.last_failure ?? null, (await must('GET', sourcePath, caller)).body.failure]
        }
        await until(async () => (await failures()).every((failure) => failure !== null))
        for (const failure of await failures()) {
          faults.holds(`${url}: ${failure}`, failure?.includes('an address that is not allowed') === true)
        }
        faults.holds(`${connections()} connections to ${url}`, connections() === 0)
        await must('DELETE', `/organizations/alpha/webhooks/${hook.body.endpoint.id}`, caller)
        await must('DELETE', sourcePath, caller)
      } finally {
        stop()
      }
    },
  },
  {
    row: 13,
    name: 'hostile-policies',
    mustHappen: 'policies that would hold a thread are refused when saved',
    run: async ({ admin, alpha }, faults) => {
      const nested = '[1,2,3,4,5,6,7,8,9,10]'
      const rules = [
        `'a'.matches('(a+)+$')`,
        `${nested}.all(a, ${nested}.all(b, ${nested}.all(c, ${nested}.all(d, ${nested}.all(e, a+b+c+d+e > 0)))))`,
        `${'('.repeat(2_000)}true${')'.repeat(2_000)}`,
      ]
      for (const rule of rules) {
        const source = JSON.stringify({ name: 'Hostile', rules: [{ id: 'r', allow: rule }] })
        const saved = await admin('POST', '/organizations/alpha/policies', { key: alpha.keys.admin, body: { source } })
        faults.status(rule.slice(0, 40), saved, 400)
      }
      const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[n]}`).join(',')}]\n`)
        .join('')}`
      faults.status(
        'aliases',
        await admin('POST', '/organizations/alpha/policies', { key: alpha.keys.admin, body: { source: bomb } }),
        400,
      )
    },
  },
]
