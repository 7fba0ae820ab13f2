import { createHash } from 'node:crypto'
import type { LogoType } from '../../lib/logo-type.ts'
import { recordChange } from '../changes.ts'
import { bytes, columnsOf, flag, hidden, nullable, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable } from '../table.ts'

export interface Logo {
  readonly type: LogoType
  readonly bytes: Uint8Array
}

export interface Brand {
  /** `#rrggbb`, lowercase. */
  readonly color: string | null
  /** First 16 hexadecimal digits of the logo's SHA-256. */
  readonly logoVersion: string | null
  readonly privacyUrl: string | null
  readonly supportEmail: string | null
  readonly wordsEn: string | null
  readonly wordsDe: string | null
  /** People are asked whether policies may use their country and age. If false, policies don't use them. */
  readonly asksDetails: boolean
}

/** Undefined fields do not change; null removes a value. */
interface BrandChange extends Partial<Omit<Brand, 'logoVersion'>> {
  readonly logo?: Logo | null
}

const BRANDS = defineTable('organization_brands', {
  ...columnsOf<Omit<Brand, 'asksDetails'>>()('color logoVersion privacyUrl supportEmail wordsEn wordsDe'),
  asksDetails: flag,
  organizationId: hidden(text),
  logo: hidden(nullable(bytes)),
  logoType: hidden(nullable(typed<LogoType>())),
})

const NO_BRAND: Brand = {
  color: null,
  logoVersion: null,
  privacyUrl: null,
  supportEmail: null,
  wordsEn: null,
  wordsDe: null,
  asksDetails: false,
}

const versionOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

export const createOrganizationBrandTable = (scope: TableScope) => ({
  /** All fields are null or false for an organization without branding. */
  find: async (organizationId: string): Promise<Brand> => (await BRANDS.find(scope, { organizationId })) ?? NO_BRAND,

  findLogo: async (organizationId: string): Promise<Logo | null> => {
    const [row] = await scope.query<{ readonly logo: Uint8Array | null; readonly logo_type: LogoType }>(
      'SELECT logo, logo_type FROM organization_brands WHERE organization_id = ?',
      [organizationId],
    )
    return row === undefined || row.logo === null ? null : { type: row.logo_type, bytes: row.logo }
  },

  /** @throws ConstraintViolatedError if there is no such organization, or if `color` is not `#rrggbb` */
  set: (organizationId: string, { logo, ...texts }: BrandChange): Promise<Brand> =>
    scope.write(async (own) => {
      const drawn =
        logo === undefined
          ? {}
          : { logo: logo?.bytes ?? null, logoType: logo?.type ?? null, logoVersion: logo && versionOf(logo.bytes) }
      await BRANDS.put(own, { organizationId }, { ...texts, ...drawn })
      const change = { topic: 'organization', subjectId: organizationId, organizationId } as const
      await recordChange(own, change, scope.nowSeconds())
      return (await BRANDS.find(own, { organizationId })) ?? NO_BRAND
    }),
})
