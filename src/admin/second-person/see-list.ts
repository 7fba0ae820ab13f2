// What people see of a list's change, and when it needs a second person. Adding to an organization's `deny` or removing from its
// `allow` only withholds signatures, so it needs none. For other lists, only the policies that read them know which way is safe.

import { addressKey, parseAnyAddress } from '../../domain/address-key.ts'
import { counted } from '../../domain/counted.ts'
import type { AddressList } from '../../store/lists.ts'
import type { Tables } from '../../store/store.ts'
import { SubjectUnknownError } from '../errors.ts'
import { type ListOwner, requireList, type StagedUpload } from '../lists.ts'
import type { Needs, Seen, SeenChange } from './declaration.ts'

interface Edit {
  readonly add?: readonly { readonly address: string; readonly memo?: string }[]
  readonly remove?: readonly string[]
}

const named = ({ name, organizationId }: Pick<AddressList, 'name' | 'organizationId'>): string =>
  organizationId === null ? `shared list ${name}` : `list ${name}`

/** `allow` and `deny` are special as an organization's lists only, not as shared ones. */
export const needsForEdit = (name: string, owner: ListOwner, { add = [], remove = [] }: Edit): Needs => {
  if (owner !== null && name === 'deny' && remove.length === 0) return 'nothing'
  if (owner !== null && name === 'allow' && add.length === 0) return 'nothing'
  return 'second-person'
}

export const needsForUpload = (name: string, owner: ListOwner, merge: boolean): Needs =>
  owner !== null && name === 'deny' && merge ? 'nothing' : 'second-person'

const MEMBER = 'in the list'

export const seeEdit = async (
  tables: Tables,
  owner: ListOwner,
  name: string,
  { add = [], remove = [] }: Edit,
): Promise<Seen> => {
  const list = await tables.lists.find(owner, name)
  const isIn = async (address: string): Promise<boolean> => {
    const canonical = parseAnyAddress(address)
    // The change itself refuses a missing list and a text that is not an address.
    if (list === null || canonical === null) return false
    return (await tables.lists.findEntry(list, addressKey(canonical))) !== null
  }
  const changes: SeenChange[] = []
  for (const { address, memo = '' } of add) {
    const before = (await isIn(address)) ? MEMBER : null
    changes.push({ what: address, before, after: memo === '' ? MEMBER : `${MEMBER}: ${memo}` })
  }
  for (const address of remove)
    changes.push({ what: address, before: (await isIn(address)) ? MEMBER : null, after: null })
  return { subject: name, name: named({ name, organizationId: owner }), changes }
}

const entriesText = (entries: number): string => counted(entries, 'entry', 'entries')

export const seeUpload = async (
  tables: Tables,
  owner: ListOwner,
  name: string,
  { merge, entries, read }: StagedUpload,
): Promise<Seen> => {
  const list = await requireList(tables, owner, name)
  return {
    subject: name,
    name: named(list),
    changes: [
      { what: 'content', before: entriesText(list.entryCount), after: entriesText(entries) },
      { what: merge ? 'added from a file' : 'replaced by a file', before: null, after: entriesText(read) },
    ],
    basis: list.version,
  }
}

/** The host only, since a URL's query may hold a key. The change itself refuses a text that is not a URL. */
const hostOf = (location: string): string => {
  if (!/^https?:/i.test(location)) return 'a file of the machine'
  return URL.canParse(location) ? new URL(location).host : ''
}

export const seeSource = async (
  tables: Tables,
  owner: ListOwner,
  name: string,
  after: { readonly url: string; readonly format: string; readonly everySeconds: number } | null,
): Promise<Seen> => {
  const list = await requireList(tables, owner, name)
  const source = await tables.listSources.find(list.id)
  if (after === null && source === null) throw new SubjectUnknownError('source')
  const before =
    source === null ? null : `${hostOf(source.location)}, ${source.format}, every ${source.intervalSeconds} s`
  return {
    subject: name,
    name: named(list),
    changes: [
      {
        what: 'kept by',
        before: before ?? `people, with ${entriesText(list.entryCount)}`,
        after: after === null ? 'people' : `${hostOf(after.url)}, ${after.format}, every ${after.everySeconds} s`,
      },
    ],
    basis: source?.location ?? null,
  }
}

export const seeRemoval = async (tables: Tables, owner: ListOwner, name: string): Promise<Seen> => {
  const list = await requireList(tables, owner, name)
  return {
    subject: name,
    name: named(list),
    changes: [{ what: 'content', before: entriesText(list.entryCount), after: null }],
    basis: list.version,
  }
}

export const seeCreation = async (owner: ListOwner, name: string): Promise<Seen> => ({
  subject: name,
  name: named({ name, organizationId: owner }),
  changes: [{ what: 'content', before: null, after: entriesText(0) }],
})
