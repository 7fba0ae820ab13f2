// What the changes that may wait are called.
import type { Approval } from '../api/types.ts'

export const ACTIONS: Readonly<Record<Approval['action'], string>> = {
  'policy.activate': 'Make a policy’s revision live',
  'project.create': 'Make a project',
  'project.change': 'Change a project',
  'binding.create': 'Bind a contract to a project',
  'binding.remove': 'Remove a contract from its project',
  'list.create': 'Make a list',
  'list.edit': 'Change a list’s addresses',
  'list.upload': 'Fill a list from a file',
  'list.source': 'Have a list kept by a source',
  'list.source-end': 'End a list’s source',
  'list.remove': 'Remove a list',
  'member.add': 'Add a member',
  'member.role': 'Give a member another role',
  'member.remove': 'Remove a member',
  'member.invite': 'Make another invitation',
  'organization.level': 'Change the organization’s level',
  'organization.verification-trust': 'Change whose verifications count',
  'organization.session-policy': 'Change who decides sessions',
  'account.create': 'Add a deployment admin',
  'account.change': 'Change an account',
  'attester.add': 'Use a new attester key',
  'attester.retire': 'Retire an attester key',
  'settings.second-person-off': 'Stop asking for a second person',
}
