// Search results from the server as palette commands. The last command searches for people.

import type { AnswerOf } from '../api/client.ts'
import { call } from '../api/client.ts'
import { navigate } from '../router.ts'
import type { IconName } from '../ui/icons.tsx'
import { lookForPeople } from './look-for.ts'
import type { Command } from './palette.tsx'
import type { Workplace } from './session.ts'

const PLACES: Readonly<
  Record<
    AnswerOf<'GET /organizations/{organization}/find'>['found'][number]['kind'],
    { readonly group: string; readonly icon: IconName; readonly path: (id: string, name: string) => string }
  >
> = {
  session: { group: 'Session', icon: 'review', path: (id) => `/reviews/${id}` },
  decision: { group: 'Decision', icon: 'decisions', path: (id) => `/decisions/${id}` },
  decisions: {
    group: 'Wallet',
    icon: 'key',
    path: (id) => `/decisions/wallets/${encodeURIComponent(id)}`,
  },
  policy: { group: 'Policy', icon: 'scale', path: (id) => `/policies/${id}` },
  project: { group: 'Project', icon: 'project', path: (id) => `/projects/${id}` },
  key: { group: 'API key', icon: 'key', path: () => '/keys' },
  list: { group: 'List', icon: 'list', path: (_id, name) => `/lists/${encodeURIComponent(name)}` },
  member: { group: 'Member', icon: 'person', path: () => '/members' },
  webhook: { group: 'Webhook', icon: 'webhook', path: () => '/webhooks' },
}

/** Minimum length: shorter texts would match nearly all objects. */
export const FIND_MIN = 2

export const findThings = async (
  { params, path, may }: Pick<Workplace, 'params' | 'path' | 'may'>,
  text: string,
  signal: AbortSignal,
): Promise<readonly Command[]> => {
  const { found } = await call('GET /organizations/{organization}/find', { params, query: { text }, signal })
  const things = found.map(({ kind, id, name, detail }) => ({
    id: `${kind}-${id}`,
    label: detail === '' || kind === 'project' ? name : `${name} (${detail})`,
    group: PLACES[kind].group,
    icon: PLACES[kind].icon,
    run: () => navigate(path(PLACES[kind].path(id, name))),
  }))
  if (!may('reviewer')) return things
  // Names of people are encrypted: searching them is a separate, audited operation.
  const people: Command = {
    id: 'people',
    label: `Search people and businesses for “${text}”`,
    group: 'Reviews',
    icon: 'review',
    run: () => lookForPeople(path('/reviews'), text),
  }
  return [...things, people]
}
