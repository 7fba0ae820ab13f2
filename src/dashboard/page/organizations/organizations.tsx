// The tenants of the deployment. Each has its own projects, policies, keys, lists and people; nothing passes between them.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Organization } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useList } from '../data/use-pages.ts'
import { navigate, pathFor } from '../router.ts'
import { useSession } from '../shell/session.ts'
import { useMake } from '../shell/use-make.ts'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { RadioField, TextField } from '../ui/field.tsx'
import { Card, Empty, Page } from '../ui/parts.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { LEVELS, type Level } from './settings.tsx'
import { slugOf } from './slug.ts'

const homeOf = (slug: string): string => pathFor('/o/{organization}', { organization: slug })

const CreateOrganization = ({ onClose }: { readonly onClose: () => void }) => {
  const { refresh } = useSession()
  const [ownSlug, setOwnSlug] = useState(false)
  const form = useForm({
    initial: { name: '', slug: '', level: 'basic' as Level },
    check: ({ name, slug }) => ({
      ...(name.trim() === '' ? { name: 'Give it a name.' } : {}),
      ...(/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug)
        ? {}
        : { slug: '1 to 63 lower-case letters, digits and hyphens, not starting with a hyphen.' }),
    }),
    submit: async ({ name, slug, level }): Promise<void> => {
      await call('POST /organizations', { body: { name: name.trim(), slug, level } })
      await refresh()
      navigate(homeOf(slug))
    },
  })
  const name = form.text('name')
  const slug = form.text('slug')
  return (
    <FormDialog title="Make an organization" form={form} submitLabel="Make the organization" onClose={onClose}>
      <TextField
        {...name}
        label="Name"
        hint="As people read it, on the verification page as well."
        input={{ maxLength: 100, autofocus: true }}
        onValue={(value) => {
          name.onValue(value)
          if (!ownSlug) form.set('slug', slugOf(value))
        }}
      />
      <TextField
        {...slug}
        label="Short name"
        mono
        hint="In addresses and commands. It can’t be changed later."
        input={{ maxLength: 63 }}
        onValue={(value) => {
          setOwnSlug(true)
          slug.onValue(value)
        }}
      />
      <RadioField
        legend="How closely people are checked"
        name="level"
        value={form.values.level}
        onValue={(value) => form.set('level', value as Level)}
        choices={LEVELS}
      />
    </FormDialog>
  )
}

export const Organizations = () => {
  const [creating, setCreating] = useState(false)
  const pages = useList('GET /organizations')
  useMake('Make an organization', () => setCreating(true))
  return (
    <Page
      title="Organizations"
      lead="Each has its own projects, policies, keys, lists and people. None knows of another."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          Make an organization
        </Button>
      }
    >
      <Card flush>
        <PagedTable<Organization>
          caption="Organizations"
          pages={pages}
          rowKey={({ id }) => id}
          href={({ slug }) => homeOf(slug)}
          columns={{
            Name: ({ name }) => name,
            'Short name': ({ slug }) => <code>{slug}</code>,
            Level: ({ level }) => LEVELS.find(({ value }) => value === level)?.label,
            Made: { narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
          }}
          empty={
            <Empty icon="building" title="No organizations yet">
              <p>Make one for each customer or product line that is to be kept apart.</p>
            </Empty>
          }
        />
      </Card>
      {creating && <CreateOrganization onClose={() => setCreating(false)} />}
    </Page>
  )
}
