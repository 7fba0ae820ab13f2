import { ROLE_WORDS, type Role, useSession } from '../shell/session.ts'
import { Badge } from '../ui/parts.tsx'
import { named } from '../ui/table.tsx'

interface PersonNameProps {
  readonly name: string
  readonly email: string
  readonly id: string
}

export const PersonName = ({ name, email, id }: PersonNameProps) => {
  const { account } = useSession()
  const own = account.id === `user:${id}`
  return named(own ? [`${name} `, <Badge key="you">You</Badge>] : name, email)
}

export const roleField = (value: Role) =>
  ({
    label: 'Role',
    radio: true,
    value,
    choices: {
      'organization-admin': [ROLE_WORDS['organization-admin'], 'Manages policies, keys, members and settings.'],
      reviewer: [ROLE_WORDS.reviewer, 'Decides identity sessions. Views everything except admin keys.'],
      viewer: [ROLE_WORDS.viewer, 'Views everything except evidence and admin keys.'],
    },
  }) as const
