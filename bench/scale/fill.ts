// Fills a deployment with policies and their contracts, keys, and a list.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressOfKey } from '../../src/domain/address-key.ts'
import { createEntrySink } from '../../src/facts/lists/entry-sink.ts'
import { replaceList } from '../../src/facts/lists/write-list.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { Store, Tables } from '../../src/store/store.ts'
import { type RunningService, withStore } from './running-service.ts'

const POLICY = readFileSync(join(import.meta.dir, '..', 'policies', 'six-rules.yaml'), 'utf8')
export const CHAIN = 'sepolia'

/** Creates many rows, 200 per transaction. */
const inBatches = async (
  store: Store,
  count: number,
  make: (tables: Tables, index: number) => Promise<void>,
): Promise<void> => {
  for (let start = 0; start < count; start += 200) {
    await store.transaction(async (tables) => {
      for (let index = start; index < Math.min(count, start + 200); index++) await make(tables, index)
    })
  }
}

const contractAt = (index: number): string => `0xc0de${(index + 1).toString(16).padStart(36, '0')}`

/** Adds a policy per contract, each with another name and therefore another text. @returns the contracts */
const savePolicies = async (store: Store, organizationId: string, first: number, count: number) => {
  await inBatches(store, count, async (tables, offset) => {
    const index = first + offset
    const name = `Six rules ${index}`
    const policy = await tables.policies.create({ organizationId, name })
    const source = POLICY.replace('name: Six rules', `name: ${name}`)
    const revision = await tables.policies.saveRevision({ organizationId, policyId: policy.id, source, quorum: 1 })
    if (revision === null) throw new Error('the policy is gone')
    await tables.policies.activateRevision(organizationId, policy.id, revision.id)
    const project = await tables.projects.create({ organizationId, name, policyId: policy.id })
    const binding = { organizationId, projectId: project.id, chainName: CHAIN, address: contractAt(index) }
    await tables.bindings.create(binding)
  })
  return Array.from({ length: count }, (_, offset) => contractAt(first + offset))
}

const issueKeys = async (store: Store, organizationId: string, count: number): Promise<readonly string[]> => {
  const keys: string[] = []
  const settings = { kind: 'attestation', environment: 'live', name: '', expiresAtSeconds: null } as const
  await inBatches(store, count, async (tables) => {
    keys.push((await tables.apiKeys.issue({ organizationId, rateLimit: null, ...settings })).text)
  })
  return keys
}

/** Adds a policy with a contract to the organization of the quick start. @returns the contract */
export const addPolicy = (service: RunningService): Promise<string> =>
  withStore(service, async (store, organizationId) => (await savePolicies(store, organizationId, 0, 1))[0] ?? '')

/** Rows to create, distributed over many organizations, because each has limits. */
export interface FillPlan {
  readonly organizations: number
  readonly policiesEach: number
  readonly keysEach: number
}

/** @returns the contracts, and for each contract a key of its organization */
export const fillOrganizations = (
  service: Pick<RunningService, 'dataDirectory'>,
  { organizations, policiesEach, keysEach }: FillPlan,
): Promise<{ readonly contracts: readonly string[]; readonly keys: readonly string[] }> =>
  withStore(service, async (store) => {
    const contracts: string[] = []
    const keys: string[] = []
    for (let index = 0; index < organizations; index++) {
      const { id } = await store.organizations.create({ slug: `scale-${index}`, name: `Scale ${index}` })
      contracts.push(...(await savePolicies(store, id, index * policiesEach, policiesEach)))
      keys.push(...(await issueKeys(store, id, keysEach)).slice(0, policiesEach))
    }
    return { contracts, keys }
  })

export const fillDenyList = (service: RunningService, count: number): Promise<void> =>
  withStore(service, async (store, organizationId) => {
    const sink = createEntrySink()
    const random = new Uint8Array(20)
    for (let index = 0; index < count; index++) sink.add(addressOfKey(crypto.getRandomValues(random)), '')
    const list = await store.lists.create({ owner: organizationId, name: 'deny' })
    const contents = { lists: store.lists, bases: store.listBases }
    await replaceList(contents, list.id, sink.chunks({ author: 'bench', addedAtSeconds: systemClock.unixSeconds() }))
  })
