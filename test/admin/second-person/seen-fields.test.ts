// Whoever approves a request sees every member of it that changes something: for each member of each operation, two requests
// that differ in it look different.
import { expect, test } from 'bun:test'
import { VERIFICATION_SERVICES } from '../../../src/domain/webhook-message.ts'
import { ADMIN_ROUTES } from '../support/all-routes.ts'
import { startWorld, type World } from './world.ts'

/** Why no other value is tried. */
type Reason =
  /** A request names a state that must not have changed. */
  | 'precondition'
  /** A text for people, on which nothing depends. */
  | 'text'
  /** The approver sees the resulting content. */
  | 'file'
  /** The approver sees that there is a new one. */
  | 'secret'
  /** The member is shown, and another value needs another world, or no approval. */
  | 'elsewhere'
type Member = { readonly other: unknown } | { readonly unseen: Reason }

const unseen = (reason: Reason): Member => ({ unseen: reason })
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
const LIST_FILE = { merge: unseen('file'), skip_bad: unseen('file') }
const LIST_MADE = { name: other('different'), description: unseen('text') }
const ROLE = { role: other('reviewer') }

const membersOf = ({ strict }: World, twin: string): Readonly<Record<string, Readonly<Record<string, Member>>>> => ({
  activateRevision: { revision_id: unseen('elsewhere'), version: unseen('precondition') },
  createProject: {
    name: other('Other'),
    policy_id: other(strict.id),
    lifetime_seconds: other(77),
    verification_hash: other(`x-${'a'.repeat(16)}`),
  },
  changeProject: { name: other('Other'), policy_id: unseen('elsewhere'), lifetime_seconds: other(77) },
  bindAddress: {
    project_id: other(twin),
    chain: unseen('elsewhere'),
    address: other(ADDRESS),
    label: other('Router'),
  },
  createList: LIST_MADE,
  createSharedList: LIST_MADE,
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
  changeSessionPolicy: { policy_id: unseen('elsewhere') },
  changeVerificationTrust: { trusts: unseen('elsewhere'), organizations: unseen('elsewhere') },
  changeMinimumAge: { years: other(15), levels: other({ basic: 5 }) },
  changeBrand: {
    asks_details: unseen('elsewhere'),
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
    environment: unseen('elsewhere'),
    purpose: unseen('elsewhere'),
  },
  changeWebhookEndpoint: { paused: unseen('elsewhere') },
  setWebhookService: {
    service: other(VERIFICATION_SERVICES[1]),
    secret: unseen('secret'),
    overlap_seconds: other(77),
  },
  enableScreeningList: {
    format: other('un-xml'),
    urls: other(['https://lists.example/d.csv']),
    every_seconds: other(7_200),
  },
  changeSettings: { second_person: unseen('elsewhere') },
  addUser: { email: other('other@example.com'), name: other('Other'), deployment_admin: unseen('elsewhere') },
  changeUser: { deployment_admin: unseen('elsewhere'), disabled: unseen('elsewhere') },
  addAttester: { kind: other('secp256k1'), token_key: unseen('elsewhere') },
  retireAttester: { final: other(true) },
  changeDeploymentSettings: { second_person: unseen('elsewhere') },
})

const fieldsOf = (schema: unknown): string[] =>
  Object.keys((schema as { properties?: object } | null)?.properties ?? {})
const waiting = ADMIN_ROUTES.filter(({ secondPerson }) => secondPerson !== null)

for (const { operationId, body, query } of waiting) {
  const fields = [...fieldsOf(body), ...fieldsOf(query)].filter((field) => field !== 'comment')
  if (fields.length === 0) continue
  test(`${operationId} shows each member`, async () => {
    const world = await startWorld(operationId)
    try {
      if (operationId in world.personal) return
      const { alpha, project, strict, store } = world
      const twin = await store.projects.create({ organizationId: alpha.id, name: project.name, policyId: strict.id })
      const members = membersOf(world, twin.id)[operationId] ?? {}
      expect(Object.keys(members).sort()).toEqual(fields.sort())
      if (operationId === 'setWebhookService') {
        expect((await world.asks(world.ada, operationId)).status).toBe(200)
      }
      await world.setRule(true)
      await world.setDeploymentRule(true)
      const [, { deployment = false, body: sent, ...options }] = world.requests[operationId] ?? ['', {}]
      const seen = async (changed: object): Promise<string> => {
        const asked = await world.asks(deployment ? world.root : world.ada, operationId, {
          ...options,
          ...(sent === undefined ? {} : { body: { ...(sent as object), ...changed } }),
        })
        expect([operationId, changed, asked.status, asked.body.detail]).toEqual([
          operationId,
          changed,
          202,
          undefined as never,
        ])
        return JSON.stringify([asked.body['name'], asked.body['changes'], asked.body['differences']])
      }
      const first = await seen({})
      for (const [field, value] of Object.entries(members)) {
        if ('other' in value) expect([field, (await seen({ [field]: value.other })) === first]).toEqual([field, false])
      }
    } finally {
      await world.close()
    }
  })
}
