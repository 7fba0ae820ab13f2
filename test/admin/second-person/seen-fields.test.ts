// The approver's view of a request shows every member that has an effect: two requests that differ in one member have
// different views.
import { expect, test } from 'bun:test'
import { VERIFICATION_SERVICES } from '../../../src/domain/webhook-message.ts'
import { ADMIN_ROUTES } from '../support/all-routes.ts'
import { startWorld, type World } from './world.ts'

/** Reason why the test sends no other value. */
type Reason =
  /** The member states a condition of the request. */
  | 'precondition'
  /** The member is a text without effect. */
  | 'text'
  /** The approver sees the resulting content. */
  | 'file'
  /** The approver sees that there is a new secret. */
  | 'secret'
  /** The member is shown, but another value needs other data or no approval. */
  | 'elsewhere'
type Member = { readonly other: unknown } | { readonly untested: Reason }

const untested = (reason: Reason): Member => ({ untested: reason })
const other = (value: unknown): Member => ({ other: value })

const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')
const ADDRESS = `0x${'7'.repeat(40)}`
const LIST_SOURCE = {
  url: other('https://lists.example/other.csv'),
  format: other('text'),
  every_seconds: other(3_600),
  skip_bad_lines: other(true),
}
const LIST_EDIT = { add: other([{ address: ADDRESS }]), remove: other([ADDRESS]) }
const LIST_FILE = { merge: untested('file'), skip_bad: untested('file') }
const NEW_LIST = { name: other('different'), description: untested('text') }
const ROLE = { role: other('reviewer') }

const membersOf = ({ strict }: World, twin: string): Readonly<Record<string, Readonly<Record<string, Member>>>> => ({
  activateRevision: { revision_id: untested('elsewhere'), version: untested('precondition') },
  createProject: {
    name: other('Other'),
    policy_id: other(strict.id),
    lifetime_seconds: other(77),
    verification_hash: other(`x-${'a'.repeat(16)}`),
  },
  changeProject: { name: other('Other'), policy_id: untested('elsewhere'), lifetime_seconds: other(77) },
  bindAddress: {
    project_id: other(twin),
    chain: untested('elsewhere'),
    address: other(ADDRESS),
    label: other('Router'),
  },
  createList: NEW_LIST,
  createSharedList: NEW_LIST,
  editList: LIST_EDIT,
  editSharedList: LIST_EDIT,
  uploadList: LIST_FILE,
  uploadSharedList: LIST_FILE,
  setListSource: LIST_SOURCE,
  setSharedListSource: { ...LIST_SOURCE, reach: other('loopback') },
  addMember: { email: other('other@example.com'), name: other('Other'), ...ROLE },
  changeMember: ROLE,
  changeMemberOffer: ROLE,
  changeOrganization: { name: other('Other'), level: other('standard') },
  changeSessionPolicy: { policy_id: untested('elsewhere') },
  changeVerificationTrust: { trusts: untested('elsewhere'), organizations: untested('elsewhere') },
  changeMinimumAge: { years: other(15), levels: other({ basic: 5 }) },
  changeBrand: {
    asks_details: untested('elsewhere'),
    color: other('#123456'),
    logo: other(PNG),
    privacy_url: other('https://privacy.example/'),
    support_email: other('help@example.com'),
    words_en: other('Hello'),
    words_de: other('Hallo'),
  },
  changeRetention: { completed_days: other(2), rejected_days: other(3), abandoned_days: other(4) },
  changeScreeningSettings: {
    threshold: other(99),
    on_new_hit: other('revoke'),
    address_lists: other(['allow']),
    screeners: other([]),
    screener_score: other(7),
    screeners_again: other(true),
  },
  addWebhookEndpoint: {
    url: other('https://decide.example/c'),
    environment: untested('elsewhere'),
    purpose: untested('elsewhere'),
  },
  changeWebhookEndpoint: { paused: untested('elsewhere') },
  setWebhookService: {
    service: other(VERIFICATION_SERVICES[1]),
    secret: untested('secret'),
    overlap_seconds: other(77),
  },
  enableScreeningList: {
    format: other('un-xml'),
    urls: other(['https://lists.example/d.csv']),
    every_seconds: other(7_200),
  },
  changeSettings: { second_person: untested('elsewhere') },
  addUser: { email: other('other@example.com'), name: other('Other'), deployment_admin: untested('elsewhere') },
  changeUser: { deployment_admin: untested('elsewhere'), disabled: untested('elsewhere') },
  addAttester: { kind: other('secp256k1'), token_key: untested('elsewhere') },
  retireAttester: { final: other(true) },
  changeDeploymentSettings: { second_person: untested('elsewhere') },
})

const fieldsOf = (schema: unknown): string[] =>
  Object.keys((schema as { properties?: object } | null)?.properties ?? {})
const covered = ADMIN_ROUTES.filter(({ secondPerson }) => secondPerson !== null)

for (const { operationId, body, query } of covered) {
  const fields = [...fieldsOf(body), ...fieldsOf(query)].filter((field) => field !== 'comment')
  if (fields.length === 0) continue
  test(`the view of ${operationId} shows each member`, async () => {
    await using world = await startWorld(operationId)
    if (operationId in world.personal) return
    const { ada, alpha, project, root, strict, store } = world
    const twin = await store.projects.create({ organizationId: alpha.id, name: project.name, policyId: strict.id })
    const members = membersOf(world, twin.id)[operationId] ?? {}
    expect(Object.keys(members).sort()).toEqual(fields.sort())
    if (operationId === 'setWebhookService') expect((await world.request(ada, operationId)).status).toBe(200)
    await world.setRule(true)
    await world.setDeploymentRule(true)
    const [, { deployment = false, body: sent, ...options }] = world.requests[operationId] ?? ['', {}]
    const viewOf = async (changed: object): Promise<string> => {
      const requested = await world.request(deployment ? root : ada, operationId, {
        ...options,
        ...(sent === undefined ? {} : { body: { ...(sent as object), ...changed } }),
      })
      expect([changed, requested.status, requested.body.detail]).toEqual([changed, 202, undefined as never])
      const { name, changes, differences } = requested.body as Record<string, unknown>
      return JSON.stringify([name, changes, differences])
    }
    const first = await viewOf({})
    for (const [field, member] of Object.entries(members)) {
      if ('other' in member)
        expect([field, (await viewOf({ [field]: member.other })) === first]).toEqual([field, false])
    }
  })
}
