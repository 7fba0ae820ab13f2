import type { ModulePages } from '../../../dashboard/page/module-pages.ts'

export const sessionPolicyPages: ModulePages = {
  module: 'session-policies',
  load: async () => (await import('./parts.tsx')).PARTS,
}
