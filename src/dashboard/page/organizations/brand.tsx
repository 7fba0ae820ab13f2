// How the organization looks to people on the verification page, and what it says to them there.
import { useState } from 'preact/hooks'
import { type BodyOf, call } from '../api/client.ts'
import type { Brand } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { type Query, useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Field, TextArea, TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { PagePreview } from './page-preview.tsx'

const LOGO_BYTES_MAX = 262_144
/** Where none is chosen, a colour field has to show some colour. */
const NO_COLOR = '#808080'
const COLOR = /^#[0-9a-f]{6}$/

const toBase64 = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

interface Values {
  readonly color: string
  readonly logo: File | null
  readonly words_en: string
  readonly words_de: string
  readonly privacy_url: string
  readonly support_email: string
}

/** Texts of which nothing stands for none. */
const TEXTS = ['words_en', 'words_de', 'privacy_url', 'support_email'] as const

const BrandForm = ({ brand, onChange }: { readonly brand: Brand; readonly onChange: (brand: Brand) => void }) => {
  const { params } = useWorkplace()
  // A file field can't be emptied, only made anew.
  const [turn, setTurn] = useState(0)
  const change = async (body: BodyOf<'PATCH /organizations/{organization}/brand'>): Promise<void> =>
    onChange(await call('PATCH /organizations/{organization}/brand', { params, body }))
  const form = useForm<Values>({
    initial: {
      logo: null,
      color: brand.color ?? '',
      words_en: brand.words_en ?? '',
      words_de: brand.words_de ?? '',
      privacy_url: brand.privacy_url ?? '',
      support_email: brand.support_email ?? '',
    },
    check: ({ color, logo }) => ({
      ...(color === '' || COLOR.test(color.toLowerCase()) ? {} : { color: '# and six digits, as #1d5b52.' }),
      ...(logo !== null && logo.size > LOGO_BYTES_MAX ? { logo: 'At most 256 KiB.' } : {}),
    }),
    submit: async ({ color, logo, ...texts }): Promise<void> => {
      await change({
        ...Object.fromEntries(TEXTS.map((name) => [name, texts[name].trim() || null])),
        color: color === '' ? null : color.toLowerCase(),
        ...(logo === null ? {} : { logo: await toBase64(logo) }),
      })
      form.set('logo', null)
      setTurn((now) => now + 1)
      say('Verification page changed')
    },
  })
  const remove = useAction(async () => {
    await change({ logo: null })
    say('Logo removed')
  })
  const { values } = form
  const { color } = values
  return (
    <div class="page-settings">
      <form {...form.attributes} class="form">
        <div class="form-row">
          <TextField
            {...form.text('color')}
            label="Colour"
            mono
            optional
            hint="Empty: the page’s own."
            input={{ maxLength: 7, placeholder: '#1d5b52' }}
          />
          <Field label="Pick it">
            {(attributes) => (
              <input
                {...attributes}
                type="color"
                value={COLOR.test(color.toLowerCase()) ? color.toLowerCase() : NO_COLOR}
                onInput={(event) => form.set('color', event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
        <Field label="Logo" optional hint="PNG, JPEG or WebP of at most 256 KiB." error={form.errors['logo']}>
          {(attributes) => (
            <input
              key={turn}
              {...attributes}
              type="file"
              accept="image/png,image/jpeg,image/webp"
              onChange={(event) => form.set('logo', event.currentTarget.files?.[0] ?? null)}
            />
          )}
        </Field>
        <TextArea
          {...form.text('words_en')}
          label="Your words, in English"
          optional
          rows={2}
          hint="Shown as yours on the first screen: why you ask, what comes after. At most 500 characters."
        />
        <TextArea {...form.text('words_de')} label="Your words, in German" optional rows={2} />
        <div class="form-row">
          <TextField
            {...form.text('privacy_url')}
            label="Privacy policy"
            optional
            input={{ maxLength: 2_048, placeholder: 'https://example.com/privacy' }}
          />
          <TextField
            {...form.text('support_email')}
            label="Address for questions"
            type="email"
            optional
            input={{ maxLength: 254, placeholder: 'help@example.com' }}
          />
        </div>
        <Problem error={form.failure ?? remove.failure} />
        <div class="form-actions">
          <Button kind="primary" submit busy={form.busy}>
            Save the page
          </Button>
          {brand.logo_version !== null && (
            <Button busy={remove.busy} onClick={() => remove.run()}>
              Remove the logo
            </Button>
          )}
        </div>
      </form>
      <PagePreview
        color={values.color.toLowerCase()}
        logo={values.logo}
        logoVersion={brand.logo_version}
        words={values.words_en.trim() || values.words_de.trim()}
        privacyUrl={values.privacy_url.trim()}
        supportEmail={values.support_email.trim()}
        waitSeconds={brand.usual_wait_seconds}
      />
    </div>
  )
}

export const BrandCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const query: Query<Brand> = useRead('GET /organizations/{organization}/brand', { params })
  return (
    <Card id="page" title="Verification page" text="What people see of the organization while they verify themselves.">
      <Loaded query={query}>
        {(brand) =>
          mayChange ? (
            <BrandForm brand={brand} onChange={query.set} />
          ) : (
            <PagePreview
              color={brand.color ?? ''}
              logo={null}
              logoVersion={brand.logo_version}
              words={brand.words_en ?? brand.words_de ?? ''}
              privacyUrl={brand.privacy_url ?? ''}
              supportEmail={brand.support_email ?? ''}
              waitSeconds={brand.usual_wait_seconds}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
