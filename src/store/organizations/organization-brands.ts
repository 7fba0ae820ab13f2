// How an organization looks to people, and what it says to them: shown on the verification page.
import { createHash } from 'node:crypto'
import type { LogoType } from '../../lib/logo-type.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'

export interface Logo {
  readonly type: LogoType
  readonly bytes: Uint8Array
}

export interface Brand {
  /** `#rrggbb`, lower case. */
  readonly color: string | null
  /** First 16 hex digits of the logo's SHA-256: changes when the logo does. */
  readonly logoVersion: string | null
  /** The https address of the organization's privacy policy. */
  readonly privacyUrl: string | null
  readonly supportEmail: string | null
  /** The organization's own words to people, in each language of the page. */
  readonly wordsEn: string | null
  readonly wordsDe: string | null
}

/** Members that are left out stay as they are; null removes. */
interface BrandChange extends Partial<Omit<Brand, 'logoVersion'>> {
  readonly logo?: Logo | null
}

const COLUMNS = {
  color: 'color',
  privacyUrl: 'privacy_url',
  supportEmail: 'support_email',
  wordsEn: 'words_en',
  wordsDe: 'words_de',
} as const satisfies Record<keyof Omit<Brand, 'logoVersion'>, string>

type BrandRow = Readonly<Record<(typeof COLUMNS)[keyof typeof COLUMNS] | 'logo_version', string | null>>

const versionOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

export const createOrganizationBrandTable = (scope: TableScope) => {
  const find = async (organizationId: string, statements = scope.statements): Promise<Brand> => {
    const [row] = await statements.query<BrandRow>(
      `SELECT ${Object.values(COLUMNS).join(', ')}, logo_version FROM organization_brands WHERE organization_id = ?`,
      [organizationId],
    )
    return {
      color: row?.color ?? null,
      logoVersion: row?.logo_version ?? null,
      privacyUrl: row?.privacy_url ?? null,
      supportEmail: row?.support_email ?? null,
      wordsEn: row?.words_en ?? null,
      wordsDe: row?.words_de ?? null,
    }
  }
  return {
    /** All members are null for an organization without a brand: the page then has its own look. */
    find: (organizationId: string): Promise<Brand> => find(organizationId),

    findLogo: async (organizationId: string): Promise<Logo | null> => {
      const [row] = await scope.statements.query<{ readonly logo: Uint8Array | null; readonly logo_type: LogoType }>(
        'SELECT logo, logo_type FROM organization_brands WHERE organization_id = ?',
        [organizationId],
      )
      return row === undefined || row.logo === null ? null : { type: row.logo_type, bytes: row.logo }
    },

    /** @throws ConstraintViolatedError when there is no such organization, or `color` is not `#rrggbb` */
    set: (organizationId: string, change: BrandChange): Promise<Brand> =>
      scope.write(async (transaction) => {
        await transaction.execute(
          'INSERT INTO organization_brands (organization_id) VALUES (?) ON CONFLICT (organization_id) DO NOTHING',
          [organizationId],
        )
        for (const [name, column] of Object.entries(COLUMNS)) {
          const value = change[name as keyof typeof COLUMNS]
          if (value === undefined) continue
          await transaction.execute(`UPDATE organization_brands SET ${column} = ? WHERE organization_id = ?`, [
            value,
            organizationId,
          ])
        }
        if (change.logo !== undefined) {
          const { logo } = change
          await transaction.execute(
            'UPDATE organization_brands SET logo = ?, logo_type = ?, logo_version = ? WHERE organization_id = ?',
            [logo?.bytes ?? null, logo?.type ?? null, logo === null ? null : versionOf(logo.bytes), organizationId],
          )
        }
        await recordChange(
          transaction,
          { topic: 'organization', subjectId: organizationId, organizationId },
          scope.nowSeconds(),
        )
        return find(organizationId, transaction)
      }),
  }
}
