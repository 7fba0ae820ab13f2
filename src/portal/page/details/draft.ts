// Keeps typed values in the tab's session storage until they are sent, the session is closed, or the person leaves.
import type { FieldName } from '../../../domain/requirements.ts'
import type { EvidenceFields, Owner } from '../../../identity/evidence-types.ts'

export interface OwnerDraft {
  readonly name: string
  readonly share: string
}

export interface Draft {
  readonly fullName: string
  readonly day: string
  readonly month: string
  readonly year: string
  readonly country: string
  readonly registeredName: string
  readonly registrationNumber: string
  readonly owners: readonly OwnerDraft[]
}

export const EMPTY_OWNER: OwnerDraft = { name: '', share: '' }

export const EMPTY_DRAFT: Draft = {
  fullName: '',
  day: '',
  month: '',
  year: '',
  country: '',
  registeredName: '',
  registrationNumber: '',
  owners: [EMPTY_OWNER],
}

const withoutZero = (text: string): string => text.replace(/^0+(?=\d)/, '')

export const toDraft = (fields: EvidenceFields): Draft => {
  const [year = '', month = '', day = ''] = (fields.birthDate ?? '').split('-')
  return {
    fullName: fields.fullName ?? '',
    day: withoutZero(day),
    month: withoutZero(month),
    year,
    country: fields.country ?? '',
    registeredName: fields.registeredName ?? '',
    registrationNumber: fields.registrationNumber ?? '',
    owners: fields.owners?.map(({ name, sharePercent }) => ({ name, share: String(sharePercent) })) ?? [EMPTY_OWNER],
  }
}

const birthDateOf = ({ day, month, year }: Draft): string =>
  `${year.trim().padStart(4, '0')}-${month.trim().padStart(2, '0')}-${day.trim().padStart(2, '0')}`

const ownersOf = (owners: readonly OwnerDraft[]): readonly Owner[] =>
  owners
    .filter(({ name, share }) => name.trim() !== '' || share.trim() !== '')
    .map(({ name, share }) => ({ name: name.trim(), sharePercent: Number(share) }))

export const toFields = (draft: Draft, names: readonly FieldName[]): EvidenceFields => {
  const all: Required<EvidenceFields> = {
    fullName: draft.fullName.trim(),
    birthDate: birthDateOf(draft),
    country: draft.country,
    registeredName: draft.registeredName.trim(),
    registrationNumber: draft.registrationNumber.trim(),
    owners: ownersOf(draft.owners),
  }
  return Object.fromEntries(names.map((name) => [name, all[name]])) as EvidenceFields
}

const keyOf = (sessionId: string): string => `portal-draft-${sessionId}`

export const loadDraft = (sessionId: string): Draft | null => {
  try {
    const text = sessionStorage.getItem(keyOf(sessionId))
    return text === null ? null : { ...EMPTY_DRAFT, ...(JSON.parse(text) as Partial<Draft>) }
  } catch {
    // Storage is blocked or corrupt, so the form starts with the server's values.
    return null
  }
}

export const keepDraft = (sessionId: string, draft: Draft | null): void => {
  try {
    if (draft === null) sessionStorage.removeItem(keyOf(sessionId))
    else sessionStorage.setItem(keyOf(sessionId), JSON.stringify(draft))
  } catch {
    // The draft isn't stored, so a reload loses the typed values.
  }
}
