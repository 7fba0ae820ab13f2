// The roles of an organization, in the words of the pages.
import type { Member } from '../api/types.ts'
import { RadioField } from '../ui/field.tsx'

export type Role = Member['role']

const ROLES: readonly { readonly value: Role; readonly label: string; readonly hint: string }[] = [
  { value: 'organization-admin', label: 'Admin', hint: 'Everything in this organization: policies, keys, members.' },
  {
    value: 'reviewer',
    label: 'Reviewer',
    hint: 'Decides identity sessions, and sees everything else but admin keys.',
  },
  {
    value: 'viewer',
    label: 'Viewer',
    hint: 'Sees everything but evidence of people and admin keys, and changes nothing.',
  },
]

export const ROLE_LABELS: ReadonlyMap<Role, string> = new Map(ROLES.map(({ value, label }) => [value, label]))

export const RoleField = ({ value, onRole }: { readonly value: Role; readonly onRole: (role: Role) => void }) => (
  <RadioField legend="Role" name="role" value={value} onValue={(chosen) => onRole(chosen as Role)} choices={ROLES} />
)
