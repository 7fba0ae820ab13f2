// How the organization looks to people on the verification page: its colour and its logo.
import { useState } from 'preact/hooks'
import { addressFor, call } from '../api/client.ts'
import type { Brand } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { type Query, useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Field, TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'

const LOGO_BYTES_MAX = 262_144
/** Where none is chosen, a colour field has to show some colour. */
const NO_COLOR = '#808080'
const COLOR = /^#[0-9a-f]{6}$/

const toBase64 = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

const Logo = ({ version }: { readonly version: string | null }) => {
  const { organization, params } = useWorkplace()
  if (version === null) return <p class="soft">No logo: its name stands there.</p>
  const source = addressFor('GET /organizations/{organization}/brand/logo', { params, query: { version } })
  return <img class="brand-logo" src={source} alt={`Logo of ${organization.name}`} />
}

interface Values {
  readonly color: string
  readonly logo: File | null
}

const BrandForm = ({ brand, onChange }: { readonly brand: Brand; readonly onChange: (brand: Brand) => void }) => {
  const { params } = useWorkplace()
  // A file field can't be emptied, only made anew.
  const [turn, setTurn] = useState(0)
  const change = async (body: { color?: string | null; logo?: string | null }): Promise<void> =>
    onChange(await call('PATCH /organizations/{organization}/brand', { params, body }))
  const form = useForm<Values>({
    initial: { color: brand.color ?? '', logo: null },
    check: ({ color, logo }) => ({
      ...(color === '' || COLOR.test(color.toLowerCase()) ? {} : { color: '# and six digits, as #1d5b52.' }),
      ...(logo !== null && logo.size > LOGO_BYTES_MAX ? { logo: 'At most 256 KiB.' } : {}),
    }),
    submit: async ({ color, logo }): Promise<void> => {
      await change({
        color: color === '' ? null : color.toLowerCase(),
        ...(logo === null ? {} : { logo: await toBase64(logo) }),
      })
      form.set('logo', null)
      setTurn((now) => now + 1)
      say('Look changed')
    },
  })
  const remove = useAction(async () => {
    await change({ logo: null })
    say('Logo removed')
  })
  const { color } = form.values
  return (
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
      <Problem error={form.failure ?? remove.failure} />
      <div class="form-actions">
        <Button kind="primary" submit busy={form.busy}>
          Save the look
        </Button>
        {brand.logo_version !== null && (
          <Button busy={remove.busy} onClick={() => remove.run()}>
            Remove the logo
          </Button>
        )}
      </div>
    </form>
  )
}

export const BrandCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const query: Query<Brand> = useQuery(
    (signal) => call('GET /organizations/{organization}/brand', { params, signal }),
    [params.organization],
  )
  return (
    <Card title="Verification page" text="What people see of the organization while they verify themselves.">
      <Loaded query={query}>
        {(brand) => (
          <>
            <Logo version={brand.logo_version} />
            {mayChange ? (
              <BrandForm brand={brand} onChange={query.set} />
            ) : (
              <p>Colour: {brand.color === null ? 'the page’s own' : <code>{brand.color}</code>}</p>
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}
