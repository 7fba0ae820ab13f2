// Describes list changes and whether they require a second person. Additions to an organization's `deny` and removals
// from its `allow` don't, because they only withhold signatures. For other lists, this depends on the policies.

import { addressKey, hexOfKey, parseAnyAddress } from '../../domain/address-key.ts'
import { counted } from '../../lib/counted.ts'
import type { ListSource } from '../../store/lists/list-sources.ts'
import type { AddressList } from '../../store/lists/lists.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import type { StagedUpload } from '../list-files.ts'
import { type ListOwner, requireList } from '../lists.ts'
import type { Needs, Seen, SeenChange } from './declaration.ts'
import { memoText, SHOWN_MAX } from './list-difference.ts'
import { locationText } from './location-text.ts'

interface Edit {
  readonly add?: readonly { readonly address: string; readonly memo?: string }[]
  readonly remove?: readonly string[]
}

const named = ({ name, organizationId }: Pick<AddressList, 'name' | 'organizationId'>): string =>
  organizationId === null ? `shared list ${name}` : `list ${name}`

/** Shared lists named `allow` and `deny` aren't special. */
export const needsForEdit = (name: string, owner: ListOwner, { add = [], remove = [] }: Edit): Needs => {
  if (owner !== null && name === 'deny' && remove.length === 0) return 'nothing'
  if (owner !== null && name === 'allow' && add.length === 0) return 'nothing'
  return 'second-person'
}

export const needsForUpload = (name: string, owner: ListOwner, merge: boolean): Needs =>
  owner !== null && name === 'deny' && merge ? 'nothing' : 'second-person'

export const seeEdit = async (
  tables: Tables,
  owner: ListOwner,
  name: string,
  { add = [], remove = [] }: Edit,
): Promise<Seen> => {
  const list = await tables.lists.find(owner, name)
  const addresses = [...add.map(({ address }) => address), ...remove]
  // The change itself refuses missing lists and invalid addresses.
  const keys = new Map(
    addresses.flatMap((address) => {
      const canonical = parseAnyAddress(address)
      return canonical === null ? [] : [[address, addressKey(canonical)] as const]
    }),
  )
  const entries = list === null ? null : await tables.lists.findEntries(list, [...keys.values()])
  const memoBefore = (address: string): string | null => {
    const key = keys.get(address)
    const entry = key === undefined ? undefined : entries?.get(hexOfKey(key))
    return entry === undefined ? null : memoText(entry.memo)
  }
  const added = add.map(({ address, memo = '' }) => ({
    what: address,
    before: memoBefore(address),
    after: memoText(memo),
  }))
  const removed = remove.map((address) => ({ what: address, before: memoBefore(address), after: null }))
  const changes: SeenChange[] = [...added.slice(0, SHOWN_MAX), ...removed.slice(0, SHOWN_MAX)]
  const hidden = added.length + removed.length - changes.length
  const sha256 = new Bun.CryptoHasher('sha256').update(JSON.stringify([added, removed])).digest('hex')
  return {
    subject: name,
    name: named({ name, organizationId: owner }),
    changes:
      hidden === 0
        ? changes
        : [
            {
              what: 'addresses',
              before: null,
              after: `${added.length} added, ${removed.length} removed; ${hidden} not shown`,
            },
            ...changes,
          ],
    basis: sha256,
  }
}

const entriesText = (entries: number): string => counted(entries, 'entry', 'entries')

export const seeUpload = async (
  tables: Tables,
  owner: ListOwner,
  name: string,
  { merge, entries, read, sha256, difference }: StagedUpload,
): Promise<Seen> => {
  const list = await requireList(tables, owner, name)
  // The list or the rule changed during the upload, or the request is from an earlier version.
  if (difference?.version !== list.version) {
    throw new ConflictError('the list has changed since the file was compared with it: upload the file again')
  }
  const { added, removed, remarked, shown } = difference
  const hidden = added + removed + remarked - shown.length
  return {
    subject: name,
    name: named(list),
    changes: [
      { what: 'content', before: entriesText(list.entryCount), after: entriesText(entries) },
      {
        what: merge ? 'added from a file' : 'replaced with a file',
        before: null,
        after: `${entriesText(read)} (sha256 ${sha256})`,
      },
      { what: 'SHA-256 of the resulting addresses, one per line', before: null, after: difference.sha256 },
      {
        what: 'addresses',
        before: null,
        after: `${added} added, ${removed} removed, ${remarked} with a new memo${hidden === 0 ? '' : `; ${hidden} not shown`}`,
      },
      ...shown,
    ],
    basis: [list.version, difference.sha256],
  }
}

type Source = Pick<ListSource, 'location' | 'format' | 'reach' | 'skipsBadLines' | 'intervalSeconds'>

const sourceText = ({ location, format, reach, skipsBadLines, intervalSeconds }: Source): string =>
  [
    locationText(location),
    format,
    `every ${intervalSeconds} s`,
    ...(skipsBadLines ? ['skips invalid lines'] : []),
    ...(reach === 'public' ? [] : [`${reach} addresses allowed`]),
  ].join(', ')

export const seeSource = async (
  tables: Tables,
  owner: ListOwner,
  name: string,
  after: Source | null,
): Promise<Seen> => {
  const list = await requireList(tables, owner, name)
  const source = await tables.listSources.find(list.id)
  if (after === null && source === null) throw new SubjectUnknownError('source')
  return {
    subject: name,
    name: named(list),
    changes: [
      {
        what: 'maintained by',
        before: source === null ? `people, with ${entriesText(list.entryCount)}` : sourceText(source),
        after: after === null ? 'people' : sourceText(after),
      },
    ],
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
