import { createHash } from 'node:crypto'
import { FieldInvalidError } from '../../domain/errors.ts'
import { HTTPS_LINK_MAX, parseHttpsLink } from '../../lib/https-link.ts'
import { LOGO_BYTES_MAX, logoTypeOf } from '../../lib/logo-type.ts'
import { RETENTION_DAYS_MAX, type Retention } from '../../store/evidence/evidence-retention.ts'
import type { Brand, Logo } from '../../store/organizations/organization-brands.ts'
import type { Tables } from '../../store/store.ts'
import { requireFound } from '../errors.ts'
import { EMAIL } from '../member-shapes.ts'
import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, nullable, partial, Type } from '../schema.ts'
import { changedFields } from '../second-person/declaration.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Organizations')

const BASE = '/organizations/{organization}'
const LOGO_RULE = 'must be a PNG, JPEG or WebP picture of at most 256 KiB'
const LOGO_TEXT_MAX = Math.ceil(LOGO_BYTES_MAX / 3) * 4

const BRAND = named(
  'Brand',
  closed({
    color: Type.Union([Type.String(), Type.Null()], { description: '`#rrggbb`; null for the standard color' }),
    logo_version: Type.Union([Type.String(), Type.Null()], {
      description: 'Version of the logo; null if there is no logo',
    }),
    privacy_url: Type.Union([Type.String(), Type.Null()], { description: 'URL of the privacy policy' }),
    support_email: Type.Union([Type.String(), Type.Null()], { description: 'Email address for questions' }),
    words_en: Type.Union([Type.String(), Type.Null()], {
      description: 'The organization’s text on the page, in English',
    }),
    words_de: Type.Union([Type.String(), Type.Null()], {
      description: 'The organization’s text on the page, in German',
    }),
    asks_details: Type.Boolean({
      description: 'Whether the page asks people whether policies may use their country and age',
    }),
    usual_wait_seconds: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Typical recent wait for a decision; null until there are five decisions',
    }),
  }),
)

const WORDS = nullable(Type.String({ minLength: 1, maxLength: 500, printable: true }))

const days = (minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: RETENTION_DAYS_MAX, description })
/** @param least minimum of the periods for which requests can't set 0 */
const retentionFields = (least: 0 | 1) => ({
  completed_days: days(0, 'Days from completion until evidence is erased; 0 erases evidence within an hour'),
  rejected_days: days(
    least,
    'Number of days after a rejection during which the documents, portrait and name are recognized',
  ),
  abandoned_days: days(
    least,
    'Days from the last step until evidence is erased, for sessions that were never submitted',
  ),
})
const RETENTION = named('EvidenceRetention', closed(retentionFields(0)))

const changedRetention = (
  before: Retention,
  body: { readonly completed_days?: number; readonly rejected_days?: number; readonly abandoned_days?: number },
): Retention => ({
  completedDays: body.completed_days ?? before.completedDays,
  rejectedDays: body.rejected_days ?? before.rejectedDays,
  abandonedDays: body.abandoned_days ?? before.abandonedDays,
})

const showBrand = async (tables: Pick<Tables, 'sessions'>, organizationId: string, brand: Brand) =>
  shown(BRAND, brand, { usual_wait_seconds: await tables.sessions.findUsualWait(organizationId, 'live') })

const linkOf = (text: string | null): string | null => {
  const url = text === null ? null : parseHttpsLink(text)
  if (text !== null && url === null) {
    throw new FieldInvalidError('privacy_url', 'must be an absolute https URL without credentials')
  }
  return url
}

const showRetention = (retention: Retention) => shown(RETENTION, retention)

const decodeLogo = (text: string): Logo => {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  const type = logoTypeOf(bytes)
  if (type === null || bytes.length > LOGO_BYTES_MAX) {
    throw new FieldInvalidError('logo', LOGO_RULE)
  }
  return { type, bytes }
}

export const PORTAL_SETTING_ROUTES = [
  route('readBrand', 'GET', `${BASE}/brand`, {
    access: VIEWER,
    summary: 'Show the colors, logo and text of the organization’s verification page',
    answer: BRAND,
    handle: async ({ services, organization }) =>
      showBrand(services.store, organization.id, await services.store.organizationBrands.find(organization.id)),
  }),
  route('readLogo', 'GET', `${BASE}/brand/logo`, {
    access: VIEWER,
    summary: 'Download the logo of the verification page',
    query: Type.Object({
      version: Type.Optional(
        Type.String({ maxLength: 100, description: 'Ignored; gives each logo its own URL for caching' }),
      ),
    }),
    streams: true,
    media: ['image/png', 'image/jpeg', 'image/webp'],
    handle: async ({ services, organization, requestId }) => {
      const logo = requireFound(await services.store.organizationBrands.findLogo(organization.id), 'logo')
      return new Response(new Uint8Array(logo.bytes), {
        headers: { 'content-type': logo.type, 'cache-control': 'no-store', 'x-request-id': requestId },
      })
    },
  }),
  route('changeBrand', 'PATCH', `${BASE}/brand`, {
    access: ORGANIZATION_ADMIN,
    command: { fields: { logo: { file: 'base64' } } },
    secondPerson: {
      action: 'organization.details-use',
      // Verdicts can depend on country and age, but not on the rest.
      needs: async ({ organizationBrands }, { organization, body }) => {
        const { asksDetails } = await organizationBrands.find(organization.id)
        return (body.asks_details ?? asksDetails) === asksDetails ? 'nothing' : 'second-person'
      },
      see: async ({ organizationBrands }, { organization: { id, name }, body: { logo, ...texts } }) => {
        const before = shown(BRAND, await organizationBrands.find(id), { usual_wait_seconds: null })
        const logoAfter = logo == null ? logo : createHash('sha256').update(logo).digest('hex')
        const after = { ...texts, ...(logoAfter === undefined ? {} : { logo_version: logoAfter }) }
        return { subject: id, name, changes: changedFields(before, after) }
      },
    },
    summary: 'Change the colors, logo and text of the organization’s verification page',
    body: partial({
      color: nullable(
        Type.String({ pattern: '^#[0-9a-f]{6}$', rule: 'must be # followed by six lowercase hex digits' }),
      ),
      logo: Type.Union([Type.String({ maxLength: LOGO_TEXT_MAX, rule: LOGO_RULE }), Type.Null()], {
        description: 'PNG, JPEG or WebP of at most 256 KiB, base64-encoded; null to remove it',
      }),
      privacy_url: nullable(Type.String({ maxLength: HTTPS_LINK_MAX })),
      support_email: nullable(EMAIL),
      words_en: WORDS,
      words_de: WORDS,
      asks_details: Type.Boolean({
        description: 'Whether the page asks people if policies may use their country and age; false ends this use',
      }),
    }),
    bodyMaxBytes: LOGO_TEXT_MAX + 1_024,
    example: { color: '#1d5b52' },
    answer: BRAND,
    handle: ({ organization, body, write }) =>
      write(async (tables, note) => {
        const before = await tables.organizationBrands.find(organization.id)
        const after = await tables.organizationBrands.set(organization.id, {
          ...(body.color === undefined ? {} : { color: body.color }),
          ...(body.privacy_url === undefined ? {} : { privacyUrl: linkOf(body.privacy_url) }),
          ...(body.support_email === undefined ? {} : { supportEmail: body.support_email }),
          ...(body.words_en === undefined ? {} : { wordsEn: body.words_en }),
          ...(body.words_de === undefined ? {} : { wordsDe: body.words_de }),
          ...(body.asks_details === undefined ? {} : { asksDetails: body.asks_details }),
          ...(body.logo === undefined ? {} : { logo: body.logo === null ? null : decodeLogo(body.logo) }),
        })
        note({
          action: 'organization.brand',
          subject: organization.id,
          detail: {
            color: [before.color, after.color],
            logo: [before.logoVersion, after.logoVersion],
            privacy_url: [before.privacyUrl, after.privacyUrl],
            support_email: [before.supportEmail, after.supportEmail],
            words_en: [before.wordsEn, after.wordsEn],
            words_de: [before.wordsDe, after.wordsDe],
            asks_details: [before.asksDetails, after.asksDetails],
          },
        })
        return showBrand(tables, organization.id, after)
      }),
  }),
  route('readRetention', 'GET', `${BASE}/evidence-retention`, {
    access: VIEWER,
    summary: 'Show the evidence retention in days, by session outcome',
    answer: RETENTION,
    handle: async ({ services, organization }) =>
      showRetention(await services.store.evidenceRetention.find(organization.id)),
  }),
  route('changeRetention', 'PATCH', `${BASE}/evidence-retention`, {
    command: { irreversible: true },
    access: ORGANIZATION_ADMIN,
    summary: 'Change the evidence retention',
    description: 'Evidence that is older than the retention period is permanently erased within an hour.',
    body: partial(retentionFields(1)),
    answer: RETENTION,
    secondPerson: {
      action: 'organization.retention',
      // Screening verified people needs names; recognizing rejected people needs traces.
      needs: async ({ evidenceRetention }, { organization, body }) => {
        const before = await evidenceRetention.find(organization.id)
        const after = changedRetention(before, body)
        return after.completedDays < before.completedDays || after.rejectedDays < before.rejectedDays
          ? 'second-person'
          : 'nothing'
      },
      see: async ({ evidenceRetention }, { organization: { id, name }, body }) => {
        const before = await evidenceRetention.find(id)
        const changes = changedFields(showRetention(before), showRetention(changedRetention(before, body)))
        return { subject: id, name, changes, basis: showRetention(before) }
      },
    },
    handle: ({ organization, body, write }) =>
      write(async (tables, note) => {
        const before = await tables.evidenceRetention.find(organization.id)
        const after = changedRetention(before, body)
        await tables.evidenceRetention.set(organization.id, after)
        note({
          action: 'organization.retention',
          subject: organization.id,
          detail: { before: showRetention(before), after: showRetention(after) },
        })
        return showRetention(after)
      }),
  }),
]
