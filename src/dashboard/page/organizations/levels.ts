import type { Organization } from '../api/types.ts'

export const LEVELS: Readonly<Record<Organization['level'], readonly [label: string, hint: string]>> = {
  basic: ['Basic', 'People enter their name, date of birth and country; businesses enter their registration details.'],
  standard: ['Standard', 'People also submit an identity document and a photo.'],
  enhanced: ['Enhanced', 'People also prove their address; businesses also name their owners.'],
}
