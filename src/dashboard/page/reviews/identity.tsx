import { counted } from '../../../lib/counted.ts'
import type { SessionCheck, SessionDetail } from '../api/types.ts'
import { Badge } from '../ui/parts.tsx'
import { countryWord } from './labels.ts'
import type { Fields, OpenedEvidence } from './use-evidence.ts'
import { isPicture, usePicture } from './use-picture.ts'

const YEAR_MS = 31_557_600_000
const yearsOf = (birthDate: string): number => Math.floor((Date.now() - Date.parse(birthDate)) / YEAR_MS)

export const ageOf = (birthDate: string): string => {
  const years = yearsOf(birthDate)
  return Number.isNaN(years) ? birthDate : `${birthDate} (age ${years})`
}

export const nameOf = (fields: Fields | null): string | null => fields?.full_name ?? fields?.registered_name ?? null

/** Returns age and country, such as `40 years old, United Kingdom (GB)`. */
const aboutOf = ({ birth_date: birthDate, country }: Fields): string => {
  const years = birthDate === null ? Number.NaN : yearsOf(birthDate)
  return [
    ...(Number.isNaN(years) ? [] : [`${counted(years, 'year', 'years')} old`]),
    ...(country === null ? [] : [countryWord(country)]),
  ].join(', ')
}

interface IdentityProps {
  readonly session: SessionDetail
  readonly evidence: OpenedEvidence
}

/** Shares its image with the pane below. */
export const Portrait = ({ session, evidence: { list, isOpen } }: IdentityProps) => {
  const portrait = list.value?.documents.find(({ kind, media_type: type }) => kind === 'portrait' && isPicture(type))
  const { url } = usePicture(session.id, isOpen ? (portrait?.id ?? null) : null)
  return url === null ? null : <img class="portrait" src={url} alt="" />
}

interface RisksProps extends IdentityProps {
  readonly openHits: number
  readonly checks: readonly SessionCheck[]
}

export const Risks = ({ session, evidence, openHits, checks }: RisksProps) => {
  const count = (wanted: SessionCheck['outcome']): number => checks.filter(({ outcome }) => outcome === wanted).length
  const { confirmed } = session.hits
  const missing = evidence.list.value?.missing.length ?? 0
  const risks = [
    ['bad', confirmed, 'confirmed hit', 'confirmed hits'],
    ['warn', openHits, 'open hit', 'open hits'],
    ['bad', count('failed'), 'failed check', 'failed checks'],
    ['warn', count('look'), 'check to review', 'checks to review'],
    ['warn', missing, 'missing part', 'missing parts'],
    ['plain', session.retry_count, 'earlier attempt', 'earlier attempts'],
  ] as const
  return (
    <span class="risks">
      {evidence.fields.value !== null && <span>{aboutOf(evidence.fields.value)}</span>}
      {risks.map(
        ([tone, number, one, many]) =>
          number > 0 && (
            <Badge key={one} tone={tone}>
              {counted(number, one, many)}
            </Badge>
          ),
      )}
    </span>
  )
}
