// Current names of the subjects of audit entries, which contain only permanent ids.
import type { AuditEntry } from '../store/audit.ts'
import type { Tables } from '../store/store.ts'

type NamedTables = Pick<Tables, 'policies' | 'projects' | 'apiKeys' | 'bindings' | 'users'>
type Find = (tables: NamedTables, organizationId: string, id: string) => Promise<string | null>

const personName: Find = async ({ users }, _organizationId, id) => (await users.find(id))?.name ?? null

/** Keyed by the first part of an action, before the dot. */
const FINDERS: Readonly<Record<string, Find>> = {
  policy: async ({ policies }, organizationId, id) => (await policies.find(organizationId, id))?.name ?? null,
  project: async ({ projects }, organizationId, id) => (await projects.find(organizationId, id))?.name ?? null,
  key: async ({ apiKeys }, organizationId, id) => (await apiKeys.find(organizationId, id))?.name ?? null,
  binding: async ({ bindings }, organizationId, id) => (await bindings.find(organizationId, id))?.label ?? null,
  member: personName,
  account: personName,
}

export const createSubjectNames = (tables: NamedTables) => {
  const known = new Map<string, Promise<string | null>>()
  return ({ action, organizationId, subject }: AuditEntry): Promise<string | null> => {
    const find = FINDERS[action.slice(0, action.indexOf('.'))]
    if (find === undefined) return Promise.resolve(null)
    const key = `${organizationId} ${subject}`
    const name = known.get(key) ?? find(tables, organizationId ?? '', subject)
    known.set(key, name)
    return name
  }
}
