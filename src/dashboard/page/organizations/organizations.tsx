import { call } from '../api/client.ts'
import type { Organization } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { navigate, pathFor } from '../router.ts'
import { useSession } from '../shell/session.ts'
import { action } from '../ui/actions.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { time } from '../ui/table.tsx'
import { LEVELS } from './levels.ts'
import { slugOf } from './slug.ts'

const homeOf = (slug: string): string => pathFor('/o/{organization}', { organization: slug })

export const Organizations = () => {
  const { refresh } = useSession()
  return (
    <ResourcePage<Organization>
      title="Organizations"
      lead="Each organization has its own projects, policies, keys, lists and members."
      pages={useList('GET /organizations')}
      rowKey={({ id }) => id}
      href={({ slug }) => homeOf(slug)}
      columns={{
        Name: ({ name }) => name,
        Slug: ({ slug }) => <code>{slug}</code>,
        Level: ({ level }) => LEVELS[level][0],
        Created: time('created_at'),
      }}
      create={action({
        label: 'Create organization',
        submit: 'Create',
        fields: {
          name: { label: 'Name', hint: 'Also shown on the verification page.', maxLength: 100 },
          slug: {
            label: 'Slug',
            hint: 'Used in URLs and commands. It can’t be changed later.',
            mono: true,
            maxLength: 63,
            value: ({ name }) => slugOf(String(name)),
          },
          level: { label: 'Verification level', radio: true, choices: LEVELS },
        },
        run: async (body) => {
          const { slug } = await call('POST /organizations', { body })
          await refresh()
          navigate(homeOf(slug))
        },
      })}
      empty={['building', 'No organizations', 'Create one for each customer or product that must be isolated.']}
    />
  )
}
