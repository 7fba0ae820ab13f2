// The operator's lists: CSV with a header, JSON (lines or an array), and FollowTheMoney entities. Source:
// https://followthemoney.tech/explorer, docs/screening.md "Custom lists".
import { ENTRY_KINDS, type EntryKind, type ListedEntry } from '../matching/entry.ts'
import { csvRecords, ScreeningListInvalidError } from './csv-rows.ts'

type Fields = Readonly<Record<string, unknown>>

const SEPARATOR = ';'
const COLUMNS = ['id', 'kind', 'name', 'aliases', 'birth_dates', 'countries', 'wallets']

const textsOf = (value: unknown): readonly string[] => {
  const values = Array.isArray(value) ? value : typeof value === 'string' ? value.split(SEPARATOR) : []
  return values.flatMap((item) => (typeof item === 'string' && item.trim() !== '' ? [item.trim()] : []))
}

const kindOf = (value: unknown): EntryKind => ENTRY_KINDS.find((kind) => kind === value) ?? 'other'

const entryOf = (id: string, kind: EntryKind, names: readonly string[], fields: Fields): ListedEntry => ({
  id,
  kind,
  names,
  birthDates: textsOf(fields['birth_dates']),
  countries: textsOf(fields['countries']),
  wallets: textsOf(fields['wallets']),
})

const ofFields = (fields: Fields, row: number): ListedEntry => {
  const [id] = textsOf(fields['id'])
  const name = typeof fields['name'] === 'string' ? fields['name'].trim() : ''
  if (id === undefined || name === '') throw new ScreeningListInvalidError(`entry ${row}: id and name are required`)
  return entryOf(id, kindOf(fields['kind']), [name, ...textsOf(fields['aliases'])], fields)
}

export const readOwnCsv = (text: string): readonly ListedEntry[] =>
  csvRecords(text, COLUMNS).map((fields, at) => ofFields(fields, at + 1))

const SCHEMAS: Readonly<Record<string, EntryKind>> = {
  Person: 'person',
  Company: 'organization',
  Organization: 'organization',
  PublicBody: 'organization',
  LegalEntity: 'other',
  Vessel: 'vessel',
  Airplane: 'aircraft',
}

const fieldsIn = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

const nestedKeys = (wallets: unknown): readonly string[] =>
  (Array.isArray(wallets) ? wallets : []).flatMap((wallet) =>
    textsOf(fieldsIn(fieldsIn(wallet)['properties'])['publicKey']),
  )

/** Returns null for entities that aren't listed subjects, such as addresses and passports. */
const ofEntity = ({ id, schema, caption, properties }: Fields): ListedEntry | null => {
  const kind = SCHEMAS[String(schema)]
  if (kind === undefined || typeof id !== 'string') return null
  const values = fieldsIn(properties)
  const all = (...names: readonly string[]): readonly string[] => names.flatMap((name) => textsOf(values[name]))
  const names = [...textsOf(caption), ...all('name', 'alias', 'weakAlias', 'previousName')]
  if (names.length === 0) return null
  return entryOf(id, kind, names, {
    birth_dates: all('birthDate'),
    countries: all('nationality', 'citizenship', 'country', 'jurisdiction', 'birthCountry'),
    wallets: [...all('publicKey'), ...nestedKeys(values['cryptoWallets'])],
  })
}

/** Adds wallets, which are separate entities, to their holders. */
const withWallets = (entries: readonly ListedEntry[], entities: readonly Fields[]): readonly ListedEntry[] => {
  const held = new Map(entries.map(({ id, wallets }) => [id, [...wallets]]))
  const unheld: ListedEntry[] = []
  for (const { id, schema, properties } of entities) {
    const values = fieldsIn(properties)
    const keys = textsOf(values['publicKey'])
    if (schema !== 'CryptoWallet' || typeof id !== 'string' || keys.length === 0) continue
    const ofHolders = textsOf(values['holder']).flatMap((holder) => (held.has(holder) ? [held.get(holder)!] : []))
    for (const wallets of ofHolders) wallets.push(...keys)
    if (ofHolders.length === 0) unheld.push(entryOf(id, 'other', [], { wallets: keys }))
  }
  return [...entries.map((entry) => ({ ...entry, wallets: [...new Set(held.get(entry.id))] })), ...unheld]
}

const parsed = (text: string): readonly unknown[] => {
  try {
    const whole: unknown = text.trimStart().startsWith('[') ? JSON.parse(text) : null
    if (Array.isArray(whole)) return whole
    return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as unknown]))
  } catch (error) {
    if (error instanceof SyntaxError) throw new ScreeningListInvalidError('the file must be JSON lines or a JSON array')
    throw error
  }
}

export const readOwnJson = (text: string): readonly ListedEntry[] => {
  const items = parsed(text).map((item, at) => {
    if (typeof item !== 'object' || item === null)
      throw new ScreeningListInvalidError(`entry ${at + 1} is not an object`)
    return item as Fields
  })
  const entries = items.flatMap((fields, at) =>
    'schema' in fields ? (ofEntity(fields) ?? []) : [ofFields(fields, at + 1)],
  )
  return withWallets(entries, items)
}
