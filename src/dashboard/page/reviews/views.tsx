import { useState } from 'preact/hooks'
import { keepViews, type SavedView, savedViews } from '../shell/preferences.ts'
import { useWorkplace } from '../shell/session.ts'
import { ActionButton, action } from '../ui/actions.tsx'
import { IconButton } from '../ui/button.tsx'

export const Views = ({ search }: { readonly search: string }) => {
  const { organization, path } = useWorkplace()
  const [views, setViews] = useState(() => savedViews(organization.id))
  const keep = (next: readonly SavedView[]): void => {
    keepViews(organization.id, next)
    setViews(next)
  }
  const isSaved = views.some((view) => view.search === search)
  if (views.length === 0 && search === '') return null
  return (
    <nav class="views" aria-label="Saved views">
      {views.map(({ name, search: saved }) => (
        <span key={name} class="view">
          <a href={path(`/reviews${saved}`)} aria-current={saved === search ? 'page' : undefined}>
            {name}
          </a>
          {saved === search && (
            <IconButton
              icon="cross"
              label={`Remove view ${name}`}
              onClick={() => keep(views.filter((view) => view.name !== name))}
            />
          )}
        </span>
      ))}
      {search !== '' && !isSaved && (
        <ActionButton
          small
          action={action({
            label: 'Save view',
            title: 'Save these filters',
            text: 'The view is saved in this browser.',
            submit: 'Save',
            fields: { name: { label: 'Name', maxLength: 40 } },
            run: async ({ name }) => keep([...views.filter((view) => view.name !== name), { name, search }]),
            done: 'View saved',
          })}
        />
      )}
    </nav>
  )
}
