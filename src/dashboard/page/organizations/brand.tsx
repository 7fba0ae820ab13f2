import { call } from '../api/client.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { ActionButton } from '../ui/actions.tsx'
import { SettingsCard } from '../ui/settings-card.tsx'
import { PagePreview } from './page-preview.tsx'

const toBase64 = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

const words = (language: string, value: string | null, hint?: string) =>
  ({ label: `Welcome text, ${language}`, value, hint, rows: 2, nullable: true }) as const

export const BrandCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const query = useRead('GET /organizations/{organization}/brand', { params })
  const brand = query.value
  return (
    <SettingsCard
      id="page"
      title="Verification page"
      text="Appearance and text of your organization’s verification page."
      mayChange={mayChange}
      query={query}
      view={(saved) => (
        <PagePreview {...saved} color={saved.color ?? ''} logo={null} words={saved.words_en ?? saved.words_de ?? ''} />
      )}
      fields={(saved) => ({
        color: {
          label: 'Color',
          hint: 'Defaults to the standard color.',
          color: true,
          nullable: true,
          value: saved.color,
        },
        logo: {
          label: 'Logo',
          hint: 'PNG, JPEG or WebP, at most 256 KiB.',
          file: 'image/png,image/jpeg,image/webp',
          maxBytes: 262_144,
          optional: true,
        },
        words_en: words('English', saved.words_en, 'Shown on the first screen. At most 500 characters.'),
        words_de: words('German', saved.words_de),
        privacy_url: {
          label: 'Privacy policy',
          nullable: true,
          value: saved.privacy_url,
          maxLength: 2_048,
          placeholder: 'https://example.com/privacy',
        },
        support_email: {
          label: 'Support email',
          type: 'email',
          nullable: true,
          value: saved.support_email,
          maxLength: 254,
          placeholder: 'help@example.com',
        },
        asks_details: {
          label: 'Ask to use country and age in policies',
          hint: 'Optional for each person. If you turn this off, policies can’t use country and age.',
          check: true,
          value: saved.asks_details,
        },
      })}
      aside={(values) => (
        <PagePreview
          {...values}
          color={values.color?.toLowerCase() ?? ''}
          logo={values.logo ?? null}
          logo_version={brand?.logo_version ?? null}
          words={values.words_en ?? values.words_de ?? ''}
          usual_wait_seconds={brand?.usual_wait_seconds ?? null}
        />
      )}
      tools={({ logo_version: version }) =>
        version !== null && (
          <ActionButton
            action={{
              label: 'Remove logo',
              run: async () =>
                query.set(await call('PATCH /organizations/{organization}/brand', { params, body: { logo: null } })),
              done: 'Logo removed',
            }}
          />
        )
      }
      save={async (_values, { logo, color, ...changes }) =>
        call('PATCH /organizations/{organization}/brand', {
          params,
          body: {
            ...changes,
            color: color?.toLowerCase() ?? color,
            logo: logo === undefined ? undefined : await toBase64(logo),
          },
        })
      }
      done="Verification page saved"
    />
  )
}
