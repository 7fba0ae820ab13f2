// The roles of an organization, in the words of the pages.
import { ROLE_WORDS, type Role } from '../shell/session.ts'
import { RadioField } from '../ui/field.tsx'

const HINTS: Readonly<Record<Role, string>> = {
  'organization-admin': 'Everything in this organization: policies, keys, members.',
  reviewer: 'Decides identity sessions, and sees everything else but admin keys.',
  viewer: 'Sees everything but evidence of people and admin keys, and changes nothing.',
}

const CHOICES = (Object.keys(HINTS) as Role[]).map((value) => ({
  value,
  label: ROLE_WORDS[value],
  hint: HINTS[value],
}))

export const RoleField = ({ value, onRole }: { readonly value: Role; readonly onRole: (role: Role) => void }) => (
  <RadioField legend="Role" name="role" value={value} onValue={(chosen) => onRole(chosen as Role)} choices={CHOICES} />
)
