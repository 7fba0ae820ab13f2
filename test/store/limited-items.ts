// Creates and copies items of every kind that organizations can create, for tests of all kinds.
import type { SqlParameter } from '../../src/store/database.ts'
import type { LimitedKind } from '../../src/store/organizations/organization-limits.ts'
import type { Store } from '../../src/store/store.ts'

export interface Parents {
  readonly organizationId: string
  readonly policyId: string
  readonly projectId: string
}

interface LimitedItems {
  readonly table: string
  /** Columns that differ between copies; the first identifies an item. */
  readonly unique: readonly string[]
  /** Name of the item in paths, for which `create` returns the value. */
  readonly parameter?: string
  /** @param name makes the item unique */
  readonly create: (store: Store, parents: Parents, name: string) => Promise<string | undefined>
}

const account = (store: Store, email: string, madeByOrganizationId?: string) =>
  store.users.create({
    email,
    name: 'a',
    deploymentAdmin: false,
    passwordHash: null,
    ...(madeByOrganizationId === undefined ? {} : { madeByOrganizationId }),
  })

export const LIMITED_ITEMS: Readonly<Record<LimitedKind, LimitedItems>> = {
  'webhook endpoints': {
    table: 'webhook_endpoints',
    unique: ['id'],
    parameter: 'endpoint',
    create: async (store, { organizationId }, name) => {
      const id = `endpoint_${name.padStart(16, '0')}`
      await store.webhookEndpoints.add({
        id,
        organizationId,
        environment: 'live',
        purpose: 'events',
        url: `https://${name}.example/`,
        sealedSecret: new Uint8Array(1),
      })
      return id
    },
  },
  'API keys': {
    table: 'api_keys',
    unique: ['key_id'],
    parameter: 'key',
    create: async (store, { organizationId }, name) => {
      const { record } = await store.apiKeys.issue({
        organizationId,
        kind: 'attestation',
        environment: 'live',
        name,
        expiresAtSeconds: null,
        rateLimit: null,
      })
      return record.keyId
    },
  },
  lists: {
    table: 'lists',
    unique: ['id', 'name'],
    parameter: 'list',
    create: async (store, { organizationId: owner }, name) =>
      (await store.lists.create({ owner, name: `list_${name}` })).name,
  },
  policies: {
    table: 'policies',
    unique: ['id'],
    parameter: 'policy',
    create: async (store, { organizationId }, name) => (await store.policies.create({ organizationId, name })).id,
  },
  'policy revisions': {
    table: 'policy_revisions',
    unique: ['id', 'number'],
    create: async (store, { organizationId, policyId }) =>
      (await store.policies.saveRevision({ organizationId, policyId, source: 'x', quorum: 1 }))?.id,
  },
  projects: {
    table: 'projects',
    unique: ['id', 'verification_hash'],
    parameter: 'project',
    create: async (store, { organizationId, policyId }, name) =>
      (await store.projects.create({ organizationId, name, policyId })).id,
  },
  bindings: {
    table: 'bindings',
    unique: ['id', 'address'],
    parameter: 'binding',
    create: async (store, { organizationId, projectId }, address) =>
      (await store.bindings.create({ organizationId, projectId, chainName: 'base', address })).id,
  },
  members: {
    table: 'memberships',
    unique: ['user_id'],
    parameter: 'user',
    create: async (store, { organizationId }, name) => {
      const { id } = await account(store, `${name}@member.example`)
      await store.memberships.add(organizationId, id, 'viewer')
      return id
    },
  },
  'membership offers': {
    table: 'membership_offers',
    unique: ['id', 'user_id'],
    parameter: 'offer',
    create: async (store, { organizationId }, name) => {
      const { id: userId } = await account(store, `${name}@offer.example`)
      const who = { organizationId, userId, role: 'viewer', askedBy: 'x', askedByName: 'x' } as const
      const codeHash = crypto.getRandomValues(new Uint8Array(32))
      return store.membershipOffers.make({ ...who, expiresAtSeconds: 1_867_000_000 }, codeHash)
    },
  },
  'created accounts': {
    table: 'users',
    unique: ['id', 'email'],
    create: async (store, { organizationId }, name) => (await account(store, `${name}@new.example`, organizationId)).id,
  },
  'pending approvals': {
    table: 'approvals',
    unique: ['id'],
    parameter: 'approval',
    create: async (store, parents, name) =>
      requestApproval(store, parents, (await account(store, `${name}@approval.example`)).id),
  },
  'pending approvals per administrator': {
    table: 'approvals',
    unique: ['id'],
    create: async (store, parents) => {
      const email = 'requester@approval.example'
      const { id } = (await store.users.findByEmail(email)) ?? (await account(store, email))
      return requestApproval(store, parents, id)
    },
  },
}

const requestApproval = async (store: Store, { organizationId, policyId: subject }: Parents, requestedBy: string) => {
  const detail = { name: 'x', changes: [], differences: null, effects: [], comment: '' }
  const what = { action: 'policy.activate', subject, detail, request: {}, lifeSeconds: 60 }
  return (await store.approvals.request({ organizationId, requestedBy, ...what })).id
}

/** Numbers from 1 to its parameter. */
const NUMBERS = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)`

interface Statement {
  readonly sql: string
  readonly parameters: SqlParameter[]
}

/** Creates the accounts that copied rows with a unique account refer to. */
export const insertAccounts = (count: number): Statement => ({
  sql: `INSERT INTO users (id, email, name, deployment_admin, totp_last_step, version, created_at_seconds)
    ${NUMBERS} SELECT 'user-' || n, 'user-' || n, 'x', 0, 0, 1, 1 FROM numbers`,
  parameters: [count],
})

/** Copies a row of the kind's table, each copy created a second later. @param row all its columns */
export const copyRow = (kind: LimitedKind, row: Readonly<Record<string, unknown>>, count: number): Statement => {
  const { table, unique } = LIMITED_ITEMS[kind]
  const names = Object.keys(row)
  const key = unique[0] ?? 'id'
  const values = names.map((name) => {
    if (name === 'created_at_seconds') return `${name} + n`
    if (!unique.includes(name)) return name
    if (name === 'user_id') return `'user-' || n`
    return name === 'number' ? 'number + 1000 + n' : `SUBSTR(${name}, 1, 50) || '-' || n`
  })
  return {
    sql: `INSERT INTO ${table} (${names.join(', ')}) ${NUMBERS} SELECT ${values.join(', ')} FROM numbers
      JOIN ${table} ON ${table}.${key} = ?`,
    parameters: [count, row[key] as string],
  }
}
