// An organization and a deployment with an item of each kind that the second-person rule covers, and a valid request for each
// operation.
import { beginRule } from '../../../src/admin/second-person/approvers.ts'
import { VERIFICATION_SERVICES } from '../../../src/domain/webhook-message.ts'
import { contentHashOf } from '../../../src/policy/revision.ts'
import { readCatalog } from '../../../src/store/copy/table-catalog.ts'
import { newWebhookEndpointId } from '../../../src/store/webhooks/webhook-endpoints.ts'
import { ADMIN_ROUTES } from '../support/all-routes.ts'
import { PASSWORD, type Person, startHarness } from '../support/harness.ts'
import { type CallOptions, textFile } from '../support/request.ts'

export const WALLET = `0x${'1'.repeat(40)}`
export const OTHER_WALLET = `0x${'2'.repeat(40)}`
export const SERVICE_SECRET = 'secret of a service in tests'
const CONTRACT = `0x${'3'.repeat(40)}`
const OF_SESSIONS = 'name: People\ndecides: sessions\nrules: [{ id: grown, allow: person.age > 17 }]\n'
const STRICT = 'name: Strict\nrules: [{ id: all, deny: "true", code: NO, message: no }]\n'
const LAX = 'name: Strict\nrules: []\n'

/** Tables that are not compared: records of requests, and content that no list shows. */
const NOT_STATE = new Set([
  'approvals',
  'audit_log',
  'counters',
  'list_bases',
  'list_chunks',
  'organization_keys',
  'user_sessions',
])

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> & { readonly id: string; readonly detail: string }
}

/** @param operation that the test requests */
export const startWorld = async (operation = '') => {
  const harness = await startHarness()
  const { store } = harness
  const alpha = await harness.organization('alpha')
  const createRoot = (name: string) => harness.person({ email: `${name}@example.com`, deploymentAdmin: true })
  const people = {
    ada: await harness.member(alpha, 'ada'),
    bob: await harness.member(alpha, 'bob'),
    carol: await harness.member(alpha, 'carol'),
    root: await createRoot('root'),
    rita: await createRoot('rita'),
    rob: await createRoot('rob'),
    viewer: await harness.member(alpha, 'viewer', 'viewer'),
  }
  const { ada, viewer } = people
  const invited = await store.users.create({
    email: 'invited@example.com',
    name: 'Invited',
    deploymentAdmin: false,
    passwordHash: null,
    madeByOrganizationId: alpha.id,
  })
  await store.memberships.add(alpha.id, invited.id, 'viewer')

  const offered = await harness.person({ email: 'offered@example.com' })
  const offer = await store.membershipOffers.make(
    {
      organizationId: alpha.id,
      userId: offered.id,
      role: 'viewer',
      askedBy: `user:${ada.id}`,
      askedByName: 'ada@example.com',
      expiresAtSeconds: harness.clock.unixSeconds() + 3_600,
    },
    new Uint8Array(32),
  )

  const policyOf = async (name: string, source: string, decides: 'requests' | 'sessions' = 'requests') => {
    const { id } = await store.policies.create({ organizationId: alpha.id, name, decides })
    const revision = await store.policies.saveRevision({ organizationId: alpha.id, policyId: id, source, quorum: 1 })
    if (revision === null) throw new Error('no revision')
    await store.policies.activateRevision(alpha.id, id, revision.id)
    return { id, revision: revision.id }
  }
  const ofSessions = await policyOf('People', OF_SESSIONS, 'sessions')
  const trial = { contentHash: contentHashOf(OF_SESSIONS) }
  await store.tasks.create({ organizationId: alpha.id, kind: 'policy.replay', input: trial, actor: 'test' }, {})
  const strict = await policyOf('Strict', STRICT)
  const lax = await policyOf('Lax', LAX.replace('Strict', 'Lax'))
  const saved = { organizationId: alpha.id, policyId: strict.id, source: LAX, quorum: 1 }
  const next = await store.policies.saveRevision(saved)
  const project = await store.projects.create({ organizationId: alpha.id, name: 'Vault', policyId: strict.id })
  const binding = await store.bindings.create({
    organizationId: alpha.id,
    projectId: project.id,
    chainName: 'base',
    address: OTHER_WALLET,
  })
  const source = { location: 'https://lists.example/a.csv', format: 'csv', reach: 'public' } as const
  for (const owner of [alpha.id, null]) {
    const suffix = owner === null ? 'shared' : 'own'
    await store.lists.create({ owner, name: `kept_${suffix}` })
    const sourced = await store.lists.create({ owner, name: `sourced_${suffix}` })
    await store.listSources.set(sourced.id, { ...source, skipsBadLines: false, intervalSeconds: 3_600 })
  }
  const attester = async (n: number) =>
    store.attesters.add({ kind: 'secp256k1', address: `0x${String(n).repeat(40)}`, keystoreFile: `${n}.json` })
  const first = await attester(4)
  await attester(5)

  await store.screeningLists.set({
    name: 'own',
    format: 'ofac-csv',
    urls: ['https://lists.example/a.csv'],
    reach: 'public',
    intervalSeconds: 86_400,
  })
  const decider = newWebhookEndpointId()
  const rejected = await harness.session(alpha.id, ['submitted', 'rejected'])
  // An organization has at most one deciding endpoint, which `addWebhookEndpoint` creates.
  if (/^(set|change|remove|rotate)Webhook/.test(operation)) {
    await store.webhookEndpoints.add({
      id: decider,
      organizationId: alpha.id,
      environment: 'live',
      purpose: 'decisions',
      url: 'https://decide.example/a',
      sealedSecret: new Uint8Array([1]),
    })
  }

  // An approver must have been an administrator before the second of the request.
  harness.clock.advance(1)
  const call = (method: string, path: string, options: CallOptions): Promise<Answer> =>
    harness.call<Answer['body']>(method, path, options)
  const base = '/organizations/alpha'
  const file = textFile(`${WALLET}\n`)
  const url = { url: 'https://lists.example/b.csv', format: 'csv' }
  const edit = { add: [{ address: WALLET, memo: 'known' }] }

  /** A request for each operation that the rule covers. `deployment`: the deployment's rule applies. */
  const requests: Readonly<
    Record<string, readonly [path: string, options: CallOptions & { readonly deployment?: true }]>
  > = {
    activateRevision: [`${base}/policies/${strict.id}/activate`, { body: { revision_id: next?.id } }],
    createProject: [`${base}/projects`, { body: { name: 'New', policy_id: lax.id } }],
    changeProject: [`${base}/projects/${project.id}`, { body: { policy_id: lax.id } }],
    bindAddress: [`${base}/bindings`, { body: { project_id: project.id, chain: 'base', address: CONTRACT } }],
    unbindAddress: [`${base}/bindings/${binding.id}`, {}],
    createList: [`${base}/lists`, { body: { name: 'fresh' } }],
    editList: [`${base}/lists/allow/entries`, { body: edit }],
    uploadList: [`${base}/lists/kept_own/content`, file],
    setListSource: [`${base}/lists/kept_own/source`, { body: url }],
    removeListSource: [`${base}/lists/sourced_own/source`, {}],
    removeList: [`${base}/lists/kept_own`, {}],
    addMember: [`${base}/members`, { body: { email: 'new@example.com', name: 'New', role: 'organization-admin' } }],
    changeMember: [`${base}/members/${viewer.id}`, { body: { role: 'organization-admin' } }],
    removeMember: [`${base}/members/${viewer.id}`, {}],
    changeMemberOffer: [`${base}/member-offers/${offer}`, { body: { role: 'organization-admin' } }],
    changeOrganization: [base, { body: { level: 'enhanced' } }],
    changeSessionPolicy: [`${base}/session-policy`, { body: { policy_id: ofSessions.id } }],
    changeVerificationTrust: [`${base}/verification-trust`, { body: { trusts: 'none' } }],
    changeMinimumAge: [`${base}/minimum-age`, { body: { years: 16 } }],
    changeBrand: [`${base}/brand`, { body: { asks_details: true } }],
    changeRetention: [`${base}/evidence-retention`, { body: { completed_days: 1 } }],
    eraseEvidence: [`${base}/sessions/${rejected}/evidence/erase`, { body: {} }],
    changeScreeningSettings: [`${base}/screening`, { body: { threshold: 100 } }],
    addWebhookEndpoint: [`${base}/webhooks`, { body: { url: 'https://decide.example/b', purpose: 'decisions' } }],
    setWebhookService: [
      `${base}/webhooks/${decider}/service`,
      { body: { service: VERIFICATION_SERVICES[0], secret: SERVICE_SECRET } },
    ],
    changeWebhookEndpoint: [`${base}/webhooks/${decider}`, { body: { paused: true } }],
    removeWebhookEndpoint: [`${base}/webhooks/${decider}`, {}],
    enableScreeningList: [
      '/screening/lists/own',
      { deployment: true, body: { urls: ['https://lists.example/c.csv'] } },
    ],
    disableScreeningList: ['/screening/lists/own', { deployment: true }],
    changeSettings: [`${base}/settings`, { body: { second_person: false } }],
    createSharedList: ['/lists', { deployment: true, body: { name: 'fresh' } }],
    editSharedList: ['/lists/kept_shared/entries', { deployment: true, body: edit }],
    uploadSharedList: ['/lists/kept_shared/content', { deployment: true, ...file }],
    setSharedListSource: ['/lists/kept_shared/source', { deployment: true, body: url }],
    removeSharedListSource: ['/lists/sourced_shared/source', { deployment: true }],
    removeSharedList: ['/lists/kept_shared', { deployment: true }],
    addUser: ['/users', { deployment: true, body: { email: 'n@example.com', name: 'N', deployment_admin: true } }],
    changeUser: [`/users/${viewer.id}`, { deployment: true, body: { deployment_admin: true } }],
    addAttester: ['/attesters', { deployment: true, body: { kind: 'ed25519' } }],
    retireAttester: [`/attesters/${first.id}/retire`, { deployment: true, body: {} }],
    changeDeploymentSettings: ['/deployment/settings', { deployment: true, body: { second_person: false } }],
  }

  /** A request for each operation that requires a person and no approval. */
  const personal: typeof requests = {
    inviteMemberAgain: [`${base}/members/${invited.id}/invitation`, { body: {} }],
    rotateWebhookSecret: [`${base}/webhooks/${decider}/rotate`, { body: {} }],
    renewMemberOffer: [`${base}/member-offers/${offer}/link`, { body: {} }],
  }

  const request = (who: Person, operation: string, options: CallOptions = {}): Promise<Answer> => {
    const [path, given] = requests[operation] ?? ['', {}]
    const route = ADMIN_ROUTES.find(({ operationId }) => operationId === operation)
    const { deployment: _rule, ...rest } = given
    return call(route?.method ?? '', path, { ...rest, ...options, cookie: who.cookie })
  }
  const decide = (id: string, approve: boolean, { cookie }: Person, deployment = false): Promise<Answer> =>
    call('POST', `${deployment ? '' : base}/approvals/${id}/decide`, { cookie, body: { approve } })

  return {
    harness,
    store,
    personal,
    alpha,
    ...people,
    invited,
    offered,
    strict,
    lax,
    ofSessions,
    next: next?.id ?? '',
    project,
    call,
    requests,
    request,
    /** Sets a password for an invited or changed account, and signs in. */
    signIn: async (userId: string): Promise<Person> => {
      await store.users.setPassword(userId, await harness.services.passwords.hash(PASSWORD, []))
      harness.clock.advance(1)
      return { id: userId, cookie: await harness.signIn(userId) }
    },
    /** Enables or disables the rule as the operation does. */
    setRule: async (on: boolean): Promise<void> => {
      if (on) await beginRule(store, alpha.id)
      await store.organizationSettings.setSecondPerson(alpha.id, on)
    },
    setDeploymentRule: async (on: boolean): Promise<void> => {
      if (on) await beginRule(store, null)
      await store.organizationSettings.setDeploymentSecondPerson(on)
    },
    decide,
    /** Requests an operation and approves it; returns the response to the approval. */
    requestAndApprove: async (requester: Person, approver: Person, operation = 'activateRevision'): Promise<Answer> =>
      decide((await request(requester, operation)).body.id, true, approver),
    /** All rows of the compared tables. */
    state: async (): Promise<string> => {
      const tables = await readCatalog(store.database, store.kind)
      const rows: unknown[] = []
      for (const { name, key } of tables) {
        if (NOT_STATE.has(name)) continue
        rows.push([name, await store.database.query(`SELECT * FROM ${name} ORDER BY ${key.join(', ')}`)])
      }
      return JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    },
    close: () => harness.close(),
    [Symbol.asyncDispose]: () => harness.close(),
  }
}

export type World = Awaited<ReturnType<typeof startWorld>>
